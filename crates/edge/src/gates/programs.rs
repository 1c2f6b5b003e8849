//! Which visitors antibot turns away (D56).

use actix_http::RequestHead;
use actix_http::header::{self, HeaderValue};
use signpost_user_agents::{Category, KnownProgram, classify};

/// The rule by which the visitor is a program that antibot turns away. Of several agents each is looked at: a program gains
/// nothing by sending a browser's as well.
pub(super) fn turned_away(head: &RequestHead) -> Option<&'static str> {
    let mut agents = head.headers().get_all(header::USER_AGENT).map(HeaderValue::as_bytes).peekable();
    let none_sent = agents.peek().is_none().then_some(&b""[..]);
    none_sent.into_iter().chain(agents).find_map(rule_against)
}

fn rule_against(agent: &[u8]) -> Option<&'static str> {
    let KnownProgram { rule, category } = classify(agent)?;
    match category {
        Category::Bot | Category::Script | Category::Automation | Category::Empty => Some(rule),
        // People see what they fetch, and D56 does not name them (ADR 40).
        Category::Previewer => None,
    }
}
