//! Icons, codes and texts: answers other than pages. They are the same for every visitor, so caches may keep
//! them.

use actix_http::header::HeaderValue;
use bytes::Bytes;
use sha2::{Digest, Sha256};
use signpost_domain::Timestamp;
use signpost_listener::{CACHED_FOR_AN_HOUR, PRIVATE_NO_STORE};
use signpost_pages::{ROBOTS_TXT, SecurityContact, SiteIcon};

/// A file, ready to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct File {
    pub(crate) content: Bytes,
    pub(crate) content_type: &'static str,
    /// A hash of the content.
    pub(crate) etag: String,
    /// `Content-Disposition`, for a file that browsers save instead of showing it.
    pub(crate) disposition: Option<HeaderValue>,
    /// How long caches may keep it.
    pub(crate) cache_control: HeaderValue,
}

impl File {
    pub(crate) fn new(content: impl Into<Bytes>, content_type: &'static str) -> Self {
        let content = content.into();
        let digest = Sha256::digest(&content);
        let hash = digest.iter().take(16).fold(0_u128, |hash, byte| hash << 8 | u128::from(*byte));
        Self {
            content,
            content_type,
            etag: format!("\"{hash:032x}\""),
            disposition: None,
            cache_control: CACHED_FOR_AN_HOUR,
        }
    }

    /// A file of a custom domain (D127). No cache keeps it, so that a change takes effect at once, as with links.
    pub(crate) fn of_app(content: String) -> Self {
        Self { cache_control: PRIVATE_NO_STORE, ..Self::new(content, "application/json") }
    }

    /// Whether a visitor who sends this `If-None-Match` already has the file (RFC 9110 section 13.1.2).
    pub(crate) fn is_known(&self, if_none_match: Option<&HeaderValue>) -> bool {
        let Some(Ok(known)) = if_none_match.map(HeaderValue::to_str) else { return false };
        known.split(',').map(str::trim).any(|tag| tag == "*" || tag.trim_start_matches("W/") == self.etag)
    }
}

/// The files that browsers, crawlers and researchers request from every site (D54).
#[derive(Debug)]
pub(crate) struct SiteFiles {
    robots: File,
    favicon: File,
    touch_icon: File,
    security_contact: Option<SecurityContact>,
}

impl SiteFiles {
    pub(crate) fn new(security_contact: Option<SecurityContact>) -> Self {
        let icon = |icon: SiteIcon| File::new(icon.draw(), icon.content_type());
        Self {
            robots: File::new(ROBOTS_TXT, "text/plain; charset=utf-8"),
            favicon: icon(SiteIcon::Favicon),
            touch_icon: icon(SiteIcon::Touch),
            security_contact,
        }
    }

    /// Returns the file at `path`, as of `now`.
    pub(crate) fn at(&self, path: &str, now: Timestamp) -> Option<File> {
        match path {
            "/robots.txt" => Some(self.robots.clone()),
            "/favicon.ico" => Some(self.favicon.clone()),
            "/.well-known/security.txt" => {
                let text = self.security_contact.as_ref()?.security_txt(now);
                Some(File::new(text, "text/plain; charset=utf-8"))
            }
            other => is_touch_icon(other).then(|| self.touch_icon.clone()),
        }
    }
}

/// Whether `path` names a home screen icon of a phone. The name may include a size.
pub(crate) fn is_touch_icon(path: &str) -> bool {
    path.strip_prefix("/apple-touch-icon")
        .and_then(|rest| rest.strip_suffix(".png"))
        .is_some_and(|variant| !variant.contains('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn if_none_match_recognizes_the_etag() {
        let file = File::new("abc", "text/plain");
        let is_known = |value: &str| file.is_known(Some(&HeaderValue::from_str(value).unwrap()));
        let own = &file.etag;
        for known in ["*", own, &format!("W/{own}"), &format!("\"x\" , {own}")] {
            assert!(is_known(known), "{known}");
        }
        for unknown in ["", "\"x\"", own.trim_matches('"')] {
            assert!(!is_known(unknown), "{unknown}");
        }
        assert!(!file.is_known(None));
        assert_ne!(File::new("abd", "text/plain").etag, file.etag);
    }
}
