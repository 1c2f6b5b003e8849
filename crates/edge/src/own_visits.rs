//! Tells operators who try out a link with a program such as curl why they see no click.

use std::time::Duration;

use actix_http::{HttpMessage as _, Method, Request};
use signpost_app::LogPace;
use signpost_app::admission::Sender;
use signpost_app::ports::Clock;

use crate::outcome::Outcome;
use crate::visitor;

/// The minimum time between two lines.
const INTERVAL: Duration = Duration::from_hours(1);

/// Logs, at most once an hour, that a visit from this machine counts as a bot.
#[derive(Debug)]
pub(crate) struct OwnVisits(LogPace);

impl Default for OwnVisits {
    fn default() -> Self {
        Self(LogPace::new(INTERVAL))
    }
}

impl OwnVisits {
    pub(crate) fn note(&self, request: &Request, outcome: &Outcome, clock: &dyn Clock) {
        let opened = matches!(
            outcome,
            Outcome::Redirected(..)
                | Outcome::RedirectedDirectly(..)
                | Outcome::RedirectedToGet(_)
                | Outcome::Shown(_)
                | Outcome::Pixels(_)
        );
        let peer = request.peer_addr().map(|peer| peer.ip());
        let is_of_this_machine =
            || Sender::is_this_machine(peer, |header| request.headers().contains_key(header));
        // HEAD counts as nothing.
        if !opened || *request.method() == Method::HEAD || !is_of_this_machine() {
            return;
        }
        let now = clock.now();
        if !self.0.may_be_due(now) {
            return;
        }
        let Some(rule) = bot_rule(request).filter(|_| self.0.is_due(now)) else { return };
        tracing::info!(
            rule,
            "a visit from this machine counts as a bot and not as a click, because its user agent is that of a program; \
             to see a click in the analytics, open the link in a browser"
        );
    }
}

/// The rule by which the request counts as a bot's; `None` if its user agents are those of browsers. Prefetches and crawlers
/// that only the recorder knows are not looked for.
pub(crate) fn bot_rule(request: &Request) -> Option<&'static str> {
    visitor::named_programs(request.headers()).next().map(|program| program.rule)
}
