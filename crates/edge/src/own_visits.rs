//! Tells operators who try out a link with a program such as curl why they see no click.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use actix_http::header::{FORWARDED, HeaderValue, USER_AGENT, VIA, X_FORWARDED_FOR};
use actix_http::{HttpMessage as _, Method, Request};
use signpost_user_agents::{KnownProgram, classify};

use crate::outcome::Outcome;

/// The minimum time between two lines.
const INTERVAL: Duration = Duration::from_hours(1);

/// Logs, at most once an hour, that a visit from this machine counts as a bot.
#[derive(Debug, Default)]
pub(crate) struct OwnVisits(Mutex<Option<Instant>>);

impl OwnVisits {
    pub(crate) fn note(&self, request: &Request, outcome: &Outcome) {
        let opened = matches!(
            outcome,
            Outcome::Redirected(_) | Outcome::RedirectedDirectly(_) | Outcome::Shown(_) | Outcome::Pixels(_)
        );
        // HEAD counts as nothing.
        if !opened || *request.method() == Method::HEAD || !is_of_this_machine(request) {
            return;
        }
        // Visits never wait for the lock: if another visit holds it, that one logs.
        let Ok(mut last) = self.0.try_lock() else { return };
        if last.is_some_and(|last| last.elapsed() < INTERVAL) {
            return;
        }
        let Some(rule) = bot_rule(request) else { return };
        *last = Some(Instant::now());
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
    let mut agents = request.headers().get_all(USER_AGENT).map(HeaderValue::as_bytes).peekable();
    let none_sent = agents.peek().is_none().then_some(&b""[..]);
    none_sent.into_iter().chain(agents).find_map(classify).map(|KnownProgram { rule, .. }| rule)
}

/// Whether the sender runs on this machine. Proxies on this machine add one of the headers.
fn is_of_this_machine(request: &Request) -> bool {
    let is_loopback = request.peer_addr().is_some_and(|peer| peer.ip().to_canonical().is_loopback());
    is_loopback && ![X_FORWARDED_FOR, FORWARDED, VIA].iter().any(|name| request.headers().contains_key(name))
}
