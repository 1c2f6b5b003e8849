//! Response headers: the components under `#/components/headers`.

use serde_json::json;
use utoipa::openapi::header::{Header, HeaderBuilder};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{Ref, ResponseBuilder};

use crate::schema::examples::REQUEST_ID;
use crate::schema::{id, keyword};

/// The four headers of D17, with their descriptions.
const RATE_LIMITS: [(&str, &str, &str); 4] = [
    (
        "RateLimit-Limit-Minute",
        "RateLimitLimitMinute",
        "How many requests the plan allows in a calendar minute.",
    ),
    ("RateLimit-Remaining-Minute", "RateLimitRemainingMinute", "How many requests are left."),
    ("RateLimit-Limit-Day", "RateLimitLimitDay", "How many requests the plan allows in a calendar day, UTC."),
    ("RateLimit-Remaining-Day", "RateLimitRemainingDay", "How many requests are left."),
];

/// The header of D12: its name, and that of its component.
const REPLAYED: (&str, &str) = ("Idempotent-Replayed", "IdempotentReplayed");

/// The header of D120: its name, and that of its component.
const ETAG: (&str, &str) = ("ETag", "ETag");

/// The suffix of headers that are present only if the account was identified.
const IF_KNOWN: &str = "IfKnown";

/// When a response has the headers of the request budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RateLimited {
    /// Always.
    Always,
    /// Unless the request failed before the caller was identified.
    IfKnown,
    /// Never: the endpoint needs no key.
    Never,
}

/// Every component: its name and the header.
pub(crate) fn all() -> impl Iterator<Item = (String, Header)> {
    let others = [
        (
            "RequestId",
            required(id(REQUEST_ID, "The request's id (D4)."), "The id of this request; quote it to support."),
        ),
        (
            "RetryAfter",
            required(
                seconds(),
                "The seconds to wait before a retry. On a 429, the exhausted window ends then.",
            ),
        ),
        (
            "Location",
            required(
                text("^/v1/"),
                "The path of the resource, relative to the base address.",
            ),
        ),
        (
            ETAG.1,
            required(text("^\"r[1-9][0-9]*\"$"), "The revision of the resource, for `If-Match` of a later change."),
        ),
        ("WwwAuthenticate", required(text("^Bearer$"), "The scheme in which to send a key.")),
        (
            REPLAYED.1,
            header(
                text("^true$"),
                "This is the stored answer to an earlier request with the same key. Absent if this request ran.",
            )
            .build(),
        ),
    ];
    let others = others.into_iter().map(|(name, header)| (name.to_owned(), header));
    let limits = RATE_LIMITS.into_iter().flat_map(|(_, component, description)| {
        let absent =
            format!("{description} Absent if the request was refused before the account was identified.");
        [
            (component.to_owned(), required(seconds(), description)),
            (format!("{component}{IF_KNOWN}"), header(seconds(), &absent).build()),
        ]
    });
    others.chain(limits)
}

/// Adds the headers of every response.
pub(crate) fn of_every_response(response: ResponseBuilder, rate_limited: RateLimited) -> ResponseBuilder {
    let response = with(response, "X-Request-Id", "RequestId");
    let ending = match rate_limited {
        RateLimited::Always => "",
        RateLimited::IfKnown => IF_KNOWN,
        RateLimited::Never => return response,
    };
    RATE_LIMITS.into_iter().fold(response, |response, (name, component, _)| {
        with(response, name, &format!("{component}{ending}"))
    })
}

/// Adds the header that a replay has (D12).
pub(crate) fn of_replays(response: ResponseBuilder) -> ResponseBuilder {
    let (name, component) = REPLAYED;
    with(response, name, component)
}

/// Adds the header of an answer about one resource with a revision (D120).
pub(crate) fn of_revision(response: ResponseBuilder) -> ResponseBuilder {
    let (name, component) = ETAG;
    with(response, name, component)
}

/// Adds a header to a response.
pub(crate) fn with(response: ResponseBuilder, name: &str, component: &str) -> ResponseBuilder {
    response.header_ref(name, Ref::new(format!("#/components/headers/{component}")))
}

fn header(schema: ObjectBuilder, description: &str) -> HeaderBuilder {
    HeaderBuilder::new().schema(Some(schema)).description(Some(description))
}

fn required(schema: ObjectBuilder, description: &str) -> Header {
    header(schema, description).extensions(Some(keyword("required", json!(true)))).build()
}

fn seconds() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(0))
}

fn text(pattern: &str) -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String).pattern(Some(pattern))
}
