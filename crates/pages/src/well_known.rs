//! Files that crawlers and researchers request from every site.

use signpost_domain::{Email, Timestamp};

/// `/robots.txt`: crawlers may open links and landing pages. Most of these say `noindex`. They need not
/// follow the links of widgets, whose targets are foreign sites.
pub const ROBOTS_TXT: &str = "User-agent: *\nDisallow: /w/\nDisallow: /*/w/\n";

/// The contact for reporting a weakness: a `mailto:`, `https:` or `tel:` URI (RFC 9116 section 2.5.3).
///
/// ```
/// use signpost_pages::SecurityContact;
///
/// let contact = SecurityContact::parse("security@example.com").unwrap();
/// assert_eq!(contact.as_uri(), "mailto:security@example.com");
/// assert!(SecurityContact::parse("http://example.com/report").is_none());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecurityContact(String);

impl SecurityContact {
    /// Maximum length in bytes.
    pub const MAX_BYTES: usize = 500;
    /// For how many days a `security.txt` is valid.
    const DAYS: i64 = 180;

    /// Parses a contact: an e-mail address, or a URI of one of the three schemes. `None` for other values,
    /// and for values that do not fit one line.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if text.len() > Self::MAX_BYTES || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return None;
        }
        let has_scheme = ["mailto:", "https://", "tel:"]
            .iter()
            .any(|scheme| text.strip_prefix(scheme).is_some_and(|rest| !rest.is_empty()));
        if has_scheme {
            return Some(Self(text.to_owned()));
        }
        let is_address = !text.contains([':', '/']) && Email::parse(text).is_ok();
        is_address.then(|| Self(format!("mailto:{text}")))
    }

    /// The contact as a URI.
    #[must_use]
    pub fn as_uri(&self) -> &str {
        &self.0
    }

    /// `/.well-known/security.txt` (RFC 9116) as of `now`. The file must name an expiry date. It is always
    /// half a year ahead, so the operator need not renew it.
    #[must_use]
    pub fn security_txt(&self, now: Timestamp) -> String {
        const DAY_MILLIS: i64 = 86_400_000;
        let today = now.unix_millis().div_euclid(DAY_MILLIS);
        let expires = Timestamp::from_unix_millis((today + Self::DAYS) * DAY_MILLIS).unwrap_or(now);
        format!("Contact: {}\nExpires: {expires}\n", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contact_is_an_address_or_a_uri_of_three_schemes() {
        for (text, uri) in [
            (" a@example.com ", "mailto:a@example.com"),
            ("mailto:a@example.com", "mailto:a@example.com"),
            ("https://example.com/report", "https://example.com/report"),
            ("tel:+49-30-1", "tel:+49-30-1"),
        ] {
            assert_eq!(SecurityContact::parse(text).unwrap().as_uri(), uri, "{text}");
        }
        let long = format!("https://example.com/{}", "a".repeat(500));
        for text in [
            "",
            "a",
            "mailto:",
            "https://",
            "http://example.com",
            "javascript:alert(1)",
            "a@b\nExpires: x",
            "a b@example.com",
            "ü@example.com",
            "data:x@y",
            &long,
        ] {
            assert_eq!(SecurityContact::parse(text), None, "{text}");
        }
    }

    #[test]
    fn security_txt_expires_half_a_year_later() {
        let contact = SecurityContact::parse("security@example.com").unwrap();
        let now = Timestamp::from_unix_millis(1_795_341_600_123).unwrap();
        assert_eq!(now.to_string(), "2026-11-22T10:00:00.123Z");
        let expected = "Contact: mailto:security@example.com\nExpires: 2027-05-21T00:00:00.000Z\n";
        assert_eq!(contact.security_txt(now), expected);
    }
}
