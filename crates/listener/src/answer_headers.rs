//! The headers that tell browsers and caches how to treat an answer. All listeners take them from here, so that a kind of
//! answer has the same protection everywhere.

use actix_http::header::{
    CONTENT_SECURITY_POLICY, HeaderMap, HeaderValue, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};

/// `Cache-Control` of answers that hold for one caller at one moment.
pub const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");

/// `Cache-Control` of answers to visitors. No cache stores them, so a change of a link takes effect at once (D53, D58).
pub const PRIVATE_NO_STORE: HeaderValue = HeaderValue::from_static("private, no-store");

/// [`PRIVATE_NO_STORE`] as the header line of a [`ShortRedirect`](crate::ShortRedirect).
pub(crate) const PRIVATE_NO_STORE_LINE: &str = "cache-control: private, no-store\r\n";

/// `Cache-Control` of permanent redirects. Only the visitor's browser keeps them, and soon asks again, so a change of a link takes
/// effect within this time (D132).
pub const PRIVATE_FOR_90_SECONDS: HeaderValue = HeaderValue::from_static("private, max-age=90");

/// [`PRIVATE_FOR_90_SECONDS`] as the header line of a [`ShortRedirect`](crate::ShortRedirect).
pub(crate) const PRIVATE_FOR_90_SECONDS_LINE: &str = "cache-control: private, max-age=90\r\n";

/// `Cache-Control` of files, which do not change while they exist or change only with a release.
pub const CACHED_FOR_AN_HOUR: HeaderValue = HeaderValue::from_static("public, max-age=3600");

/// What an answer is to a browser. A redirect and JSON run and load nothing, so they need none of these headers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnswerKind {
    /// A page, or a file that it loads.
    Page {
        /// What the page may run and load.
        policy: HeaderValue,
        /// What other sites learn about the page's address when it links to them or loads from them.
        referrer_policy: &'static str,
    },
    /// A file that people may open on its own. An SVG image would run its scripts then, so it may run and load nothing.
    File,
    /// A text.
    Text,
}

impl AnswerKind {
    /// The referrer policy under which other sites learn nothing.
    pub const NO_REFERRER: &'static str = "no-referrer";

    /// Sets the headers of this kind.
    pub fn insert_into(self, headers: &mut HeaderMap) {
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        match self {
            Self::Page { policy, referrer_policy } => {
                headers.insert(CONTENT_SECURITY_POLICY, policy);
                headers.insert(REFERRER_POLICY, HeaderValue::from_static(referrer_policy));
            }
            Self::File => {
                headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'"));
            }
            Self::Text => {}
        }
    }
}
