//! Visits of links with a limit of clicks (D130).

use crate::click_limit_view::ClickLimitView;
use crate::credits::{Credit, LimitedLink};
use crate::gates::Reason;
use crate::judgement::{Withheld, key_of};
use crate::link_lookup::FoundLink;
use crate::link_view::Destination;
use crate::outcome::Outcome;
use crate::requested_address::RequestedAddress;
use crate::visit::{Visitor, Worker};

impl Worker {
    /// Judges a visit of a limited link, and uses a click before it sends the visitor on.
    ///
    /// Only whoever follows the link learns where it leads.
    pub(crate) async fn visit_limited(
        &self,
        visitor: &Visitor<'_>,
        requested: &RequestedAddress<'_>,
        found: &FoundLink,
        limit: ClickLimitView,
    ) -> Outcome {
        if let Some(outcome) = self.turned_away(visitor, found) {
            return outcome;
        }
        let view = found.link.view();
        if view.destination() == Destination::Nothing {
            return self.not_found(Reason::Missing(view.missing()));
        }
        self.use_click(visitor, requested, found, limit).await
    }

    /// Uses a click for a visitor who has passed all gates of a limited link, and sends the visitor on.
    pub(crate) async fn use_click(
        &self,
        visitor: &Visitor<'_>,
        requested: &RequestedAddress<'_>,
        found: &FoundLink,
        limit: ClickLimitView,
    ) -> Outcome {
        let view = found.link.view();
        if let Some(withheld) = self.judge().withheld(&visitor.seen()) {
            return withheld.into();
        }
        let Some(account) = view.owner(&self.edge.cache.generations) else { return Outcome::Failed };
        let link = LimitedLink { key: key_of(&view, limit), account, address: requested.to_address() };
        match self.edge.credits.use_one(link).await {
            Credit::Used => self.sent_on(visitor, found),
            Credit::Exhausted => self.ended(&view, Reason::Exhausted),
            Credit::Unavailable => Outcome::Unavailable,
        }
    }
}

impl From<Withheld> for Outcome {
    fn from(withheld: Withheld) -> Self {
        match withheld {
            Withheld::FromHead => Self::WithheldFromHead,
            Withheld::FromBot => Self::Withheld,
        }
    }
}
