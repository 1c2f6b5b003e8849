//! Reads what is stored, through the read methods of the port.

use std::sync::Arc;

use signpost_app::ports::{PublishedContent, PublishedLanding, PublishedLink, PublishedRedirect, Store};
use signpost_domain::{
    AccountId, AnyContent, Content, CustomDomain, DomainId, Group, GroupId, Landing, LandingId, Life, Link,
    LinkFilter, LinkId, LinkKind, NoContent, Page, PageContent, PagePosition, Pixel, PixelCode, Placement,
    PlanResource, Redirect, RedirectId,
};

use super::given::{self, KINDS};
use super::resources::ResourceKind;

pub(super) async fn link(store: &Arc<dyn Store>, account: AccountId, id: impl Into<LinkId>) -> Option<Link> {
    let id = id.into();
    let link = store.link(account, id).await.unwrap();
    assert!(link.as_ref().is_none_or(|link| link.id() == id), "{id} is not the id of {link:?}");
    link
}

pub(super) async fn redirect(store: &Arc<dyn Store>, account: AccountId, id: RedirectId) -> Option<Redirect> {
    link(store, account, id).await.map(|link| link.into_redirect().expect("a redirect"))
}

pub(super) async fn landing(store: &Arc<dyn Store>, account: AccountId, id: LandingId) -> Option<Landing> {
    link(store, account, id).await.map(|link| link.into_landing().expect("a landing page"))
}

/// One page of a list. All its links must be of the kind.
pub(super) async fn page(
    store: &Arc<dyn Store>,
    account: AccountId,
    kind: LinkKind,
    filter: &LinkFilter,
    items: u64,
    after: Option<PagePosition>,
) -> Page<Link> {
    let page = store.links(account, kind, filter, given::limit(items), after).await.unwrap();
    assert!(page.items.iter().all(|link| link.kind() == kind), "not every link is a {kind:?}: {page:?}");
    page
}

/// The first page of 100 links without a filter.
pub(super) async fn first_page(store: &Arc<dyn Store>, account: AccountId, kind: LinkKind) -> Page<Link> {
    page(store, account, kind, &LinkFilter::default(), 100, None).await
}

/// All links of a filtered list, read in pages of `items` items.
pub(super) async fn list(
    store: &Arc<dyn Store>,
    account: AccountId,
    kind: LinkKind,
    filter: &LinkFilter,
    items: u64,
) -> Vec<Link> {
    given::walk(async |after| page(store, account, kind, filter, items, after).await).await.0
}

/// All of an account's links by id, lowest first, landing pages before redirects.
pub(super) async fn links(store: &Arc<dyn Store>, account: AccountId) -> Vec<Link> {
    let mut links = Vec::new();
    for kind in KINDS {
        let mut of_kind = list(store, account, kind, &LinkFilter::default(), 100).await;
        of_kind.reverse();
        links.extend(of_kind);
    }
    links
}

/// All of an account's groups by id, lowest first.
pub(super) async fn groups(store: &Arc<dyn Store>, account: AccountId) -> Vec<Group> {
    let page = async |after| store.groups(account, given::limit(100), after).await.unwrap();
    let mut groups = given::walk(page).await.0;
    groups.reverse();
    groups
}

/// All of an account's pixels by id, lowest first.
pub(super) async fn pixels(store: &Arc<dyn Store>, account: AccountId) -> Vec<Pixel> {
    let page = async |after| store.pixels(account, given::limit(100), after).await.unwrap();
    let mut pixels = given::walk(page).await.0;
    pixels.reverse();
    pixels
}

/// All of an account's custom domains by id, lowest first.
pub(super) async fn custom_domains(store: &Arc<dyn Store>, account: AccountId) -> Vec<CustomDomain> {
    let mut domains = given::walk(async |after| page_of_domains(store, account, 100, after).await).await.0;
    domains.reverse();
    domains
}

/// One page of an account's custom domains, without the plans of their checks.
pub(super) async fn page_of_domains(
    store: &Arc<dyn Store>,
    account: AccountId,
    items: u64,
    after: Option<PagePosition>,
) -> Page<CustomDomain> {
    let page = store.custom_domains(account, given::limit(items), after).await.unwrap();
    page.map(|found| found.domain)
}

/// An account's custom domain, without the plan of its checks.
pub(super) async fn custom_domain(
    store: &Arc<dyn Store>,
    account: AccountId,
    id: DomainId,
) -> Option<CustomDomain> {
    store.custom_domain(account, id).await.unwrap().map(|found| found.domain)
}

pub(super) async fn custom_domains_count(store: &Arc<dyn Store>, account: AccountId) -> u64 {
    store.usage(account).await.unwrap().unwrap().domains
}

/// The content of a landing page. The page read with it must equal the page read alone.
pub(super) async fn page_content(
    store: &Arc<dyn Store>,
    account: AccountId,
    id: LandingId,
) -> Option<PageContent> {
    let alone = landing(store, account, id).await;
    let (landing, content) = store
        .landing_page(account, id)
        .await
        .unwrap()
        .map(|page| (page.clone().with_content(NoContent), page.content))
        .unzip();
    assert_eq!(landing, alone);
    content
}

pub(super) async fn links_count(store: &Arc<dyn Store>, account: AccountId) -> u64 {
    store.usage(account).await.unwrap().unwrap().links
}

/// The counters of a group: landing pages and redirects.
pub(super) async fn group_counts(store: &Arc<dyn Store>, account: AccountId, group: GroupId) -> [u64; 2] {
    let group = store.group(account, group).await.unwrap().unwrap();
    [group.landings_count, group.redirects_count]
}

/// Checks that every counter equals a new count.
pub(super) async fn counters_are_right(store: &Arc<dyn Store>, account: AccountId) {
    let (links, groups) = (links(store, account).await, groups(store, account).await);
    let usage = store.usage(account).await.unwrap().unwrap();
    assert_eq!(usize::try_from(usage.links).unwrap(), links.len());
    let page = async |after| store.tags(account, given::limit(100), after).await.unwrap();
    assert_eq!(usize::try_from(usage.tags).unwrap(), given::walk(page).await.0.len());
    let is_counted_here =
        |counter: &PlanResource| matches!(counter, PlanResource::Links | PlanResource::Tags);
    for counter in PlanResource::ALL.into_iter().filter(|counter| !is_counted_here(counter)) {
        let kind = ResourceKind::ALL.into_iter().find(|kind| kind.counter() == counter);
        let stored = kind.expect("a kind for each counter").list(store.as_ref(), account).await;
        assert_eq!(usize::try_from(usage.of(counter)).unwrap(), stored.len(), "{counter:?}");
    }
    for group in groups {
        let inside = KINDS.map(|kind| {
            let inside = links.iter().filter(|link| link.kind() == kind && link.group_id == Some(group.id));
            u64::try_from(inside.count()).unwrap()
        });
        assert_eq!([group.landings_count, group.redirects_count], inside, "{group:?}");
    }
}

/// The published link at the address of a placement, which must have one.
pub(super) async fn published(store: &Arc<dyn Store>, placement: &Placement) -> Option<PublishedLink> {
    store.published_link(&placement.address().expect("a placement with an address")).await.unwrap()
}

/// The expected published link for the account's link, without page content and pixels.
pub(super) fn publication_of(account: AccountId, link: &Link) -> PublishedLink {
    let content = match &link.content {
        AnyContent::Landing => {
            let page = PublishedLanding { title: link.name.clone(), content: PageContent::default() };
            PublishedContent::Landing(Box::new(page))
        }
        AnyContent::Redirect(redirect) => PublishedContent::Redirect(PublishedRedirect {
            target_url: redirect.target_url.clone(),
            antibot_enabled: redirect.antibot_enabled,
            geo_blocklist: redirect.geo_blocklist.clone(),
            pixels: Vec::new(),
            way: redirect.way.clone(),
            click_limit: redirect.click_limit,
            rules: redirect.rules.clone(),
            preview: redirect.preview.clone(),
        }),
    };
    let (life, has_password, content) = if link.is_active {
        (link.life.clone(), link.has_password, content)
    } else {
        (Life::default(), false, PublishedContent::Inactive)
    };
    let analytics_enabled = link.analytics_enabled;
    PublishedLink { id: link.id(), account, analytics_enabled, life, has_password, content }
}

/// The expected published link for the account's landing page with this content.
pub(super) fn publication_of_page<C: Content>(
    account: AccountId,
    page: &Link<C>,
    content: &PageContent,
) -> PublishedLink {
    let mut published = publication_of(account, &page.clone().into_any());
    if let PublishedContent::Landing(page) = &mut published.content {
        page.content = content.clone();
    }
    published
}

/// The expected published link for the account's redirect with these pixel codes.
pub(super) fn publication_with_pixels<C: Content>(
    account: AccountId,
    redirect: &Link<C>,
    codes: impl IntoIterator<Item = PixelCode>,
) -> PublishedLink {
    let mut published = publication_of(account, &redirect.clone().into_any());
    if let PublishedContent::Redirect(to) = &mut published.content {
        to.pixels.extend(codes);
    }
    published
}
