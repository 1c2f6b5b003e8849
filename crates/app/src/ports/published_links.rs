//! Links, and the rest of a domain, as visitors see them.

use signpost_domain::{
    AccountId, AppFile, ClickLimit, GeoBlocklist, Life, LinkId, LinkPreview, Name, PageContent, PixelCode,
    Rules, TargetUrl, Way,
};

/// What a visit needs to know about a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublishedLink {
    /// Its id. The content is of the same kind, unless the link is inactive or its account suspended.
    pub id: LinkId,
    /// The account that owns it.
    pub account: AccountId,
    /// Whether visits are recorded (D28, D50).
    pub analytics_enabled: bool,
    /// When visitors see the content, and where they are sent afterwards (D128). The default if the content is not read.
    pub life: Life,
    /// Whether visitors are asked for a password (D131). False if the content is not read.
    pub has_password: bool,
    /// What visitors see.
    pub content: PublishedContent,
}

/// What visitors of a link see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PublishedContent {
    /// A redirect.
    Redirect(PublishedRedirect),
    /// A landing page.
    Landing(Box<PublishedLanding>),
    /// Nothing, because the link is inactive. The store does not read its content: the response time must not reveal that
    /// the link exists (R30).
    Inactive,
    /// Nothing, because the account is suspended; the link may be active or not. The store does not read its content.
    Suspended,
}

/// What a visit needs to know about a redirect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublishedRedirect {
    /// Where it sends visitors.
    pub target_url: TargetUrl,
    /// Whether bots are blocked (D56).
    pub antibot_enabled: bool,
    /// The countries whose visitors are blocked (D55).
    pub geo_blocklist: GeoBlocklist,
    /// The codes of its pixels in the redirect's order (D57), without deleted pixels and pixels of other accounts.
    pub pixels: Vec<PixelCode>,
    /// How it sends them there (D132).
    pub way: Way,
    /// How many visits it sends on at most, and how many clicks are taken of that (D130).
    pub click_limit: Option<ClickLimit>,
    /// Which visitors it sends elsewhere (D133).
    pub rules: Rules,
    /// The card that link previewers get instead (D135).
    pub preview: Option<LinkPreview>,
}

/// What a visit needs to know about a landing page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublishedLanding {
    /// Its title.
    pub title: Name,
    /// Everything else on it (D34, D35).
    pub content: PageContent,
}

/// What visitors get on a custom domain where no link opens, or where a link has ended (D127, D128). Nothing, if its account is suspended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublishedSite {
    /// The account that has the domain.
    pub account: AccountId,
    /// Where the root leads without a link there.
    pub root_url: Option<TargetUrl>,
    /// Where addresses without a link lead.
    pub not_found_url: Option<TargetUrl>,
    /// Where links lead that have ended and have no address of their own for that (D128).
    pub expired_url: Option<TargetUrl>,
}

/// A file of a custom domain (D127).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublishedFile {
    /// The account that has the domain.
    pub account: AccountId,
    /// The file. `None` if the domain has none, or if its account is suspended.
    pub file: Option<AppFile>,
}
