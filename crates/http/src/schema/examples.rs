//! Values for the examples in the document.

use serde_json::{Value, json};

/// A redirect's id.
pub(crate) const REDIRECT_ID: &str = "rdr_019b5a3c6e2d7f4880112233445566aa";
/// An id that no redirect has.
pub(crate) const UNKNOWN_REDIRECT_ID: &str = "rdr_00000000000000000000000000000000";
/// A landing page's id.
pub(crate) const LANDING_ID: &str = "lnd_019b5a3d0c1e7a52b3c4d5e6f7081920";
/// An id that no landing page has.
pub(crate) const UNKNOWN_LANDING_ID: &str = "lnd_00000000000000000000000000000000";
/// A link's id in the caller's own system.
pub(crate) const EXTERNAL_ID: &str = "order-4711";
/// States of links, as a filter names them.
pub(crate) const STATES: &str = "expired,exhausted";
/// The host of a target.
pub(crate) const TARGET_HOST: &str = "example.com";
/// A request's id.
pub(crate) const REQUEST_ID: &str = "req_019b5a3e7f807d61a2b3c4d5e6f70819";
/// A time of creation.
pub(crate) const CREATED_AT: &str = "2026-01-31T09:05:07.042Z";
pub(crate) const UPDATED_AT: &str = "2026-02-01T18:30:00.000Z";
pub(crate) const REVISION: u64 = 3;
/// The start of a link.
pub(crate) const STARTS_AT: &str = "2026-01-01T08:00:00.000Z";
/// The end of a link.
pub(crate) const EXPIRES_AT: &str = "2036-01-01T08:00:00.000Z";
/// Where a link leads after its end.
pub(crate) const FALLBACK_URL: &str = "https://example.com/over";
/// A value of `utm.source`.
pub(crate) const UTM_SOURCE: &str = "newsletter";

/// A page with one item that is not the last one.
pub(crate) fn page_of(item: &Value) -> Value {
    json!({
        "object": "list",
        "data": [item],
        "pagination": {"has_more": true, "next_cursor": "AQGbWjxuLX9IgBEiM0RVZqpK3mFh0Qd4nZyT7uRw1eXo"},
    })
}

/// The response to a deletion.
pub(crate) fn deletion(id: &str, object: &str, message: &str) -> Value {
    json!({"id": id, "object": object, "deleted": true, "message": message})
}

/// The names in the result of a bulk operation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BulkOperation {
    object: &'static str,
    /// The list of items that succeeded.
    items: &'static str,
    /// The length of that list.
    count: &'static str,
}

impl BulkOperation {
    /// Creation.
    pub(crate) const CREATE: Self =
        Self { object: "bulk_create_result", items: "created", count: "created_count" };
    /// Update.
    pub(crate) const UPDATE: Self =
        Self { object: "bulk_update_result", items: "updated", count: "updated_count" };
    /// Deletion.
    pub(crate) const DELETE: Self =
        Self { object: "bulk_delete_result", items: "deleted", count: "deleted_count" };
    /// Putting links into a group.
    pub(crate) const ASSIGN: Self =
        Self { object: "bulk_assign_result", items: "assigned", count: "assigned_count" };
    /// Taking links out of a group.
    pub(crate) const UNASSIGN: Self =
        Self { object: "bulk_unassign_result", items: "unassigned", count: "unassigned_count" };
}

/// A bulk result with one item that succeeded and one that failed.
pub(crate) fn bulk_result(operation: BulkOperation, data: &Value, failure: &Value) -> Value {
    let BulkOperation { object, items, count } = operation;
    json!({
        "object": object,
        (count): 1,
        "failed_count": 1,
        (items): [{"index": 0, "data": data}],
        "failed": [{"index": 1, "error": failure}],
    })
}

/// The violation of a slug that a link of the caller's own has.
pub(crate) fn taken_slug() -> Value {
    json!({
        "field": "slug",
        "code": "already_taken",
        "message": format!("`slug` is already taken on this domain by your link `{REDIRECT_ID}`."),
        "existing_id": REDIRECT_ID,
    })
}

/// The message where a link of the caller's own has the address.
pub(crate) const TAKEN: &str = "Your link `rdr_019b5a3c6e2d7f4880112233445566aa` has this address; choose \
                                            another slug, or change that link.";

/// Why an item failed.
pub(crate) fn item_error(code: &str, message: &str, value: &str) -> Value {
    json!({"code": code, "message": message, "value": value})
}
