//! What the document tells the authors of clients about each operation, in extensions: its name in a client, how to read all
//! pages, and what may be sent again.

use serde_json::{Map, Value, json};

use super::operation::Endpoint;
use crate::endpoint::{Access, RouteMethod};

/// The extension of operations that clients of the API do not need.
pub(super) const INTERNAL: &str = "x-internal";

/// The extensions of an operation, in their order.
pub(super) fn of(endpoint: &Endpoint) -> Map<String, Value> {
    let mut notes = Map::new();
    let mut add = |name: &str, value| notes.insert(name.to_owned(), value);
    match endpoint.access {
        Access::Open => {
            add(INTERNAL, json!(true));
        }
        Access::Admitted => {
            add("x-signpost-method", json!(method_name(endpoint)));
            if endpoint.is_paged() {
                let pages = json!({"items": "data", "next": "pagination.next_cursor", "param": "cursor"});
                add("x-signpost-pagination", pages);
            }
            // Without a key, a POST whose answer was lost may have been carried out (D12).
            if endpoint.method == RouteMethod::Post {
                add("x-signpost-idempotent", json!("header"));
            }
            add("x-signpost-retry", json!([429, 500, 503]));
        }
    }
    notes
}

/// The name in a client: the tag, and the operation's id without the tag's noun, such as `redirects.bulkCreate`.
fn method_name(endpoint: &Endpoint) -> String {
    let (tag, id) = (endpoint.tag, endpoint.operation_id());
    let singular = tag.strip_suffix('s').unwrap_or(tag);
    let verb = [tag, singular, "Links"].into_iter().find_map(|noun| id.strip_suffix(noun));
    // The analytics of a redirect keep their noun: `analytics.getRedirect` would be a redirect.
    let verb = verb.filter(|verb| !["Redirect", "Landing"].iter().any(|noun| verb.ends_with(noun)));
    format!("{}.{}", tag.to_lowercase(), verb.unwrap_or(&id))
}
