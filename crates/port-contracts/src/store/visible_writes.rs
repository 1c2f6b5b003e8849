//! Every kind of write that visitors can see is in the change log, which caches of published links depend on (D58).

use std::collections::BTreeMap;

use signpost_app::ports::{Affected, LinksOf, PublishedLink, VisibleChange};
use signpost_domain::{
    AccountId, Address, CountryCode, CustomDomain, CustomDomainStatus, GeoBlocklist, Landing, Life, Link,
    PageContent, PixelId, Placement, Redirect, RedirectStatus, Schedule, Site, TargetUrl, Way,
};

use super::domain_steps::{ACTIVE, NO_CHECKS};
use super::fixture::{Fresh, StoreUnderTest};
use super::given::{self, PLENTY, unit};
use super::{domain_steps, stored};
use crate::samples;

cases! {
    $ visible_writes
    d58_every_write_that_visitors_see_is_logged
}

const HOST: &str = "links.example.net";

type Seen = BTreeMap<Address, PublishedLink>;

/// A store with links at a few addresses.
struct Scene {
    store: StoreUnderTest,
    placements: Vec<Placement>,
}

impl Scene {
    async fn seen(&self) -> Seen {
        let mut seen = Seen::new();
        for placement in &self.placements {
            let found = stored::published(&self.store, placement).await;
            seen.extend(placement.address().zip(found));
        }
        seen
    }

    /// Checks that `changes` covers each address whose link has changed, for the account that owns or owned the link.
    async fn are_logged(&self, write: &str, before: Seen, changes: &[VisibleChange]) {
        let after = self.seen().await;
        let addresses = self.placements.iter().filter_map(Placement::address);
        let mut differing = 0;
        for address in addresses.filter(|address| before.get(address) != after.get(address)) {
            for link in [before.get(&address), after.get(&address)].into_iter().flatten() {
                let is_logged = changes.iter().any(|change| covers(change, link.account, &address));
                assert!(is_logged, "{write}: {address:?} is not covered by {changes:?}");
            }
            differing += 1;
        }
        assert!(differing > 0, "{write} changes nothing");
    }
}

fn covers(change: &VisibleChange, account: AccountId, address: &Address) -> bool {
    change.account == account
        && match &change.affected {
            Affected::Account => true,
            Affected::Domain(hostname) => address.site == Site::Custom(hostname.clone()),
            Affected::Addresses(addresses) => addresses.contains(address),
        }
}

/// Runs a write in a unit of work, and compares its visible effects with the logged changes.
macro_rules! is_logged {
    ($scene:ident, $write:expr, async |$work:ident| $steps:expr) => {{
        let before = $scene.seen().await;
        let changes = unit!(&$scene.store, async |$work| {
            $steps;
            Ok($work.changes())
        });
        $scene.are_logged($write, before, &changes.await.unwrap()).await;
    }};
}

pub(super) async fn d58_every_write_that_visitors_see_is_logged(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let [on_system, page_place, new, moved] = ["link", "page", "new", "moved"].map(samples::on_system);
    let [on_host, at_root] = [Some("slug"), None].map(|slug| samples::on_custom(HOST, slug));
    let placements =
        vec![on_system.clone(), page_place.clone(), new.clone(), moved.clone(), on_host, at_root];
    let scene = Scene { store, placements };
    let Scene { store, placements } = &scene;
    let pixel = given::pixel(store, account).await;
    let redirect = given::link(store, account, samples::redirect_at(on_system)).await;
    let page = given::link(store, account, samples::landing_at(page_place)).await;
    let host_links = [samples::landing_at(placements[4].clone()), samples::landing_at(placements[5].clone())];
    given::links(store, account, &host_links).await;
    let domain = samples::custom_domain(account, HOST);
    domain_steps::insert(store, &domain, PLENTY).await.unwrap();

    let added = samples::redirect_at(new).into_any();
    is_logged!(scene, "inserting", async |work| given::insert(work, account, &added, PLENTY).await?);
    is_logged!(scene, "deleting links", async |work| work.delete_links(account, &[added.id()]).await?);
    changes_of_links(&scene, account, &redirect, &page, pixel.id).await;
    is_logged!(scene, "deleting a pixel", async |work| assert!(work.delete_pixel(account, pixel.id).await?));
    for content in [samples::page_content(), PageContent::default()] {
        is_logged!(scene, "changing page content", async |work| {
            work.lock_link(account, page.id.into()).await?;
            work.write_page_content(account, page.id, &content).await?;
        });
    }
    for since in [Some(samples::at(0)), None] {
        is_logged!(scene, "suspending and resuming", async |work| work.set_suspended(account, since).await?);
    }
    for status in [ACTIVE, CustomDomainStatus::Failed, ACTIVE] {
        let after = CustomDomain { status, ..domain.clone() };
        is_logged!(scene, "another status", async |work| {
            work.lock_custom_domain(account, domain.id).await?;
            work.update_custom_domain(&after, NO_CHECKS).await?;
        });
    }
    let (whose, now) = (LinksOf::Account(account), samples::at(9));
    is_logged!(scene, "losing links", async |work| {
        assert_eq!(work.lose_some_links(whose, &domain.hostname, 1, now).await?, 1);
    });
    is_logged!(scene, "deleting a domain", async |work| {
        assert!(work.delete_custom_domain(account, domain.id).await?);
    });
    // Delete the lost links, so that the next two writes delete links that visitors see.
    given::delete_links(store, account, &host_links.map(|link| link.id.into())).await;
    is_logged!(scene, "deleting some links", async |work| work.delete_some_links(account, 1).await?);
    is_logged!(scene, "deleting the account", async |work| assert!(work.delete_account(account).await?));
}

/// Updates of every field that visitors can see, one after the other.
async fn changes_of_links(
    scene: &Scene,
    account: AccountId,
    redirect: &Redirect,
    page: &Landing,
    pixel: PixelId,
) {
    let target_url: TargetUrl = samples::target("https://example.org/elsewhere");
    let blocklist = GeoBlocklist::new(vec![CountryCode::parse("DE").unwrap()]);
    let moved = scene.placements[3].clone();
    let life = |starts_at, expires_at| Life {
        schedule: Schedule::new(starts_at, expires_at).unwrap(),
        fallback_url: None,
    };
    let fallback_url = Some(samples::target("https://example.org/over"));
    let way = Way { redirect_status: RedirectStatus::TemporaryRedirect, ..Way::default() };
    let rules = samples::rules(r#"[{"conditions": [], "target_url": "https://example.org/ruled"}]"#);
    let preview = samples::preview("Sale", None, None);
    let updates: [(&str, Link); 15] = [
        ("target_url", redirect.clone().with(|content| content.target_url = target_url).into()),
        ("antibot_enabled", redirect.clone().with(|content| content.antibot_enabled = true).into()),
        ("geo_blocklist", redirect.clone().with(|content| content.geo_blocklist = blocklist).into()),
        ("analytics_enabled", Redirect { analytics_enabled: false, ..redirect.clone() }.into()),
        ("starts_at", Redirect { life: life(Some(samples::at(1)), None), ..redirect.clone() }.into()),
        ("expires_at", Landing { life: life(None, Some(samples::at(1))), ..page.clone() }.into()),
        (
            "fallback_url",
            Redirect { life: Life { fallback_url, ..Life::default() }, ..redirect.clone() }.into(),
        ),
        ("way", redirect.clone().with(|content| content.way = way).into()),
        ("rules", redirect.clone().with(|content| content.rules = rules).into()),
        ("preview", redirect.clone().with(|content| content.preview = Some(preview)).into()),
        ("is_active", Redirect { is_active: false, ..redirect.clone() }.into()),
        ("placement", Redirect { placement: moved, ..redirect.clone() }.into()),
        ("the way back", redirect.clone().into()),
        ("title", Landing { name: samples::name("Another title"), ..page.clone() }.into()),
        (
            "pixels",
            redirect.clone().with(|content| content.pixel_ids = samples::pixel_ids(vec![pixel])).into(),
        ),
    ];
    for (field, after) in &updates {
        is_logged!(scene, field, async |work| {
            let before = work.lock_link(account, after.id()).await?.unwrap();
            work.update_link(account, &before, after).await?;
        });
    }
}
