//! The check of `Content-Type` and `Content-Encoding` (contract "Endpoints", D10).

use actix_web::http::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap};

/// A sentence that tells the caller which headers to send.
type Advice = &'static str;

const NOT_JSON: Advice = "Send the body with `Content-Type: application/json`.";
const NOT_UTF8: Advice =
    "`Content-Type: application/json` takes no parameter but `charset=utf-8`; send the body as UTF-8.";
const TWICE: Advice = "Send one `Content-Type` header.";
const ENCODED: Advice = "Send the body as it is, without `Content-Encoding`.";

/// Checks that the headers announce JSON in UTF-8, without an encoding. Only requests with a body need a content type.
pub(crate) fn check(headers: &HeaderMap, has_body: bool) -> Result<(), Advice> {
    if headers.contains_key(CONTENT_ENCODING) {
        return Err(ENCODED);
    }
    let mut values = headers.get_all(CONTENT_TYPE);
    match (values.next(), values.next()) {
        (None, _) if has_body => Err(NOT_JSON),
        (None, _) => Ok(()),
        (Some(value), None) => value.to_str().map_err(|_| NOT_JSON).and_then(check_value),
        (Some(_), Some(_)) => Err(TWICE),
    }
}

fn check_value(value: &str) -> Result<(), Advice> {
    let mut parts = value.split(';').map(trim);
    if !parts.next().is_some_and(|media_type| media_type.eq_ignore_ascii_case("application/json")) {
        return Err(NOT_JSON);
    }
    // RFC 9110 section 5.6.6 allows empty parameters, such as after a trailing semicolon.
    let mut parameters = parts.filter(|parameter| !parameter.is_empty());
    match (parameters.next(), parameters.next()) {
        (None, _) => Ok(()),
        (Some(parameter), None) if is_utf8_charset(parameter) => Ok(()),
        (Some(_), _) => Err(NOT_UTF8),
    }
}

fn is_utf8_charset(parameter: &str) -> bool {
    parameter.split_once('=').is_some_and(|(name, value)| {
        let unquoted = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(value);
        name.eq_ignore_ascii_case("charset") && unquoted.eq_ignore_ascii_case("utf-8")
    })
}

fn trim(text: &str) -> &str {
    text.trim_matches([' ', '\t'])
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::HeaderValue;

    use super::*;

    fn with_content_types(values: &[&str]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(CONTENT_TYPE, HeaderValue::from_str(value).unwrap());
        }
        headers
    }

    #[test]
    fn d10_application_json_may_carry_a_charset() {
        for accepted in [
            "application/json",
            "Application/JSON",
            "application/json;charset=utf-8",
            "application/json; charset=UTF-8",
            "application/json ;\tCharset=\"utf-8\"",
            "application/json;",
            " application/json; ; charset=utf-8 ;",
        ] {
            assert_eq!(check(&with_content_types(&[accepted]), true), Ok(()), "{accepted}");
        }
    }

    #[test]
    fn d10_any_other_content_type_is_unsupported() {
        for refused in [
            "",
            "text/plain",
            "application/jsonp",
            "application/problem+json",
            "application/json, application/json",
            "application/json; charset=latin1",
            "application/json; charset=utf8",
            "application/json; charset=\"utf-8",
            "application/json; charset",
            "application/json; charset = utf-8",
            "application/json; charset=utf-8; charset=utf-8",
            "application/json; version=1",
            "application/json; charset=utf-8; version=1",
            "application/x-www-form-urlencoded",
            "multipart/form-data; boundary=x",
            "*/*",
        ] {
            assert!(check(&with_content_types(&[refused]), true).is_err(), "{refused}");
            assert!(check(&with_content_types(&[refused]), false).is_err(), "{refused}");
        }
        assert_eq!(check(&with_content_types(&["application/json", "application/json"]), true), Err(TWICE));
    }

    #[test]
    fn d10_a_body_needs_a_content_type_and_no_body_needs_none() {
        assert_eq!(check(&HeaderMap::new(), true), Err(NOT_JSON));
        assert_eq!(check(&HeaderMap::new(), false), Ok(()));
    }

    #[test]
    fn d10_any_content_encoding_is_unsupported() {
        for encoding in ["gzip", "identity", ""] {
            let mut headers = with_content_types(&["application/json"]);
            headers.append(CONTENT_ENCODING, HeaderValue::from_static(encoding));
            assert_eq!(check(&headers, true), Err(ENCODED), "{encoding}");
        }
    }
}
