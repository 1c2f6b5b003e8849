//! What is found out about a visit.

use signpost_app::ports::Click;
use signpost_domain::CountryCode;
use signpost_domain::analytics::Values;

/// Finds out about visits, on one thread and off the visitor's path.
pub trait FindFacts: Send {
    /// Has `use_facts` see what is found out about a visit. `country` is the visitor's, if it is known already.
    fn find(&mut self, click: &Click<'_>, country: Option<CountryCode>, use_facts: &mut dyn FnMut(Facts<'_>));

    /// Prepares what would take long at the first visit.
    fn warm_up(&mut self) {}
}

/// What was found out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facts<'a> {
    /// Whether it was a known bot, a link previewer or a prefetch (D48).
    pub is_bot: bool,
    /// The values of the dimensions, but that of the widget.
    pub values: Values<'a>,
}
