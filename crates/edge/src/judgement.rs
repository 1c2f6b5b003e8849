//! What a visit of a link gets, decided without any effect. Visits and their explanations (D136) decide with the same functions, so that
//! both say the same; only visits count clicks, use them up and write logs.

use std::net::IpAddr;

use actix_http::{HttpMessage as _, Method, Request};
use signpost_app::visits::Sending;
use signpost_domain::{CountryCode, RedirectId, Timestamp};
use signpost_enrichment::is_previewer;
use signpost_listener::{AcceptedEncodings, Effort};

use crate::card::CardView;
use crate::click_limit_view::ClickLimitView;
use crate::compiled_link::CompiledLink;
use crate::credits::LimitKey;
use crate::gates::{GateRequest, Reason, TurnedAway};
use crate::landing_page::PageView;
use crate::link_lookup::{FoundLink, StoredLink};
use crate::link_view::LinkView;
use crate::opening::Opening;
use crate::outcome::Outcome;
use crate::rules::AgentCache;
use crate::visit::EdgeState;
use crate::visitor;

/// What decisions know about a visitor.
#[derive(Clone, Copy)]
pub(crate) struct Seen<'a> {
    pub(crate) request: &'a Request,
    pub(crate) now: Timestamp,
    /// Unknown only in explanations.
    pub(crate) address: Option<IpAddr>,
    /// Given only for explanations. It counts instead of what the request and the address say.
    pub(crate) country: Option<CountryCode>,
}

impl<'a> Seen<'a> {
    /// What gates know about the visitor.
    #[inline]
    pub(crate) fn for_gates(&self) -> GateRequest<'a> {
        GateRequest { head: self.request.head(), address: self.address, country: self.country }
    }
}

/// What keeps a visitor from a link, before its password.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop<'a> {
    /// As far as the visitor learns, no link is there (D54).
    NotThere(Reason),
    /// The link has ended (D128), or has no click left (D130).
    Ended(Reason),
    /// A gate turns the visitor away (D55, D56).
    Gate(TurnedAway),
    /// The visitor is a previewer, and gets the card (D135).
    Card(CardView<'a>),
}

/// Why a visitor who passes all gates of a limited link gets no target (D130).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Withheld {
    /// HEAD uses no click.
    FromHead,
    /// A scanner of mail that opens a link, or a browser that loads it ahead, would use up a link for one visit.
    FromBot,
}

/// Where a link sends a visitor.
#[derive(Debug)]
pub(crate) struct Onward<'a> {
    start: &'static str,
    rest: &'a [u8],
    /// The whole location with the visitor's parameters, if any are forwarded.
    forwarded: Option<String>,
    /// The label of the rule that decided; empty without one.
    pub(crate) rule: &'a str,
    sending: Sending,
}

impl Onward<'_> {
    /// Both parts of the location.
    pub(crate) fn location(&self) -> (&'static str, &[u8]) {
        self.forwarded.as_ref().map_or((self.start, self.rest), |location| ("", location.as_bytes()))
    }
}

/// Decides for the visitors of one thread.
#[derive(Clone, Copy)]
pub(crate) struct Judge<'e> {
    pub(crate) edge: &'e EdgeState,
    pub(crate) agents: &'e AgentCache,
}

impl Judge<'_> {
    /// What keeps a visitor from the link: whether it opens, the gates and the card, in the order of D129. `None` if nothing does.
    #[inline]
    pub(crate) fn stop<'v>(self, seen: &Seen<'_>, view: &LinkView<'v>, is_listed: bool) -> Option<Stop<'v>> {
        match Opening::of(view, is_listed, seen.now) {
            Opening::NotThere(reason) => return Some(Stop::NotThere(reason)),
            Opening::Ended => return Some(Stop::Ended(Reason::Expired)),
            Opening::Exhausted if self.is_used_up(view) => return Some(Stop::Ended(Reason::Exhausted)),
            Opening::Open | Opening::Exhausted => {}
        }
        // Neither gates nor a card, which is so for almost all links, takes one look.
        if view.is_plain() {
            return None;
        }
        if let Some(gates) = view.gates()
            && let Some(turned_away) = self.edge.gates.check(&gates, &seen.for_gates())
        {
            return Some(Stop::Gate(turned_away));
        }
        // A visitor who sends the form already has the link, so no card.
        if let Some(card) = view.card()
            && *seen.request.method() != Method::POST
            && is_previewer(visitor::user_agent(seen.request))
        {
            return Some(Stop::Card(card));
        }
        None
    }

    /// Whether a link has nothing left for this node: no click is left in the store, and none is here.
    fn is_used_up(self, view: &LinkView<'_>) -> bool {
        view.limit().is_some_and(|limit| limit.is_exhausted && !self.edge.credits.has(&key_of(view, limit)))
    }

    /// Why a limited link keeps its target from the visitor. `None` for whoever follows it and uses a click.
    pub(crate) fn withheld(self, seen: &Seen<'_>) -> Option<Withheld> {
        let Seen { request, .. } = seen;
        if *request.method() == Method::HEAD {
            return Some(Withheld::FromHead);
        }
        let is_bot = self.edge.app.bots.is_bot(visitor::user_agent(request), visitor::purpose(request));
        is_bot.then_some(Withheld::FromBot)
    }

    /// Where the link sends the visitor whose own target is made of both parts.
    #[inline]
    pub(crate) fn onward<'v>(
        self,
        seen: &Seen<'_>,
        view: &LinkView<'v>,
        start: &'static str,
        rest: &'v [u8],
    ) -> Onward<'v> {
        let (mut start, mut rest, mut rule) = (start, rest, "");
        if let Some(rules) = view.rules()
            && let Some(ruled) = self.ruled(seen, rules)
        {
            (start, rest, rule) = ("", ruled.location, ruled.label);
        }
        let sending = view.sending();
        Onward {
            start,
            rest,
            forwarded: visitor::forwarded(seen.request, sending, start, rest),
            rule,
            sending,
        }
    }

    /// The answer to a visitor who is sent there: a redirect, or a page that fires the link's pixels first.
    #[inline]
    pub(crate) fn sent(self, seen: &Seen<'_>, view: &LinkView<'_>, onward: &Onward<'_>) -> Outcome {
        let (start, rest) = onward.location();
        let redirected = || {
            if *seen.request.method() == Method::POST {
                return Outcome::redirected_to_get(start, rest);
            }
            Outcome::redirected(seen.request.version(), onward.sending.status, start, rest)
        };
        self.pixel_page(seen, view, start, rest).unwrap_or_else(redirected)
    }
}

/// The answer to a visitor who is shown a landing page.
pub(crate) fn shown(seen: &Seen<'_>, link: &StoredLink, page: &PageView<'_>) -> Outcome {
    let accepted = AcceptedEncodings::of(seen.request.headers()).best(Effort::Kept);
    let encoding = accepted.filter(|encoding| !page.form(Some(*encoding)).is_empty());
    Outcome::shown(link.page(page, encoding), encoding, page.policy)
}

pub(crate) fn key_of(view: &LinkView<'_>, limit: ClickLimitView) -> LimitKey {
    let ClickLimitView { max, since, is_exhausted: _ } = limit;
    LimitKey { link: RedirectId::from_bytes(view.id), max, since }
}

impl EdgeState {
    /// A link that was just compiled, with the operator's current list of hosts.
    pub(crate) fn found(&self, link: CompiledLink) -> FoundLink {
        let is_listed = link.view().was_listed() && self.is_listed(&link.view());
        FoundLink { link: StoredLink::Shared(link), is_listed }
    }

    /// Whether the operator's current list has a target of the link.
    pub(crate) fn is_listed(&self, link: &LinkView<'_>) -> bool {
        let list = self.app.target_blocklist.current();
        link.has_target(|host| list.contains(host))
    }
}
