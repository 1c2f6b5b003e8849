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
/// A group's id.
pub(crate) const GROUP_ID: &str = "grp_019b5a3b11aa7c3e8899aabbccddeeff";
/// A domain's id.
pub(crate) const DOMAIN_ID: &str = "dom_019b5a3b7c5d7e10a1b2c3d4e5f60718";
/// A pixel's id.
pub(crate) const PIXEL_ID: &str = "pxl_019b5a3ba0b17d2e9f00112233445566";
/// A widget's id.
pub(crate) const WIDGET_ID: &str = "wgt_019b5a3d0c1f7b63c4d5e6f708192a3b";
/// An account's id.
pub(crate) const ACCOUNT_ID: &str = "acc_019b5a3a00117b2c9d0e1f2a3b4c5d6e";
/// A request's id.
pub(crate) const REQUEST_ID: &str = "req_019b5a3e7f807d61a2b3c4d5e6f70819";
/// A time of creation.
pub(crate) const CREATED_AT: &str = "2026-01-31T09:05:07.042Z";
pub(crate) const UPDATED_AT: &str = "2026-02-01T18:30:00.000Z";

/// The digits of the example id with this prefix.
pub(crate) fn digits(prefix: &str) -> &'static str {
    let ids = [REDIRECT_ID, LANDING_ID, GROUP_ID, DOMAIN_ID, PIXEL_ID, WIDGET_ID, ACCOUNT_ID, REQUEST_ID];
    ids.iter().find_map(|id| id.strip_prefix(prefix)?.strip_prefix('_')).unwrap_or_default()
}

/// A domain directly after its connection.
pub(crate) fn domain() -> Value {
    json!({
        "id": DOMAIN_ID,
        "object": "domain",
        "hostname": "links.example.org",
        "status": "pending",
        "expires_at": "2026-02-03T09:05:07.042Z",
        "created_at": CREATED_AT,
        "next_check_at": "2026-01-31T09:05:17.042Z",
        "checked_at": null,
        "failure_reason": null,
        "dns_instructions": [
            {
                "type": "CNAME",
                "name": "links.example.org",
                "value": "edge.example.com",
                "purpose": "Sends the visitors of this hostname to your links. Remove other records of the same name.",
                "status": "unknown",
                "observed": [],
                "hint": null,
            },
            {
                "type": "TXT",
                "name": "_signpost.links.example.org",
                "value": "signpost-verification=0123456789abcdef0123456789abcdef",
                "purpose": "Proves that the hostname is yours.",
                "status": "unknown",
                "observed": [],
                "hint": null,
            },
        ],
    })
}

/// The same domain, verified.
pub(crate) fn active_domain() -> Value {
    let mut domain = domain();
    if let Some(fields) = domain.as_object_mut() {
        fields.insert("status".to_owned(), json!("active"));
        fields.insert("expires_at".to_owned(), Value::Null);
        fields.insert("next_check_at".to_owned(), json!("2026-01-31T10:11:30.118Z"));
        fields.insert("checked_at".to_owned(), json!("2026-01-31T09:12:04.907Z"));
        let records = fields.get_mut("dns_instructions").and_then(Value::as_array_mut);
        for record in records.into_iter().flatten().filter_map(Value::as_object_mut) {
            let observed = json!([record.get("value")]);
            record.insert("status".to_owned(), json!("found"));
            record.insert("observed".to_owned(), observed);
        }
    }
    domain
}

/// A pixel.
pub(crate) fn pixel() -> Value {
    json!({
        "id": PIXEL_ID,
        "object": "pixel",
        "pixel_type": "google_tag",
        "pixel_id": "G-1A2BCD345E",
        "name": "Shop",
        "created_at": CREATED_AT,
    })
}

/// A group.
pub(crate) fn group() -> Value {
    json!({
        "id": GROUP_ID,
        "object": "group",
        "name": "Autumn campaign",
        "landings_count": 1,
        "redirects_count": 12,
        "created_at": CREATED_AT,
        "updated_at": CREATED_AT,
    })
}

/// A page with one item that is not the last one.
pub(crate) fn page_of(item: &Value) -> Value {
    json!({
        "object": "list",
        "data": [item],
        "pagination": {"has_more": true, "next_cursor": "AQGbWjxuLX9IgBEiM0RVZqpK3mFh0Qd4nZyT7uRw1eXo"},
    })
}

/// A report of two days.
pub(crate) fn analytics() -> Value {
    json!({
        "object": "analytics",
        "start_date": "2026-01-30T23:00:00.000Z",
        "end_date": "2026-02-01T22:59:59.999Z",
        "timezone": "Europe/Berlin",
        "interval": "day",
        "totals": {"clicks": 31, "visitors": 25, "bots": 4, "blocked": 0},
        "series": [
            {"start": "2026-01-30T23:00:00.000Z", "clicks": 31, "visitors": 25, "bots": 3, "blocked": 0},
            {"start": "2026-01-31T23:00:00.000Z", "clicks": 0, "visitors": 0, "bots": 1, "blocked": 0},
        ],
        "dimensions": {
            "country": [
                {"value": "DE", "clicks": 24, "visitors": 19},
                {"value": "", "clicks": 7, "visitors": 6},
            ],
        },
    })
}

/// One click of an export.
pub(crate) fn click() -> Value {
    json!({
        "id": "clk_019c134c81e2r019b5a3c6e2d7f4880112233445566aa0",
        "at": CREATED_AT,
        "link_id": REDIRECT_ID,
        "kind": "click",
        "channel": "email",
        "country": "DE",
        "device": "mobile",
        "os": "Android",
        "browser": "Chrome",
        "language": "de",
        "referrer": "",
        "utm_source": "newsletter",
        "utm_medium": "email",
        "utm_campaign": "autumn",
        "widget": "",
    })
}

/// The same click as CSV.
pub(crate) const CLICKS_CSV: &str = "id,at,link_id,kind,channel,country,device,os,browser,language,referrer,\
     utm_source,utm_medium,utm_campaign,widget\r\n\
     clk_019c134c81e2r019b5a3c6e2d7f4880112233445566aa0,2026-01-31T09:05:07.042Z,\
     rdr_019b5a3c6e2d7f4880112233445566aa,click,email,DE,mobile,Android,Chrome,de,,newsletter,email,autumn,\r\n";

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

/// The caller's account.
pub(crate) fn account() -> Value {
    json!({
        "id": ACCOUNT_ID,
        "object": "account",
        "email": "ada@example.com",
        "name": "Ada",
        "plan": "agency",
        "features": ["custom_domains", "pixels", "geo_blocking", "antibot"],
        "limits": {
            "links": 1_000_000,
            "groups": 10_000,
            "domains": 500,
            "pixels": 500,
            "analytics_days": 1_096,
            "requests_per_minute": 120,
            "requests_per_day": 10_000,
        },
        "usage": {"links": 1_234, "groups": 12, "domains": 2, "pixels": 0},
    })
}
