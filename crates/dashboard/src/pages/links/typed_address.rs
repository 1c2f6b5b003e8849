//! Web addresses as people type them.

use std::borrow::Cow;

/// An address with `https://` in front, if it begins with a hostname with a dot instead of a scheme, as browsers show addresses.
/// Everything else stays as it is, so that the rule for addresses says what is wrong with it.
pub(in crate::pages) fn with_scheme(typed: &str) -> Cow<'_, str> {
    let typed = typed.trim();
    if begins_with_host(typed) { Cow::Owned(format!("https://{typed}")) } else { Cow::Borrowed(typed) }
}

/// The same for an address of this installation, which may have a host without a dot: one with a port, and `localhost`.
pub(super) fn visit_with_scheme(typed: &str) -> Cow<'_, str> {
    let typed = typed.trim();
    let (host, port) = host_and_port(typed);
    let is_local = port.is_some_and(|port| !port.is_empty()) || host.eq_ignore_ascii_case("localhost");
    if is_local && has_host_characters_only(host) {
        Cow::Owned(format!("https://{typed}"))
    } else {
        with_scheme(typed)
    }
}

fn begins_with_host(typed: &str) -> bool {
    let (host, _) = host_and_port(typed);
    let (first, last) = host.split_once('.').unwrap_or_default();
    !first.is_empty() && !last.is_empty() && has_host_characters_only(host)
}

/// The host of an address without a scheme, and its port if that is a number.
fn host_and_port(typed: &str) -> (&str, Option<&str>) {
    let authority = typed.split(['/', '?', '#']).next().unwrap_or_default();
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => (host, Some(port)),
        _ => (authority, None),
    }
}

fn has_host_characters_only(host: &str) -> bool {
    let is_host_character = |c: char| c.is_alphanumeric() || "-._".contains(c);
    !host.is_empty() && host.chars().all(is_host_character)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hostname_with_a_dot_gets_a_scheme() {
        for typed in [
            "www.shop.com",
            " shop.com/a?to=https://x.example ",
            "shop.com:8443/a",
            "bücher.example?x",
            "192.0.2.1",
        ] {
            assert_eq!(with_scheme(typed), format!("https://{}", typed.trim()));
        }
    }

    #[test]
    fn an_address_of_this_installation_needs_no_dot() {
        for typed in
            ["localhost:8081/x", "LocalHost/x", "localhost", "links:80", "links.example/x", " a.b:8443 "]
        {
            assert_eq!(visit_with_scheme(typed), format!("https://{}", typed.trim()));
        }
        for typed in [
            "links",
            "links/x",
            "localhost:x",
            "links:/x",
            ":80",
            "https://links:80",
            "http://localhost",
            "a b:80",
        ] {
            assert_eq!(visit_with_scheme(typed), typed);
        }
    }

    #[test]
    fn everything_else_stays_as_it_is() {
        for typed in [
            "",
            "https://shop.com",
            "HTTP://shop.com",
            "ftp://shop.com",
            "javascript:alert(1)",
            "javascript:alert(document.cookie)",
            "mailto:a@example.com",
            "a@example.com",
            "tel:123",
            "shop",
            "localhost:80",
            "/shop.com",
            ".com",
            "shop.",
            "a b.com",
            "data:text/html,a.b",
        ] {
            assert_eq!(with_scheme(typed), typed);
        }
    }
}
