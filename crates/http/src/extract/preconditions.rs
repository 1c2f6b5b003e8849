//! The headers `If-Match` and `If-None-Match` (D120).

use std::future::{Ready, ready};

use actix_web::dev::Payload;
use actix_web::http::header::{HeaderMap, IF_MATCH, IF_NONE_MATCH};
use actix_web::{FromRequest, HttpRequest};
use signpost_domain::{FieldError, Precondition, Revision, ViolationCode, Violations};

use crate::api_error::ApiError;

/// The header as violations name it.
const IF_MATCH_FIELD: &str = "If-Match";

const IF_NONE_MATCH_FIELD: &str = "If-None-Match";

/// What the header requires of the resource; nothing without the header.
#[derive(Debug)]
pub(crate) struct IfMatch(pub(crate) Precondition);

impl FromRequest for IfMatch {
    type Error = ApiError;
    type Future = Ready<Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(if_match(request.headers()).map(Self).map_err(ApiError::Invalid))
    }
}

/// What both headers require, of a request that may create the resource.
#[derive(Debug)]
pub(crate) struct Preconditions(pub(crate) Precondition);

impl FromRequest for Preconditions {
    type Error = ApiError;
    type Future = Ready<Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(both(request.headers()).map(Self).map_err(ApiError::Invalid))
    }
}

fn both(headers: &HeaderMap) -> Result<Precondition, Violations> {
    let required = if_match(headers)?;
    let mut values = headers.get_all(IF_NONE_MATCH);
    let Some(value) = values.next() else { return Ok(required) };
    let error = |message| {
        Violations::from(FieldError::new(ViolationCode::InvalidValue, message).at(IF_NONE_MATCH_FIELD))
    };
    if value.as_bytes().trim_ascii() != b"*" || values.next().is_some() {
        return Err(error("must be `*`, which allows only a creation"));
    }
    match required {
        Precondition::None => Ok(Precondition::Absent),
        Precondition::Absent | Precondition::Exists | Precondition::RevisionIn(_) => {
            Err(error("must not come with `If-Match`"))
        }
    }
}

fn if_match(headers: &HeaderMap) -> Result<Precondition, Violations> {
    read(headers).map_err(|error| Violations::from(error.at(IF_MATCH_FIELD)))
}

/// Reads `If-Match`. Several headers are one list (RFC 9110, section 5.3).
fn read(headers: &HeaderMap) -> Result<Precondition, FieldError> {
    let mut values = headers.get_all(IF_MATCH).peekable();
    if values.peek().is_none() {
        return Ok(Precondition::None);
    }
    let mut tags = Vec::new();
    for value in values {
        // Tags may have bytes beyond ASCII. Those of revisions do not.
        let parts = value.as_bytes().split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
        tags.extend(
            parts.filter(|tag| !tag.is_empty()).map(|tag| std::str::from_utf8(tag).unwrap_or_default()),
        );
    }
    if tags == ["*"] {
        return Ok(Precondition::Exists);
    }
    if tags.len() > Precondition::MAX_TAGS {
        let message = format!("must have at most {} entity tags", Precondition::MAX_TAGS);
        return Err(FieldError::new(ViolationCode::TooLong, message));
    }
    // No revision has a tag of another form. Weak tags never match (RFC 9110, section 13.1.1).
    Ok(Precondition::RevisionIn(tags.into_iter().filter_map(Revision::parse_tag).collect()))
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::HeaderValue;

    use super::*;

    fn read_of(values: &[&[u8]]) -> Result<Precondition, ViolationCode> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(IF_MATCH, HeaderValue::from_bytes(value).unwrap());
        }
        read(&headers).map_err(|error| error.at(IF_MATCH_FIELD).code())
    }

    #[test]
    fn d120_a_condition_is_a_list_of_tags_or_a_star() {
        let revisions = |numbers: &[u64]| {
            let revision = |number: &u64| Revision::from_stored(*number).unwrap();
            Ok(Precondition::RevisionIn(numbers.iter().map(revision).collect()))
        };
        assert_eq!(read_of(&[]), Ok(Precondition::None));
        assert_eq!(read_of(&[b" * "]), Ok(Precondition::Exists));
        assert_eq!(read_of(&[b"\"r3\""]), revisions(&[3]));
        assert_eq!(read_of(&[b"\"r3\" , ,\"r4\"", b"\"r5\""]), revisions(&[3, 4, 5]));
        for never in [&b""[..], b"r3", b"W/\"r3\"", b"\"abc\"", b"\"r3\"x", b"*, *"] {
            assert_eq!(read_of(&[never]), revisions(&[]), "{never:?}");
        }
        assert_eq!(read_of(&[&[b'"', 0xe9, b'"']]), revisions(&[]));
        let list = |length: usize| vec!["\"r1\""; length].join(",");
        assert!(read_of(&[list(100).as_bytes()]).is_ok());
        assert_eq!(read_of(&[list(101).as_bytes()]), Err(ViolationCode::TooLong));
    }

    #[test]
    fn d120_a_put_may_require_that_nothing_is_there() {
        let read = |if_match: Option<&'static str>, if_none_match: &[&'static str]| {
            let mut headers = HeaderMap::new();
            if let Some(value) = if_match {
                headers.append(IF_MATCH, HeaderValue::from_static(value));
            }
            for value in if_none_match {
                headers.append(IF_NONE_MATCH, HeaderValue::from_static(value));
            }
            both(&headers).map_err(|violations| violations.iter().map(|one| one.field().to_owned()).collect())
        };
        assert_eq!(read(None, &[]), Ok(Precondition::None));
        assert_eq!(read(Some("*"), &[]), Ok(Precondition::Exists));
        assert_eq!(read(None, &[" * "]), Ok(Precondition::Absent));
        let refused: Result<Precondition, Vec<String>> = Err(vec!["If-None-Match".to_owned()]);
        for values in [&["\"r1\""][..], &["*", "*"], &[""]] {
            assert_eq!(read(None, values), refused, "{values:?}");
        }
        assert_eq!(read(Some("*"), &["*"]), refused);
    }
}
