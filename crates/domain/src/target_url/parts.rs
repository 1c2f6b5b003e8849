//! Splitting a target into scheme, host, port and the rest.

/// An `http` or `https` URL split at its delimiters. The parts together are the whole text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Parts<'a> {
    /// Whether the scheme is `https`.
    pub(super) secure: bool,
    /// The scheme as given, with `://`.
    pub(super) prefix: &'a str,
    /// The text between the slashes and the port or the rest.
    pub(super) host: &'a str,
    /// The port with its colon; empty without a port.
    pub(super) port: &'a str,
    /// Path, query and fragment.
    pub(super) rest: &'a str,
}

/// Splits `text` if it begins with `http://` or `https://` in any case. The authority ends at the first `/`,
/// `?` or `#` (RFC 3986 section 3.2). A colon within the brackets of an IPv6 address is not a delimiter.
/// Nothing else is checked.
pub(super) fn split(text: &str) -> Option<Parts<'_>> {
    let (secure, prefix_length) = if starts_with_ignoring_case(text, "https://") {
        (true, "https://".len())
    } else if starts_with_ignoring_case(text, "http://") {
        (false, "http://".len())
    } else {
        return None;
    };
    let (prefix, after_prefix) = text.split_at(prefix_length);
    let authority_end = after_prefix.find(['/', '?', '#']).unwrap_or(after_prefix.len());
    let (authority, rest) = after_prefix.split_at(authority_end);
    let port_start = match authority.rfind(']') {
        Some(bracket) => bracket + 1,
        None => authority.find(':').unwrap_or(authority.len()),
    };
    let (host, port) = authority.split_at(port_start);
    Some(Parts { secure, prefix, host, port, rest })
}

fn starts_with_ignoring_case(text: &str, prefix: &str) -> bool {
    text.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cut(text: &str) -> Option<(bool, &str, &str, &str)> {
        split(text).map(|Parts { secure, prefix: _, host, port, rest }| (secure, host, port, rest))
    }

    #[test]
    fn the_authority_ends_at_the_first_slash_question_mark_or_hash() {
        assert_eq!(cut("http://a"), Some((false, "a", "", "")));
        assert_eq!(cut("hTTps://A:1/b:2"), Some((true, "A", ":1", "/b:2")));
        assert_eq!(cut("http://a?b@c"), Some((false, "a", "", "?b@c")));
        assert_eq!(cut("http://a#/b"), Some((false, "a", "", "#/b")));
        assert_eq!(cut("http://[::1]:80/"), Some((false, "[::1]", ":80", "/")));
        assert_eq!(cut("http:///a"), Some((false, "", "", "/a")));
        assert_eq!(cut("http:/a"), None);
        assert_eq!(cut("ftp://a"), None);
    }

    proptest! {
        #[test]
        fn the_parts_put_together_are_the_text(text in "[hH]ttps?://[a-z0-9.:@\\[\\]/?#ü]{0,30}") {
            let Parts { secure, prefix, host, port, rest } = split(&text).unwrap();
            prop_assert_eq!(format!("{prefix}{host}{port}{rest}"), text.as_str());
            prop_assert_eq!(secure, prefix.len() == 8);
        }
    }
}
