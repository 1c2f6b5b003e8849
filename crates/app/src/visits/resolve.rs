//! Resolving a public address (D24, D44, D54, D128, D132).

use signpost_domain::{
    AccountId, Address, ClickLimit, GeoBlocklist, HostBlocklist, Hostname, Life, LinkId, LinkPreview,
    PixelCode, RedirectStatus, Rules, Schedule, Site, Slug, TargetUrl, Way, behind_path, query_of,
};

use crate::application::Application;
use crate::ports::{PublishedContent, PublishedLanding, PublishedLink, PublishedRedirect, StoreError};
use crate::visits::chain_link::{is_conditional, limit_of, next_target, preview_of, target_of_widget};
use crate::visits::own_place::OwnPlace;

/// How many redirects to our own addresses a visit follows before the chain counts as a loop (D24).
pub const MOST_HOPS: u32 = 5;

/// Where a public address leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolution {
    /// To this target. It is one of our own addresses only if the link there has dates, a limit of clicks, a password, rules or a card,
    /// so that it decides anew for each visit, or if the link at the address itself has rules.
    Redirect(TargetUrl),
    /// To a landing page at this address.
    Landing {
        /// The content of the page.
        page: Box<PublishedLanding>,
        /// The page's public URL, as the API shows it.
        url: String,
    },
    /// By redirects to a landing page at another of our addresses.
    LandingElsewhere {
        /// The page's public URL, as the API shows it, with the query and the fragment that the last redirect leads to.
        url: String,
    },
    /// Nowhere. Visitors do not learn the reason (D54).
    NotThere,
}

/// Why an address leads nowhere, as far as known. Only the operator sees it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Missing {
    /// No link is published there: it never existed, it lost its address, or its domain is not active.
    #[default]
    Unknown,
    /// The link, or another link of the chain, is inactive.
    Inactive,
    /// The account of the link, or of another link of the chain, is suspended.
    Suspended,
    /// The chain of links is too long; it may be a loop.
    Loop,
}

/// The gates that visitors must pass. A chain of links has the gates of all its links.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VisitorGates {
    /// Whether bots are blocked (D56).
    pub antibot_enabled: bool,
    /// The countries whose visitors are blocked (D55).
    pub geo_blocklist: GeoBlocklist,
    /// The pixels to fire, each once (D57).
    pub pixels: Vec<PixelCode>,
}

/// How visitors are sent on (D132). In a chain of links it is what a browser would get that opens one after the other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sending {
    /// The status of the answer. Browsers may keep it only if they may keep those of all links on the way.
    pub status: RedirectStatus,
    /// Whether all links on the way forward the parameters of visitors.
    pub forwards_query: bool,
}

/// A link whose visits are recorded (D48, D50).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordedLink {
    /// The link.
    pub id: LinkId,
    /// The account that owns it.
    pub account: AccountId,
}

/// The card of a link, which link previewers get instead of its target (D135).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreviewCard {
    /// What its owner wrote.
    pub preview: LinkPreview,
    /// The link's public URL, as the API shows it.
    pub url: String,
}

/// The addresses and accounts whose changes can change the resolution. A custom domain is covered by its addresses.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Dependencies {
    /// The addresses that were looked up.
    pub addresses: Vec<Address>,
    /// The accounts of the links at these addresses.
    pub accounts: Vec<AccountId>,
}

/// Where an address leads, with everything that the answer to a visitor needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    /// Where it leads.
    pub resolution: Resolution,
    /// Why it leads nowhere; the default if it leads somewhere.
    pub missing: Missing,
    /// The link at the address itself.
    pub link: Option<LinkId>,
    /// When that link opens, and where it leads afterwards. Where it leads until then is as of no particular time.
    pub life: Life,
    /// The limit of clicks of that link (D130).
    pub click_limit: Option<ClickLimit>,
    /// Whether visitors of that link are asked for a password (D131).
    pub has_password: bool,
    /// Which visitors of that link are sent elsewhere (D133), with its parameters of campaigns in the targets. Such a link leads to its
    /// targets as they are, even at our own addresses, so what else is here is only about itself.
    pub rules: Rules,
    /// The card of that link (D135).
    pub card: Option<PreviewCard>,
    /// The gates that visitors must pass.
    pub gates: VisitorGates,
    /// How visitors are sent on.
    pub sending: Sending,
    /// The links that record a visit as a click, the one at the address first. A landing page elsewhere is not included,
    /// since it records the visit when it is shown.
    pub recorded: Vec<RecordedLink>,
    /// The hosts of all targets in the chain, and of those of the rules. If the operator's list has one of them, the address leads nowhere (D24).
    pub target_hosts: Vec<String>,
    /// The addresses and accounts that this result depends on.
    pub depends_on: Dependencies,
}

impl Resolved {
    /// Whether the operator's list has a target of the chain, so that the address leads nowhere for now (D24).
    #[must_use]
    pub fn is_listed(&self, list: &HostBlocklist) -> bool {
        self.target_hosts.iter().any(|host| list.contains(host))
    }

    /// Takes what is only about the link at the address itself.
    fn begin(
        &mut self,
        app: &Application,
        address: &Address,
        life: Life,
        has_password: bool,
        content: &PublishedContent,
    ) {
        (self.life, self.has_password) = (life, has_password);
        self.click_limit = limit_of(content);
        let card = |preview: &LinkPreview| {
            Some(PreviewCard { preview: preview.clone(), url: url_of(app, address)? })
        };
        self.card = preview_of(content).and_then(card);
    }
}

/// The address of `hostname` and `slug`. A slug of `None` is the root.
#[must_use]
pub fn address_of(app: &Application, hostname: Hostname, slug: Option<Slug>) -> Address {
    let site = if app.system.answers_to(&hostname) { Site::System } else { Site::Custom(hostname) };
    Address { site, slug }
}

/// Resolves `address`. A target at one of our own addresses, or at that of a widget, is followed, up to five levels deep; a
/// longer chain or a loop leads nowhere. A chain ends before a link with dates, a limit of clicks, a password, rules or a card, whose
/// address the visitor then opens, and after a first link with rules. But what follows that link counts too. The operator's list of
/// targets is not checked here, and neither is the time.
///
/// # Errors
/// The store broke; callers must not take that for [`Resolution::NotThere`].
pub async fn resolve(app: &Application, address: Address) -> Result<Resolved, StoreError> {
    let mut resolved = Resolved {
        resolution: Resolution::NotThere,
        missing: Missing::default(),
        link: None,
        life: Life::default(),
        click_limit: None,
        has_password: false,
        rules: Rules::default(),
        card: None,
        gates: VisitorGates::default(),
        sending: Sending::default(),
        recorded: Vec::new(),
        target_hosts: Vec::new(),
        depends_on: Dependencies::default(),
    };
    resolved.resolution = follow(app, address, &mut resolved).await?;
    // A browser that keeps the answer would pass the gates of a further link, and those of a row that no request of today could write.
    let is_the_same_for_all = resolved.gates == VisitorGates::default()
        && resolved.life.schedule == Schedule::default()
        && resolved.click_limit.is_none()
        && !resolved.has_password
        && resolved.rules.is_empty();
    if !is_the_same_for_all {
        resolved.sending.status = resolved.sending.status.temporary();
    }
    Ok(resolved)
}

async fn follow(
    app: &Application,
    mut address: Address,
    resolved: &mut Resolved,
) -> Result<Resolution, StoreError> {
    let mut on_the_way: Option<TargetUrl> = None;
    let mut widget = None;
    let mut hops = 0;
    loop {
        resolved.depends_on.addresses.push(address.clone());
        if address.site == Site::System && address.slug.is_none() {
            return Ok(Resolution::NotThere);
        }
        let Some(link) = app.store.published_link(&address).await? else {
            return Ok(match (on_the_way, address.site) {
                // The target only looked like one of our addresses.
                (Some(target), Site::Custom(_)) => Resolution::Redirect(target),
                (Some(_), Site::System) | (None, _) => Resolution::NotThere,
            });
        };
        let PublishedLink { id, account, analytics_enabled, life, has_password, content } = link;
        let is_conditional = has_password || is_conditional(&life, &content);
        resolved.depends_on.add_account(account);
        resolved.link.get_or_insert(id);
        let not_there = |resolved: &mut Resolved, missing| {
            resolved.missing = missing;
            Ok(Resolution::NotThere)
        };
        match &on_the_way {
            None => resolved.begin(app, &address, life, has_password, &content),
            Some(target) if is_conditional && hops <= MOST_HOPS => {
                if let Some(next) = next_target(&content, widget) {
                    return if is_too_long(app, next, hops, &mut resolved.depends_on).await? {
                        not_there(resolved, Missing::Loop)
                    } else {
                        Ok(Resolution::Redirect(target.clone()))
                    };
                }
            }
            Some(_) => {}
        }
        let recorded = analytics_enabled.then_some(RecordedLink { id, account });
        let target = match (content, widget) {
            (PublishedContent::Suspended, _) => return not_there(resolved, Missing::Suspended),
            (PublishedContent::Inactive, _) => return not_there(resolved, Missing::Inactive),
            (PublishedContent::Landing(_) | PublishedContent::Redirect(_), _) if hops > MOST_HOPS => {
                return not_there(resolved, Missing::Loop);
            }
            (PublishedContent::Landing(page), Some(id)) => match target_of_widget(&page.content, id) {
                Some(target) => {
                    resolved.sending.follow(hops, &Way::default());
                    target
                }
                None => return Ok(Resolution::NotThere),
            },
            // Only landing pages have widgets.
            (PublishedContent::Redirect(_), Some(_)) => return Ok(Resolution::NotThere),
            (PublishedContent::Landing(page), None) => {
                return Ok(match url_of(app, &address) {
                    Some(url) if hops == 0 => {
                        resolved.recorded.extend(recorded);
                        Resolution::Landing { page, url }
                    }
                    // A page is shown only at its own address, so the visitor is redirected to it.
                    Some(mut url) => {
                        let location = on_the_way.as_ref().map(TargetUrl::location).unwrap_or_default();
                        url.push_str(behind_path(&location));
                        Resolution::LandingElsewhere { url }
                    }
                    None => Resolution::NotThere,
                });
            }
            (PublishedContent::Redirect(redirect), None) => {
                let PublishedRedirect {
                    target_url,
                    antibot_enabled,
                    geo_blocklist,
                    pixels,
                    way,
                    click_limit: _,
                    rules,
                    preview: _,
                } = redirect;
                resolved.recorded.extend(recorded);
                resolved.gates.add(antibot_enabled, &geo_blocklist, pixels);
                resolved.sending.follow(hops, &way);
                let target = target_url.with_utm(&way.utm);
                if hops == 0 && !rules.is_empty() {
                    return lead_by_rules(app, rules.with_utm(&way.utm), target, resolved).await;
                }
                match &on_the_way {
                    Some(before) if way.forward_query => target.forwarding(query_of(&before.location())),
                    Some(_) | None => target,
                }
            }
        };
        resolved.target_hosts.push(target.host().to_owned());
        match OwnPlace::of(&app.system, &target) {
            Some(next) => OwnPlace { address, widget } = next,
            None => return Ok(Resolution::Redirect(target)),
        }
        on_the_way = Some(target);
        hops += 1;
    }
}

/// Where the link at the address itself leads that has rules: to its own target, unless a rule holds. The chain behind that target has
/// gates of its own, which do not count for visitors of another target, so nothing is followed. A chain that returns to the link leads
/// nowhere, as without rules.
async fn lead_by_rules(
    app: &Application,
    rules: Rules,
    target: TargetUrl,
    resolved: &mut Resolved,
) -> Result<Resolution, StoreError> {
    let hosts = std::iter::once(&target).chain(rules.targets()).map(|target| target.host().to_owned());
    resolved.target_hosts.extend(hosts);
    resolved.target_hosts.dedup();
    resolved.rules = rules;
    if is_too_long(app, target.clone(), 0, &mut resolved.depends_on).await? {
        resolved.missing = Missing::Loop;
        return Ok(Resolution::NotThere);
    }
    Ok(Resolution::Redirect(target))
}

/// Whether a chain is too long that continues at `target` after so many redirects.
async fn is_too_long(
    app: &Application,
    mut target: TargetUrl,
    mut hops: u32,
    depends_on: &mut Dependencies,
) -> Result<bool, StoreError> {
    while let Some(OwnPlace { address, widget }) = OwnPlace::of(&app.system, &target) {
        hops += 1;
        depends_on.addresses.push(address.clone());
        let Some(link) = app.store.published_link(&address).await? else { return Ok(false) };
        depends_on.add_account(link.account);
        match next_target(&link.content, widget) {
            Some(_) if hops > MOST_HOPS => return Ok(true),
            Some(next) => target = next,
            None => return Ok(false),
        }
    }
    Ok(false)
}

impl Dependencies {
    fn add_account(&mut self, account: AccountId) {
        if !self.accounts.contains(&account) {
            self.accounts.push(account);
        }
    }
}

impl Sending {
    /// Adds what the next link on the way does, after so many others.
    fn follow(&mut self, hops: u32, way: &Way) {
        let Way { redirect_status, forward_query, utm: _ } = way;
        if hops == 0 {
            *self = Self { status: *redirect_status, forwards_query: *forward_query };
            return;
        }
        if !redirect_status.is_permanent() {
            self.status = self.status.temporary();
        }
        self.forwards_query &= forward_query;
    }
}

impl VisitorGates {
    /// Adds the gates of another link in the chain.
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

/// The public URL of an address, as the API shows it. `None` for the root of the system domain.
#[must_use]
pub fn url_of(app: &Application, address: &Address) -> Option<String> {
    let Address { site, slug } = address;
    match site {
        Site::System => slug.as_ref().map(|slug| app.system.url_of(slug)),
        Site::Custom(hostname) => Some(app.custom_domain_scheme.url_of(hostname, slug.as_ref())),
    }
}
