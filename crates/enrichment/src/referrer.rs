//! The site or app that referred the visitor, by the `Referer` header.

use signpost_domain::analytics::recorded_host;

/// Maximum length of a host in bytes (RFC 1035).
const MAX_HOST_BYTES: usize = 253;

/// The referrer of a visit.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Referrer {
    /// Nothing usable.
    None,
    /// A site, by its host: lower case, without `www.`, port or trailing dot.
    Host(String),
    /// An Android app, by its package name in lower case. Some apps name a host instead.
    App(String),
    /// A site without a name that may be stored: an IP address may identify a person.
    Nameless,
}

impl Referrer {
    /// Parses the value of a `Referer` header.
    pub(crate) fn read(header: &[u8]) -> Self {
        let header = header.trim_ascii();
        if let Some(rest) = strip_scheme(header, b"android-app://") {
            let package = host(authority(rest));
            return package.map_or(Self::None, |package| {
                if is_address(&package) { Self::Nameless } else { Self::App(package) }
            });
        }
        let Some(rest) = strip_scheme(header, b"https://").or_else(|| strip_scheme(header, b"http://"))
        else {
            return Self::None;
        };
        let authority = authority(rest);
        let named = authority.iter().rposition(|byte| *byte == b'@').map_or(authority, |at| {
            // Text before the last `@` is a user name, which is private.
            authority.get(at + 1..).unwrap_or_default()
        });
        if named.first() == Some(&b'[') {
            return Self::Nameless;
        }
        let name = named.split(|byte| *byte == b':').next().unwrap_or_default();
        let Some(host) = host(name) else { return Self::None };
        if is_address(&host) {
            return Self::Nameless;
        }
        Self::Host(recorded_host(&host).to_owned())
    }
}

fn strip_scheme<'a>(header: &'a [u8], scheme: &[u8]) -> Option<&'a [u8]> {
    let (start, rest) = header.split_at_checked(scheme.len())?;
    start.eq_ignore_ascii_case(scheme).then_some(rest)
}

fn authority(rest: &[u8]) -> &[u8] {
    rest.split(|byte| matches!(byte, b'/' | b'?' | b'#' | b'\\')).next().unwrap_or_default()
}

/// Parses a host in lower case. Browsers send names in other scripts in their ASCII form.
fn host(name: &[u8]) -> Option<String> {
    let name = name.strip_suffix(b".").unwrap_or(name);
    if name.is_empty() || name.len() > MAX_HOST_BYTES {
        return None;
    }
    let label = |label: &[u8]| {
        !label.is_empty()
            && label.len() <= 63
            && label.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
    };
    if !name.split(|byte| *byte == b'.').all(label) {
        return None;
    }
    String::from_utf8(name.to_ascii_lowercase()).ok()
}

/// Whether a host is an IPv4 address, by the URL standard: its last label is a number.
fn is_address(host: &str) -> bool {
    host.rsplit('.').next().is_some_and(is_number)
}

/// Whether a label is a decimal or hexadecimal number.
fn is_number(label: &str) -> bool {
    let hexadecimal = label.strip_prefix("0x");
    hexadecimal.is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
        || label.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::Referrer;

    fn host(header: &str) -> Referrer {
        Referrer::read(header.as_bytes())
    }

    #[test]
    fn d47_referrer_is_a_lower_case_host_without_www_and_port() {
        for (header, expected) in [
            ("https://www.Example.COM:8443/a?b#c", "example.com"),
            ("http://example.com", "example.com"),
            ("HTTPS://news.example.com?x", "news.example.com"),
            ("https://anna:secret@example.com/", "example.com"),
            ("https://example.com./", "example.com"),
            ("https://www.com/", "www.com"),
            ("https://xn--bcher-kva.example/", "xn--bcher-kva.example"),
            ("http://intranet/", "intranet"),
        ] {
            assert_eq!(host(header), Referrer::Host(expected.to_owned()), "{header}");
        }
    }

    #[test]
    fn d47_values_without_a_web_address_are_no_referrer() {
        let long = format!("https://{}.example/", "a.".repeat(130));
        for header in [
            "",
            "-",
            "example.com",
            "ftp://example.com",
            "https://",
            "https:///x",
            "https://a b/",
            "https://ü/",
        ] {
            assert_eq!(host(header), Referrer::None, "{header}");
        }
        assert_eq!(host(&long), Referrer::None);
        assert_eq!(host("https://a..b/"), Referrer::None);
    }

    #[test]
    fn d48_referrer_with_an_ip_address_is_not_stored() {
        for header in
            ["http://192.0.2.7/", "http://192.0.2.7.:80", "http://[2001:db8::1]:80/", "http://0xC0000207/"]
        {
            assert_eq!(host(header), Referrer::Nameless, "{header}");
        }
    }

    #[test]
    fn d47_app_is_named_by_its_package() {
        assert_eq!(host("android-app://com.Slack/"), Referrer::App("com.slack".to_owned()));
        assert_eq!(host("android-app://m.facebook.com/"), Referrer::App("m.facebook.com".to_owned()));
        assert_eq!(host("android-app://"), Referrer::None);
        assert_eq!(host("android-app://192.0.2.7/"), Referrer::Nameless);
    }
}
