//! Links as visitors meet them.

use signpost_domain::{AccountId, GeoBlocklist, LinkId, Name, PageContent, PixelCode, TargetUrl};

/// All that a visit needs to know about a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublishedLink {
    /// Its id. What visitors get is of the same kind, if they get anything.
    pub id: LinkId,
    /// The account that owns it.
    pub account: AccountId,
    /// Whether visits are recorded (D28, D50).
    pub analytics_enabled: bool,
    /// What visitors get.
    pub content: PublishedContent,
}

/// What visitors of a link get.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PublishedContent {
    /// A redirect sends them on.
    Redirect(PublishedRedirect),
    /// A landing page is shown to them.
    Landing(Box<PublishedLanding>),
    /// Nothing, as the link is inactive. The store reads nothing of what it would show: whoever guesses at links must not
    /// learn from the time that there is one (R30).
    Inactive,
    /// Nothing, as the account is suspended, whether the link is active or not. The store reads as little.
    Suspended,
}

/// What a visit needs to know about a redirect alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublishedRedirect {
    /// Where it sends visitors.
    pub target_url: TargetUrl,
    /// Whether bots are turned away (D56).
    pub antibot_enabled: bool,
    /// The countries whose visitors are turned away (D55).
    pub geo_blocklist: GeoBlocklist,
    /// The codes of its pixels in the redirect's order (D57). Deleted pixels are left out, and so are those of other
    /// accounts.
    pub pixels: Vec<PixelCode>,
}

/// What a visit needs to know about a landing page alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublishedLanding {
    /// Its title.
    pub title: Name,
    /// Everything else on it (D34, D35).
    pub content: PageContent,
}
