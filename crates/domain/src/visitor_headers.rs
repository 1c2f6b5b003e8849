//! What the headers of a visitor say, as rules of redirects judge it (D133).
//!
//! Strangers send them, so only their beginnings are examined: the work for a visit is bounded, whatever it sends.

use std::cmp::Reverse;

/// The length of a header that is examined, in bytes. The click recorder examines as much.
const MAX_EXAMINED_BYTES: usize = 512;

/// The length of a query that is examined, in bytes. A longer one is not forwarded either (D132).
const MAX_EXAMINED_BYTES_OF_QUERY: usize = 4_096;

/// The longest host, in bytes (RFC 1035).
const MAX_HOST_BYTES: usize = 253;

/// The part of a header that is examined.
#[must_use]
pub fn examined(header: &[u8]) -> &[u8] {
    header.get(..MAX_EXAMINED_BYTES).unwrap_or(header)
}

/// The part of a query that is examined, without its `?`. A parameter that ends beyond it is left out.
#[must_use]
pub fn examined_query(query: &[u8]) -> &[u8] {
    let Some(begin) = query.get(..=MAX_EXAMINED_BYTES_OF_QUERY) else { return query };
    let end = begin.iter().rposition(|byte| *byte == b'&').unwrap_or(0);
    begin.get(..end).unwrap_or_default()
}

/// The tag with the greatest weight in an `Accept-Language` header, as it was sent; of equals the first. Entries without a
/// language, such as `*`, are ignored, and so is what follows an underscore. `None` if no language is left.
///
/// ```
/// # use signpost_domain::visitor_headers::best_language;
/// assert_eq!(best_language(b"en;q=0.5, de-AT, *;q=0.1"), Some("de-AT"));
/// ```
#[must_use]
pub fn best_language(header: &[u8]) -> Option<&str> {
    let mut whole = examined(header);
    if whole.len() < header.len() {
        // An entry that is cut could be another language.
        let end = whole.iter().rposition(|byte| *byte == b',').unwrap_or(0);
        whole = whole.get(..end).unwrap_or_default();
    }
    whole
        .split(|byte| *byte == b',')
        .filter_map(weighted_language)
        .min_by_key(|(_, weight)| Reverse(*weight))
        .map(|(tag, _)| tag)
}

/// The tag of an entry and its weight in thousandths, if that is more than 0.
fn weighted_language(entry: &[u8]) -> Option<(&str, u16)> {
    let mut parts = entry.split(|byte| *byte == b';');
    let range = parts.next()?.trim_ascii();
    let tag = str::from_utf8(range.split(|byte| *byte == b'_').next()?).ok()?;
    let is_tag = tag.split('-').enumerate().all(|(place, part)| match place {
        0 => (2..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphabetic()),
        _ => (1..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric()),
    });
    let weight = weight(parts)?;
    (is_tag && weight > 0).then_some((tag, weight))
}

/// The weight of an entry of a header with these parameters, in thousandths: 1,000 without one, `None` if it is malformed or greater
/// than 1 (RFC 9110, section 12.4.2).
#[must_use]
pub fn weight<'a>(mut parameters: impl Iterator<Item = &'a [u8]>) -> Option<u16> {
    let sent = parameters.find_map(|parameter| match parameter.trim_ascii() {
        [b'q' | b'Q', b'=', weight @ ..] => Some(thousandths(weight.trim_ascii())),
        _ => None,
    });
    sent.unwrap_or(Some(1_000))
}

/// Reads a weight such as `0.85`.
fn thousandths(weight: &[u8]) -> Option<u16> {
    let (whole, decimals) = match weight {
        [whole] | [whole, b'.'] => (whole, &[][..]),
        [whole, b'.', decimals @ ..] if decimals.len() <= 3 => (whole, decimals),
        _ => return None,
    };
    let mut value = digit(*whole)?;
    for place in 0..3 {
        value = value * 10 + decimals.get(place).map_or(Some(0), |byte| digit(*byte))?;
    }
    (value <= 1_000).then_some(value)
}

fn digit(byte: u8) -> Option<u16> {
    byte.is_ascii_digit().then(|| u16::from(byte - b'0'))
}

/// The host of a `Referer` header as it was sent, without a port and a trailing dot; an Android app is its package. Empty if there
/// is no header, or an empty one. `None` if the header names no host, so that nobody knows where the visitor came from.
///
/// ```
/// # use signpost_domain::visitor_headers::referrer_host;
/// assert_eq!(referrer_host(b"https://News.example.com:8443/a?b"), Some("News.example.com"));
/// assert_eq!((referrer_host(b""), referrer_host(b"about:blank")), (Some(""), None));
/// ```
#[must_use]
pub fn referrer_host(header: &[u8]) -> Option<&str> {
    let header = examined(header).trim_ascii();
    if header.is_empty() {
        return Some("");
    }
    let schemes = [&b"https://"[..], b"http://", b"android-app://"];
    let rest = schemes.into_iter().find_map(|scheme| {
        let (start, rest) = header.split_at_checked(scheme.len())?;
        start.eq_ignore_ascii_case(scheme).then_some(rest)
    })?;
    let authority = rest.split(|byte| matches!(byte, b'/' | b'?' | b'#' | b'\\')).next()?;
    // What is before the last `@` is a user name.
    let named = authority.rsplit(|byte| *byte == b'@').next()?;
    let host = match named.iter().position(|byte| *byte == b']') {
        Some(end) if named.first() == Some(&b'[') => named.get(..=end)?,
        _ => named.split(|byte| *byte == b':').next()?,
    };
    let host = host.strip_suffix(b".").unwrap_or(host);
    let is_host = (1..=MAX_HOST_BYTES).contains(&host.len())
        && host.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-._[]:".contains(byte));
    str::from_utf8(host).ok().filter(|_| is_host)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn d133_the_language_with_the_greatest_weight_is_the_best() {
        for (header, language) in [
            ("de-AT,de;q=0.9,en;q=0.5", Some("de-AT")),
            ("en;q=0.5, fr-CA;q=0.9, *;q=1", Some("fr-CA")),
            ("EN_us", Some("EN")),
            ("zh-Hant-TW", Some("zh-Hant-TW")),
            ("fr;q=0, de;Q=0.001", Some("de")),
            ("fr;q=abc, fr;q=2, it;q=0.1", Some("it")),
            ("da, en", Some("da")),
            ("", None),
            ("*", None),
            ("12-de, e, de-, дe, de;q=0", None),
        ] {
            assert_eq!(best_language(header.as_bytes()), language, "{header}");
        }
    }

    #[test]
    fn d133_a_language_beyond_the_examined_part_does_not_count() {
        let many = "da;q=0.1, ".repeat(100) + "de";
        assert_eq!(best_language(many.as_bytes()), Some("da"));
        let cut = "a".repeat(8) + &"-12345678".repeat(60) + ",de";
        assert_eq!(best_language(cut.as_bytes()), None, "the only entry is cut");
    }

    #[test]
    fn d133_the_referrer_is_a_host_or_nothing_or_unknown() {
        for (header, host) in [
            ("https://www.Example.COM:8443/a?b#c", Some("www.Example.COM")),
            ("http://example.com.", Some("example.com")),
            ("HTTPS://news.example.com?x", Some("news.example.com")),
            ("https://anna:secret@example.com/", Some("example.com")),
            ("https://example.org\\@example.com/", Some("example.org")),
            ("http://192.0.2.7/", Some("192.0.2.7")),
            ("http://[2001:db8::1]:80/", Some("[2001:db8::1]")),
            ("android-app://com.Slack/", Some("com.Slack")),
            ("", Some("")),
            ("  ", Some("")),
            ("-", None),
            ("about:blank", None),
            ("example.com", None),
            ("https:///x", None),
            ("https://a b/", None),
            ("https://ü/", None),
        ] {
            assert_eq!(referrer_host(header.as_bytes()), host, "{header}");
        }
        let long = format!("https://{}.example/", "a.".repeat(130));
        assert_eq!(referrer_host(long.as_bytes()), None);
    }

    #[test]
    fn d133_a_long_query_is_cut_between_parameters() {
        let short = "a=".to_owned() + &"x".repeat(4_094);
        assert_eq!(examined_query(short.as_bytes()), short.as_bytes());
        assert_eq!(examined_query((short.clone() + "&b=1").as_bytes()), short.as_bytes());
        assert_eq!(examined_query(("a=1&".to_owned() + &short).as_bytes()), b"a=1");
        assert_eq!(examined_query((short + "x").as_bytes()), b"");
    }

    proptest! {
        #[test]
        fn d133_any_bytes_are_read(header: Vec<u8>) {
            let _ = (best_language(&header), referrer_host(&header), examined_query(&header));
        }
    }
}
