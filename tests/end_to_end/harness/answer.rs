//! An answer of the API, checked against the rules for every answer.

use std::sync::LazyLock;

use serde_json::Value;
use signpost_api_conformance::{Document, Exchange};
use signpost_http::{OpenApiVersion, Operations, openapi_document};
use ureq::Body;
use ureq::http::{HeaderMap, HeaderName, HeaderValue, Response};

use super::raw::parse_response;

/// The error codes (D6) with their statuses.
const CODES: [(&str, &[u16]); 26] = [
    ("invalid_request", &[400, 404, 405, 412]),
    ("invalid_api_key", &[401]),
    ("account_suspended", &[403]),
    ("api_access_not_available_on_current_plan", &[403]),
    ("feature_not_available_on_current_plan", &[403]),
    ("plan_limit_reached", &[403]),
    ("analytics_range_exceeds_plan_limit", &[403]),
    ("domain_not_found", &[404]),
    ("domain_not_active", &[409]),
    ("slug_required_for_system_domain", &[400]),
    ("redirect_not_found", &[404]),
    ("landing_not_found", &[404]),
    ("group_not_found", &[404]),
    ("slug_already_taken", &[409]),
    ("hostname_already_taken", &[409]),
    ("hostname_is_system_domain", &[400]),
    ("domain_provider_unavailable", &[503]),
    ("analytics_not_configured", &[409]),
    ("payload_too_large", &[413]),
    ("unsupported_media_type", &[415]),
    ("rate_limit_exceeded", &[429]),
    ("daily_quota_exceeded", &[429]),
    ("analytics_temporarily_unavailable", &[503]),
    ("internal_error", &[500, 503]),
    ("duplicate_id_in_batch", &[409]),
    ("duplicate_slug_in_batch", &[409]),
];

/// The codes of single violations (D8).
const VIOLATION_CODES: [&str; 15] = [
    "required",
    "unknown_field",
    "invalid_json",
    "invalid_type",
    "not_nullable",
    "too_short",
    "too_long",
    "too_few_items",
    "too_many_items",
    "out_of_range",
    "invalid_format",
    "invalid_value",
    "already_taken",
    "reserved",
    "truncated",
];

/// The OpenAPI document of the API.
pub static DOCUMENT: LazyLock<Document> = LazyLock::new(|| document(OpenApiVersion::V3_1));

/// The same in OpenAPI 3.0.
static DOCUMENT_3_0: LazyLock<Document> = LazyLock::new(|| document(OpenApiVersion::V3_0));

fn document(version: OpenApiVersion) -> Document {
    Document::parse(&openapi_document(version, Operations::All).unwrap())
}

/// An answer of the API.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    /// The body: null if it is empty, as for `HEAD`, and text if it is not JSON.
    pub body: Value,
}

impl Answer {
    /// Reads an answer to its end.
    pub(super) fn try_read(method: &str, path: &str, response: Response<Body>) -> Result<Self, ureq::Error> {
        let (parts, mut body) = response.into_parts();
        let text = body.read_to_string()?;
        let content_type = parts.headers.get("content-type").and_then(|value| value.to_str().ok());
        let body = match content_type {
            _ if text.is_empty() => Value::Null,
            // Exports of clicks.
            Some("application/x-ndjson" | "text/csv; charset=utf-8") => Value::String(text),
            _ => {
                serde_json::from_str(&text).unwrap_or_else(|error| panic!("{method} {path}: {error}: {text}"))
            }
        };
        let answer = Self { status: parts.status.as_u16(), headers: parts.headers, body };
        answer.check(method, path);
        Ok(answer)
    }

    /// The answer with JSON that [`exchange`](super::exchange) has received.
    pub fn of_exchange(method: &str, path: &str, received: &str) -> Self {
        let (status, head, body) = parse_response(received);
        let mut headers = HeaderMap::new();
        for (name, value) in head.lines().skip(1).filter_map(|line| line.split_once(':')) {
            let name = HeaderName::from_bytes(name.as_bytes()).unwrap();
            headers.append(name, HeaderValue::from_str(value.trim()).unwrap());
        }
        let body = serde_json::from_str(&body)
            .unwrap_or_else(|error| panic!("{method} {path}: {error}: {received}"));
        let answer = Self { status, headers, body };
        answer.check(method, path);
        answer
    }

    /// Checks the rules for every answer: D4, D6, D8, D12, D17, contract "Errors" and "Limits".
    pub(super) fn check(&self, method: &str, path: &str) {
        let context = format!("{method} {path}: {self:?}");
        let request_id = self.header("x-request-id").unwrap_or_else(|| panic!("no request id: {context}"));
        assert!(is_id(request_id, "req_"), "{context}");
        assert!(self.headers.keys().all(|name| !name.as_str().starts_with("access-control-")), "{context}");
        if let Some(is_replayed) = self.header("idempotent-replayed") {
            assert_eq!((method, is_replayed), ("POST", "true"), "{context}");
        }
        self.look_up(method, path, &context);
        if self.status < 400 {
            assert!(self.body.get("error").is_none(), "{context}");
            return;
        }
        if path.starts_with("/health/") {
            return;
        }
        if method != "HEAD" {
            self.check_envelope(request_id, &context);
        }
        assert_eq!([429, 503].contains(&self.status), self.header("retry-after").is_some(), "{context}");
        if self.status == 401 {
            assert_eq!(rate_limits(self), None, "{context}");
            assert_eq!(self.header("www-authenticate"), Some("Bearer"), "{context}");
        }
    }

    /// R17: the OpenAPI document describes every answer.
    fn look_up(&self, method: &str, path: &str, context: &str) {
        let path = path.split('?').next().unwrap_or_default();
        let headers = self.headers.iter();
        let headers: Vec<_> =
            headers.map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned())).collect();
        let json = Some(&self.body).filter(|body| !body.is_null());
        let exchange = Exchange { method, path, status: self.status, headers: &headers, json };
        for document in [&DOCUMENT, &DOCUMENT_3_0] {
            let differences = document.differences(&exchange);
            assert!(differences.is_empty(), "{differences:#?}: {context}");
        }
    }

    fn check_envelope(&self, request_id: &str, context: &str) {
        let error = self.body["error"].as_object().unwrap_or_else(|| panic!("no envelope: {context}"));
        assert_eq!(self.body.as_object().unwrap().len(), 1, "{context}");
        let code = error["code"].as_str().unwrap();
        let (_, statuses) = CODES
            .iter()
            .find(|(known, _)| *known == code)
            .unwrap_or_else(|| panic!("unknown code: {context}"));
        assert!(statuses.contains(&self.status), "{context}");
        assert!(!error["message"].as_str().unwrap().is_empty(), "{context}");
        assert_eq!(error["request_id"], request_id, "{context}");
        assert_eq!(
            error.contains_key("details"),
            ([400, 412].contains(&self.status) && code == "invalid_request") || code == "slug_already_taken",
            "{context}"
        );
        if let Some(details) = error.get("details") {
            let details = details.as_array().unwrap();
            assert!(!details.is_empty(), "{context}");
            for detail in details {
                let expected =
                    3 + usize::from(detail["code"] == "already_taken" && detail.get("existing_id").is_some());
                assert_eq!(detail.as_object().unwrap().len(), expected, "{context}");
                assert!(!detail["field"].as_str().unwrap().is_empty(), "{context}");
                assert!(VIOLATION_CODES.contains(&detail["code"].as_str().unwrap()), "{context}");
                assert!(!detail["message"].as_str().unwrap().is_empty(), "{context}");
            }
        }
        let expected = 3 + usize::from(error.contains_key("details"));
        assert_eq!(error.len(), expected, "{context}");
    }

    /// The value of a header, if the answer has it.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// Whether the answer says that it is replayed (D12).
    pub fn is_replayed(&self) -> bool {
        self.header("idempotent-replayed").is_some()
    }

    #[track_caller]
    pub fn expect_status(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{self:?}");
        self
    }

    /// Expects an error with this status and code.
    #[track_caller]
    pub fn expect_error(self, status: u16, code: &str) -> Self {
        assert_eq!((self.status, self.code()), (status, code), "{self:?}");
        self
    }

    /// Expects an `invalid_request` with exactly these violations, as `(field, code)`, in any order.
    #[track_caller]
    pub fn expect_violations(self, expected: &[(&str, &str)]) -> Self {
        assert_eq!((self.status, self.code()), (400, "invalid_request"), "{self:?}");
        let mut found = self.violations();
        found.sort();
        let mut expected: Vec<_> =
            expected.iter().map(|(field, code)| ((*field).to_owned(), (*code).to_owned())).collect();
        expected.sort();
        assert_eq!(found, expected, "{self:?}");
        self
    }

    /// Expects the refusal of a request whose key was used for another request (D12), along with any other
    /// violations (D8).
    #[track_caller]
    pub fn expect_key_is_anothers(self) -> Self {
        assert_eq!((self.status, self.code()), (400, "invalid_request"), "{self:?}");
        let of_key = ("Idempotency-Key".to_owned(), "invalid_value".to_owned());
        assert!(self.violations().contains(&of_key) && !self.is_replayed(), "{self:?}");
        self
    }

    /// The violations, as `(field, code)`.
    pub fn violations(&self) -> Vec<(String, String)> {
        let details = self.body["error"]["details"].as_array().cloned().unwrap_or_default();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        details.iter().map(|detail| (text(&detail["field"]), text(&detail["code"]))).collect()
    }

    /// The error code; empty if the answer is not an error.
    pub fn code(&self) -> &str {
        self.body["error"]["code"].as_str().unwrap_or_default()
    }

    /// The body without the request id, to compare answers that must otherwise be equal.
    pub fn without_request_id(&self) -> Value {
        let mut body = self.body.clone();
        if let Some(error) = body.get_mut("error").and_then(Value::as_object_mut) {
            error.remove("request_id");
        }
        body
    }
}

/// The four headers of the request budget: limit and remaining of the minute, then of the day. All or none must
/// be present.
pub fn rate_limits(answer: &Answer) -> Option<[u32; 4]> {
    let names = [
        "ratelimit-limit-minute",
        "ratelimit-remaining-minute",
        "ratelimit-limit-day",
        "ratelimit-remaining-day",
    ];
    let values: Vec<u32> =
        names.iter().filter_map(|name| answer.header(name)).map(|value| value.parse().unwrap()).collect();
    match values.as_slice() {
        [] => None,
        [a, b, c, d] => Some([*a, *b, *c, *d]),
        some => panic!("only some of the four headers: {some:?}"),
    }
}

/// Whether the text is an id in the form of D1.
pub fn is_id(text: &str, prefix: &str) -> bool {
    text.strip_prefix(prefix).is_some_and(|digits| {
        digits.len() == 32 && digits.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
    })
}
