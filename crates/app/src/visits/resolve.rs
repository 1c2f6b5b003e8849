//! From a public address to where it leads (D24, D44, D54).

use std::net::Ipv4Addr;

use signpost_domain::public_address::slug_addressed_on;
use signpost_domain::{
    AccountId, Address, GeoBlocklist, HostBlocklist, Hostname, LinkId, PixelCode, Site, Slug, SystemDomain,
    TargetUrl,
};

use crate::application::Application;
use crate::ports::{PublishedContent, PublishedLanding, PublishedLink, PublishedRedirect, StoreError};

/// How many of our own addresses a visit is led through before it counts as a loop (D24).
const MOST_HOPS: u32 = 5;

/// Where a public address leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolution {
    /// To this target, which is none of our own addresses.
    Redirect(TargetUrl),
    /// To a landing page, which is shown.
    Landing {
        /// What is on it.
        page: Box<PublishedLanding>,
        /// The page's own public URL, as the API shows it.
        url: String,
    },
    /// By way of redirects to a landing page at another of our addresses: this is the page's own public URL.
    LandingElsewhere {
        /// As the API shows it.
        url: String,
    },
    /// Nowhere, for whatever reason: visitors are not told which (D54).
    NotThere,
}

/// Why nothing is at an address, as far as that is known. It is for the operator alone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Missing {
    /// No link is there that visitors could open: there never was one, it lost its address, or its domain is not active.
    #[default]
    Unknown,
    /// The link, or one on the way, is inactive.
    Inactive,
    /// The account of the link, or of one on the way, is suspended.
    Suspended,
    /// The links on the way are too many, as they are where they lead in circles.
    Loop,
}

/// What the links on the way ask of their visitors. A chain asks what any of its links asks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VisitorGates {
    /// Whether bots are turned away (D56).
    pub antibot_enabled: bool,
    /// From which countries nobody is let in (D55).
    pub geo_blocklist: GeoBlocklist,
    /// The pixels to fire on the way, each once (D57).
    pub pixels: Vec<PixelCode>,
}

/// A link whose visits are recorded (D48, D50).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordedLink {
    /// The link.
    pub id: LinkId,
    /// The account that owns it.
    pub account: AccountId,
}

/// Whose changes can make an address lead elsewhere. A custom domain is named by the addresses on it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Dependencies {
    /// The addresses that were looked up.
    pub addresses: Vec<Address>,
    /// The accounts of the links that were found there.
    pub accounts: Vec<AccountId>,
}

/// Where an address leads, and all that an answer to its visitors takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    /// Where it leads.
    pub resolution: Resolution,
    /// Why it leads nowhere, if it does.
    pub missing: Missing,
    /// The link at the address itself, if there is one.
    pub link: Option<LinkId>,
    /// What visitors must pass.
    pub gates: VisitorGates,
    /// The links whose clicks a visit is, the one at the address first. A landing page elsewhere is not among them: its visit
    /// is recorded when it is shown.
    pub recorded: Vec<RecordedLink>,
    /// The hosts of all targets on the way. If the operator lists one of them, the address leads nowhere (D24).
    pub target_hosts: Vec<String>,
    /// What this rests on.
    pub depends_on: Dependencies,
}

impl Resolved {
    /// Whether the operator lists a target on the way, so that the address leads nowhere for now (D24).
    #[must_use]
    pub fn is_listed(&self, list: &HostBlocklist) -> bool {
        self.target_hosts.iter().any(|host| list.contains(host))
    }
}

/// Where the address made of `hostname` and `slug` (`None` for the root) leads.
#[must_use]
pub fn address_of(app: &Application, hostname: Hostname, slug: Option<Slug>) -> Address {
    let site = if app.system.answers_to(&hostname) { Site::System } else { Site::Custom(hostname) };
    Address { site, slug }
}

/// Where `address` leads. A target on another of our own addresses is followed, at most five deep; a longer chain or a
/// loop leads nowhere. The operator's list of targets is not asked.
///
/// # Errors
/// The store broke; that is not the same as "nothing there".
pub async fn resolve(app: &Application, address: Address) -> Result<Resolved, StoreError> {
    let mut resolved = Resolved {
        resolution: Resolution::NotThere,
        missing: Missing::default(),
        link: None,
        gates: VisitorGates::default(),
        recorded: Vec::new(),
        target_hosts: Vec::new(),
        depends_on: Dependencies::default(),
    };
    resolved.resolution = follow(app, address, &mut resolved).await?;
    Ok(resolved)
}

async fn follow(
    app: &Application,
    mut address: Address,
    resolved: &mut Resolved,
) -> Result<Resolution, StoreError> {
    let mut on_the_way = None;
    let mut hops = 0;
    loop {
        resolved.depends_on.addresses.push(address.clone());
        if address.site == Site::System && address.slug.is_none() {
            return Ok(Resolution::NotThere);
        }
        let Some(link) = app.store.published_link(&address).await? else {
            return Ok(match (on_the_way, address.site) {
                // It only looked like an address of ours.
                (Some(target), Site::Custom(_)) => Resolution::Redirect(target),
                (Some(_), Site::System) | (None, _) => Resolution::NotThere,
            });
        };
        let PublishedLink { id, account, analytics_enabled, content } = link;
        if !resolved.depends_on.accounts.contains(&account) {
            resolved.depends_on.accounts.push(account);
        }
        resolved.link.get_or_insert(id);
        let not_there = |resolved: &mut Resolved, missing| {
            resolved.missing = missing;
            Ok(Resolution::NotThere)
        };
        let recorded = analytics_enabled.then_some(RecordedLink { id, account });
        let redirect = match content {
            PublishedContent::Suspended => return not_there(resolved, Missing::Suspended),
            PublishedContent::Inactive => return not_there(resolved, Missing::Inactive),
            PublishedContent::Landing(_) | PublishedContent::Redirect(_) if hops > MOST_HOPS => {
                return not_there(resolved, Missing::Loop);
            }
            PublishedContent::Landing(page) => {
                return Ok(match url_of(app, &address) {
                    Some(url) if hops == 0 => {
                        resolved.recorded.extend(recorded);
                        Resolution::Landing { page, url }
                    }
                    // A page is shown at its own address only, so whoever was led here is sent there.
                    Some(url) => Resolution::LandingElsewhere { url },
                    None => Resolution::NotThere,
                });
            }
            PublishedContent::Redirect(redirect) => redirect,
        };
        let PublishedRedirect { target_url: target, antibot_enabled, geo_blocklist, pixels } = redirect;
        resolved.recorded.extend(recorded);
        resolved.gates.add(antibot_enabled, &geo_blocklist, pixels);
        resolved.target_hosts.push(target.host().to_owned());
        match own_address(&app.system, &target) {
            Some(next) => address = next,
            None => return Ok(Resolution::Redirect(target)),
        }
        on_the_way = Some(target);
        hops += 1;
    }
}

impl VisitorGates {
    /// Adds what one more link on the way asks.
    fn add(&mut self, antibot_enabled: bool, geo_blocklist: &GeoBlocklist, pixels: Vec<PixelCode>) {
        self.antibot_enabled |= antibot_enabled;
        if !geo_blocklist.is_empty() {
            let countries = [self.geo_blocklist.countries(), geo_blocklist.countries()].concat();
            self.geo_blocklist = GeoBlocklist::new(countries);
        }
        for pixel in pixels {
            if !self.pixels.contains(&pixel) {
                self.pixels.push(pixel);
            }
        }
    }
}

/// The address of ours that `target` is, or, as far as its shape tells, may be.
fn own_address(system: &SystemDomain, target: &TargetUrl) -> Option<Address> {
    if let Some(slug) = system.own_address_of(target) {
        return Some(Address { site: Site::System, slug: Some(slug) });
    }
    let hostname = Hostname::parse(target.host()).ok()?;
    if system.answers_to(&hostname) || !may_be_custom_domain(&hostname) {
        return None;
    }
    let slug = slug_addressed_on(target, &hostname)?;
    Some(Address { site: Site::Custom(hostname), slug })
}

/// Whether a custom domain can have the name, whatever the operator has configured: it is no address, no single
/// label, and has no internationalised one (D37).
fn may_be_custom_domain(hostname: &Hostname) -> bool {
    let name = hostname.as_str();
    let is_address = name.starts_with('[') || name.parse::<Ipv4Addr>().is_ok();
    !is_address && name.contains('.') && !name.split('.').any(|label| label.starts_with("xn--"))
}

/// The public URL of a link's address, as the API shows it. `None` for the root of the system domain.
#[must_use]
pub fn url_of(app: &Application, address: &Address) -> Option<String> {
    let Address { site, slug } = address;
    match site {
        Site::System => slug.as_ref().map(|slug| app.system.url_of(slug)),
        Site::Custom(hostname) => Some(app.custom_domain_scheme.url_of(hostname, slug.as_ref())),
    }
}

#[cfg(test)]
mod tests {
    use signpost_port_contracts::samples;

    use super::*;

    /// Contract D24: the store is asked only about targets that have the shape of an address of ours.
    #[test]
    fn d24_what_cannot_be_an_address_of_ours_is_not_looked_up() {
        let system =
            SystemDomain::new("https://go.example.com", vec![samples::hostname("old.example.com")]).unwrap();
        let own = |target| own_address(&system, &samples::target(target));
        let custom = |host, slug| samples::on_custom(host, slug).address();
        assert_eq!(own("http://OLD.example.com/a/"), samples::on_system("a").address());
        assert_eq!(own("https://Shop.Example.net./%61/?x"), custom("shop.example.net", Some("a")));
        assert_eq!(own("http://shop.example.net:80"), custom("shop.example.net", None));
        for target in [
            "https://shop.example.net:8443/a",
            "http://shop.example.net:443/a",
            "https://shop.example.net/a/b",
            "https://shop.example.net/a.html",
            "https://bücher.example/a",
            "https://shop/a",
            "https://localhost",
            "https://192.0.2.1/a",
            "https://[2001:db8::1]/a",
            // The system domain has no root, and its names are no custom domain's.
            "https://go.example.com/",
            "https://go.example.com:8443/a",
        ] {
            assert_eq!(own(target), None, "{target}");
        }
    }
}
