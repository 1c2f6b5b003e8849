//! The state of the links that a list asks for (D126).

use signpost_domain::{FieldError, LinkState, LinkStates};

use crate::frame::TEXTS;
use crate::query::Query;
use crate::views::NamedId;

/// Which links are listed, by what they do now.
#[derive(Debug, Clone, Copy)]
pub(super) enum AskedState {
    /// All links.
    Any,
    /// Those that are switched on, or off. Older addresses of the list ask for them, as `active`; both are kept as two more values of `state`.
    Switched(bool),
    /// Those with one of the states.
    In(LinkStates),
}

impl AskedState {
    /// What a query asks for.
    ///
    /// # Errors
    /// `invalid_value` for what is no set of states. No links are to be listed then: they would be taken for those that were asked for.
    pub(super) fn of(query: &Query) -> Result<Self, FieldError> {
        let text = match (query.text("state"), query.text("active")) {
            ("", older) => older,
            (state, _) => state,
        };
        Ok(match text {
            "" => Self::Any,
            "on" => Self::Switched(true),
            "off" => Self::Switched(false),
            names => Self::In(LinkStates::parse(names)?),
        })
    }

    /// The filter `is_active`.
    pub(super) const fn is_active(self) -> Option<bool> {
        match self {
            Self::Switched(is_on) => Some(is_on),
            Self::Any | Self::In(_) => None,
        }
    }

    /// The filter `state`.
    pub(super) const fn states(self) -> Option<LinkStates> {
        match self {
            Self::In(states) => Some(states),
            Self::Any | Self::Switched(_) => None,
        }
    }

    /// The value of `state` that asks for it; empty for all links.
    pub(super) fn value(self) -> String {
        match self {
            Self::Any => String::new(),
            Self::Switched(is_on) => if is_on { "on" } else { "off" }.to_owned(),
            Self::In(states) => joined(states, LinkState::as_str, ","),
        }
    }

    /// The states to choose from, the usual one first. What only an address can ask for is among them if it is chosen.
    pub(super) fn choices(self) -> Vec<NamedId> {
        let words = TEXTS.life;
        let name = match self {
            Self::Any => String::new(),
            Self::Switched(is_on) => (words.switched)(is_on).to_owned(),
            Self::In(states) => joined(states, words.state_name, ", "),
        };
        let chosen = NamedId { id: self.value(), name };
        let single = LinkState::ALL.into_iter().rev();
        let mut choices: Vec<NamedId> = single
            .map(|state| NamedId {
                id: state.as_str().to_owned(),
                name: (words.state_name)(state).to_owned(),
            })
            .collect();
        if !chosen.id.is_empty() && !choices.contains(&chosen) {
            choices.push(chosen);
        }
        choices
    }
}

/// What each of the states is called.
fn joined(states: LinkStates, name: fn(LinkState) -> &'static str, between: &str) -> String {
    let named = LinkState::ALL.into_iter().filter(|state| states.contains(*state));
    named.map(name).collect::<Vec<_>>().join(between)
}
