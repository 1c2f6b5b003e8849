//! The addresses at which links are published, and whether a target is one of them (D22, D24, D61).

use std::net::IpAddr;

use crate::hostname::Hostname;
use crate::id::WidgetId;
use crate::slug::Slug;
use crate::target_url::{TargetUrl, UrlScheme};
use crate::violation::{FieldError, ViolationCode};

/// The domain of the installation itself. Links of all accounts can live on it.
///
/// ```
/// use signpost_domain::{Hostname, Slug, SystemDomain, TargetUrl};
///
/// let alias = Hostname::parse("old.example.com").unwrap();
/// let system = SystemDomain::new("https://go.example.com", vec![alias.clone()]).unwrap();
/// let slug = Slug::parse("sale").unwrap();
/// assert_eq!(system.url_of(&slug), "https://go.example.com/sale");
/// assert!(system.answers_to(&alias));
///
/// let target = TargetUrl::parse("http://OLD.example.com./sale/?from=mail").unwrap();
/// assert_eq!(system.own_address_of(&target), Some(slug));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SystemDomain {
    scheme: UrlScheme,
    hostname: Hostname,
    port: u16,
    aliases: Vec<Hostname>,
    has_loopback_names: bool,
}

impl SystemDomain {
    /// The system domain at `origin` (setting `system-url`). Its links also resolve at `aliases` (setting
    /// `system-aliases`).
    ///
    /// # Errors
    /// `invalid_format` unless `origin` is `http://` or `https://`, a hostname, an optional port and an
    /// optional slash.
    pub fn new(origin: &str, aliases: Vec<Hostname>) -> Result<Self, FieldError> {
        let error = || {
            let message = "must be an origin, such as https://go.example.com or http://localhost:8081";
            FieldError::new(ViolationCode::InvalidFormat, message)
        };
        let url = TargetUrl::parse(origin).map_err(|_| error())?;
        if !matches!(url.path_and_after(), "" | "/") {
            return Err(error());
        }
        let hostname = Hostname::parse(url.host()).map_err(|_| error())?;
        Ok(Self {
            scheme: url.scheme(),
            hostname,
            port: url.effective_port(),
            aliases,
            has_loopback_names: false,
        })
    }

    /// The same domain, which also answers to every name of the machine itself: `localhost`, names under it, and loopback
    /// addresses (D54). For an installation whose operator has not named it yet.
    #[must_use]
    pub fn with_loopback_names(self) -> Self {
        Self { has_loopback_names: true, ..self }
    }

    /// The hostname that the API shows and that new addresses have.
    #[must_use]
    pub const fn hostname(&self) -> &Hostname {
        &self.hostname
    }

    /// The hostname and the aliases.
    pub fn hostnames(&self) -> impl Iterator<Item = &Hostname> {
        std::iter::once(&self.hostname).chain(&self.aliases)
    }

    /// Whether visitors reach links by HTTPS.
    #[must_use]
    pub fn is_secure(&self) -> bool {
        match self.scheme {
            UrlScheme::Https => true,
            UrlScheme::Http => false,
        }
    }

    /// The port at which visitors reach links.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// The port of HTTPS, if visitors reach links by HTTPS at another port than 443.
    #[must_use]
    pub fn https_port(&self) -> Option<u16> {
        match self.scheme {
            UrlScheme::Https if !self.has_default_port() => Some(self.port),
            UrlScheme::Https | UrlScheme::Http => None,
        }
    }

    /// The scheme, the hostname and the port, if it is not the scheme's default, without a trailing slash.
    #[must_use]
    pub fn origin(&self) -> String {
        let Self { scheme, hostname, port, aliases: _, has_loopback_names: _ } = self;
        if self.has_default_port() {
            format!("{}://{hostname}", scheme.as_str())
        } else {
            format!("{}://{hostname}:{port}", scheme.as_str())
        }
    }

    /// Whether a request for `hostname` is for the system domain: its hostname, an alias, or a loopback name if it has these.
    #[must_use]
    pub fn answers_to(&self, hostname: &Hostname) -> bool {
        self.is_named(hostname.as_str())
    }

    /// The public URL of the link with this slug (D22).
    #[must_use]
    pub fn url_of(&self, slug: &Slug) -> String {
        format!("{}/{slug}", self.origin())
    }

    /// The slug of the system domain's link at `target`. `None` if the target leads elsewhere, or to a path
    /// that is not a slug. The link need not exist.
    ///
    /// These make no difference: letter case and a trailing dot of the host, the hostname or an alias, a
    /// trailing slash, percent-encodings, query and fragment. The port must be the origin's. If it is the
    /// default of its scheme, both `http` and `https` with their default ports match, because front ends
    /// redirect between them.
    #[must_use]
    pub fn own_address_of(&self, target: &TargetUrl) -> Option<Slug> {
        // The root of the system domain has no link.
        self.own_path_of(target)?.link()?
    }

    /// What the path of `target` names on the system domain. `None` if the target leads elsewhere, or names nothing.
    /// Spelling is treated as in [`own_address_of`](Self::own_address_of).
    #[must_use]
    pub fn own_path_of(&self, target: &TargetUrl) -> Option<PublicPath> {
        let our_port = if self.has_default_port() { target.scheme().default_port() } else { self.port };
        if target.effective_port() != our_port || !self.is_named(target.host()) {
            return None;
        }
        PublicPath::of(target)
    }

    fn has_default_port(&self) -> bool {
        self.port == self.scheme.default_port()
    }

    fn is_named(&self, host: &str) -> bool {
        std::iter::once(&self.hostname).chain(&self.aliases).any(|name| name.as_str() == host)
            || self.has_loopback_names && is_loopback(host)
    }
}

/// Whether a normalised host always leads to the machine itself (RFC 6761).
fn is_loopback(host: &str) -> bool {
    let address: Option<IpAddr> = match host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(inner) => inner.parse().ok().map(IpAddr::V6),
        None => host.parse().ok().map(IpAddr::V4),
    };
    host == "localhost"
        || host.ends_with(".localhost")
        || address.is_some_and(|address| address.to_canonical().is_loopback())
}

/// The scheme of addresses on custom domains (setting `custom-domain-scheme`, D22). They have no port.
///
/// ```
/// use signpost_domain::{CustomDomainScheme, Hostname, Slug};
///
/// let hostname = Hostname::parse("go.example.com").unwrap();
/// let slug = Slug::parse("sale").unwrap();
/// assert_eq!(CustomDomainScheme::Https.url_of(&hostname, Some(&slug)), "https://go.example.com/sale");
/// assert_eq!(CustomDomainScheme::Https.url_of(&hostname, None), "https://go.example.com/");
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CustomDomainScheme {
    /// For development, and for installations without certificates.
    Http,
    /// The default.
    #[default]
    Https,
}

impl CustomDomainScheme {
    /// The scheme in a URL.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Http => UrlScheme::Http.as_str(),
            Self::Https => UrlScheme::Https.as_str(),
        }
    }

    /// The public URL of the link with this slug on a custom domain; without a slug, of the root of the
    /// domain (D22).
    #[must_use]
    pub fn url_of(self, hostname: &Hostname, slug: Option<&Slug>) -> String {
        let slug = slug.map_or("", Slug::as_str);
        format!("{}://{hostname}/{slug}", self.as_str())
    }
}

/// The address of `target` on the custom domain `hostname`: a slug, or (inner `None`) the root. `None` if the
/// target has another host or port, or a path that is not a slug. The link need not exist.
///
/// Spelling is treated as in [`SystemDomain::own_address_of`]. Custom domains are served at the default ports
/// of both schemes.
///
/// ```
/// use signpost_domain::public_address::slug_addressed_on;
/// use signpost_domain::{Hostname, Slug, TargetUrl};
///
/// let hostname = Hostname::parse("go.example.com").unwrap();
/// let addressed = |url| slug_addressed_on(&TargetUrl::parse(url).unwrap(), &hostname);
///
/// let slug = Slug::parse("sale").unwrap();
/// assert_eq!(addressed("https://GO.example.com:443/sale/"), Some(Some(slug)));
/// assert_eq!(addressed("http://go.example.com"), Some(None));
/// assert_eq!(addressed("https://go.example.com/sale/more"), None);
/// assert_eq!(addressed("https://go.example.com:8443/sale"), None);
/// ```
#[must_use]
pub fn slug_addressed_on(target: &TargetUrl, hostname: &Hostname) -> Option<Option<Slug>> {
    path_addressed_on(target, hostname)?.link()
}

/// What the path of `target` names if `hostname` is a custom domain. `None` if the target has another host or port, or names
/// nothing.
#[must_use]
pub fn path_addressed_on(target: &TargetUrl, hostname: &Hostname) -> Option<PublicPath> {
    let is_served_there =
        target.host() == hostname.as_str() && target.effective_port() == target.scheme().default_port();
    if is_served_there { PublicPath::of(target) } else { None }
}

/// What a path on one of our hostnames names: a link, or a part of one (D59).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicPath {
    /// The slug of the link; `None` is the root.
    pub slug: Option<Slug>,
    /// What it names of the link.
    pub part: PublicPart,
}

/// What a path names of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PublicPart {
    /// The link itself.
    Link,
    /// The target of a widget of the landing page.
    Widget(WidgetId),
    /// The QR code of the link.
    QrCode,
}

impl PublicPath {
    fn of(target: &TargetUrl) -> Option<Self> {
        let path = target.requested_path();
        let path = std::str::from_utf8(&path).ok()?.strip_prefix('/')?;
        let named = |slug: Option<&str>, part| {
            let slug = slug.map(Slug::parse).transpose().ok()?;
            Some(Self { slug, part })
        };
        if path.is_empty() {
            return named(None, PublicPart::Link);
        }
        // A trailing slash does not change the address (D53).
        let path = path.strip_suffix('/').unwrap_or(path);
        let segments: Vec<&str> = path.splitn(4, '/').collect();
        match *segments {
            ["qr.svg" | "qr.png"] => named(None, PublicPart::QrCode),
            [slug] => named(Some(slug), PublicPart::Link),
            [slug, "qr.svg" | "qr.png"] => named(Some(slug), PublicPart::QrCode),
            ["w", widget] => named(None, PublicPart::Widget(widget.parse().ok()?)),
            [slug, "w", widget] => named(Some(slug), PublicPart::Widget(widget.parse().ok()?)),
            _ => None,
        }
    }

    /// The slug, or (inner `None`) the root, of a path that names a link itself.
    #[expect(clippy::option_option, reason = "inside, `None` is the root, as it is in every placement")]
    fn link(self) -> Option<Option<Slug>> {
        (self.part == PublicPart::Link).then_some(self.slug)
    }
}

#[cfg(test)]
mod tests;
