//! Visits of links with a limit of clicks (D130).

use actix_http::Method;
use signpost_domain::RedirectId;

use crate::click_limit_view::ClickLimitView;
use crate::credits::{Credit, LimitKey, LimitedLink};
use crate::gates::Reason;
use crate::link_lookup::FoundLink;
use crate::link_view::{Destination, LinkView};
use crate::outcome::Outcome;
use crate::requested_address::RequestedAddress;
use crate::visit::{Visitor, Worker};
use crate::visitor;

impl Worker {
    /// Judges a visit of a limited link, and uses a click before it sends the visitor on.
    ///
    /// Only whoever follows the link learns where it leads. HEAD uses no click, and a scanner of mail that opens a link, or a
    /// browser that loads it ahead, would use up a link for one visit.
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
        let (view, request) = (found.link.view(), visitor.request);
        if *request.method() == Method::HEAD {
            return Outcome::WithheldFromHead;
        }
        if self.edge.app.bots.is_bot(visitor::user_agent(request), visitor::purpose(request)) {
            return Outcome::Withheld;
        }
        let Some(account) = view.owner(&self.edge.cache.generations) else { return Outcome::Failed };
        let link = LimitedLink { key: key_of(&view, limit), account, address: requested.to_address() };
        match self.edge.credits.use_one(link).await {
            Credit::Used => self.sent_on(visitor, found),
            Credit::Exhausted => self.ended(&view, Reason::Exhausted),
            Credit::Unavailable => Outcome::Unavailable,
        }
    }

    /// Whether a link has nothing left for this node: no click is left in the store, and none is here.
    pub(crate) fn is_used_up(&self, view: &LinkView<'_>) -> bool {
        view.limit().is_some_and(|limit| limit.is_exhausted && !self.edge.credits.has(&key_of(view, limit)))
    }
}

fn key_of(view: &LinkView<'_>, ClickLimitView { max, since, is_exhausted: _ }: ClickLimitView) -> LimitKey {
    LimitKey { link: RedirectId::from_bytes(view.id), max, since }
}
