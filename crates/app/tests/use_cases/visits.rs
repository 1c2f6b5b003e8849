//! From a public address to where it leads (D24, D44, D54).

use signpost_app::accounts;
use signpost_app::idempotency::Idempotency;
use signpost_app::links::{self, ListLinks};
use signpost_app::visits::{Resolution, Resolved, address_of, resolve};
use signpost_domain::{
    Change, CountryCode, GeoBlocklist, LandingRequest, PageContent, Redirect, RedirectContent,
    RedirectRequest, Submitted,
};
use signpost_memory::{Fault, Step};
use signpost_port_contracts::samples;

use crate::world::{World, list_redirects, with_alias};

async fn visit(world: &World, host: &str, slug: Option<&str>) -> Resolution {
    world.resolved(host, slug).await.resolution
}

async fn visit_slug(world: &World, slug: &str) -> Resolution {
    visit(world, "go.example.com", Some(slug)).await
}

fn leads_to(target: &str) -> Resolution {
    Resolution::Redirect(samples::target(target))
}

const END: &str = "https://target.example/end?q=ü";

/// Links `1` to `length`, each pointing at the next, the last at [`END`].
async fn chain(world: &World, length: u32) {
    for number in 1..length {
        world.redirect_to(&number.to_string(), &format!("https://go.example.com/{}", number + 1)).await;
    }
    world.redirect_to(&length.to_string(), END).await;
}

fn patch(change: impl FnOnce(&mut RedirectRequest)) -> RedirectRequest {
    let mut patch = RedirectRequest::default();
    change(&mut patch);
    patch
}

#[tokio::test]
async fn an_address_leads_to_its_links_target_at_every_name_of_the_system_domain() {
    let world = World::on(with_alias("old.example.com"), "agency").await;
    world.redirect_to("Sale", END).await;
    for host in ["go.example.com", "GO.Example.COM", "go.example.com.", "old.example.com"] {
        assert_eq!(visit(&world, host, Some("Sale")).await, leads_to(END), "{host}");
    }
    for (host, slug) in [
        ("go.example.com", Some("sale")),
        ("go.example.com", Some("unknown")),
        ("go.example.com", None),
        ("example.com", Some("Sale")),
        ("www.go.example.com", Some("Sale")),
        ("localhost", Some("Sale")),
    ] {
        assert_eq!(visit(&world, host, slug).await, Resolution::NotThere, "{host} {slug:?}");
    }
}

/// D24: a target on another of our own addresses is followed, at most five deep.
#[tokio::test]
async fn d24_chains_of_own_addresses_are_followed_five_deep() {
    for length in 1..=6 {
        let world = World::new().await;
        chain(&world, length).await;
        assert_eq!(visit_slug(&world, "1").await, leads_to(END), "{} hops", length - 1);
    }
    let world = World::new().await;
    chain(&world, 7).await;
    assert_eq!(visit_slug(&world, "1").await, Resolution::NotThere, "six hops");
    assert_eq!(visit_slug(&world, "2").await, leads_to(END));
}

/// R32: loops of any length, made by later edits, lead nowhere, from wherever one enters them.
#[tokio::test]
async fn d24_loops_lead_nowhere() {
    for length in 2..=6 {
        let world = World::new().await;
        chain(&world, length).await;
        let caller = world.caller().await;
        let all = list_redirects(&world.app, &caller, ListLinks::default()).await.unwrap();
        let back =
            patch(|patch| patch.content.target_url = Some(samples::target("http://go.example.com/1/")));
        world.update(all.items[0].id, back).await.unwrap();
        for entry in 1..=length {
            assert_eq!(visit_slug(&world, &entry.to_string()).await, Resolution::NotThere);
        }
    }
    // One that points at itself cannot be made, but might be there from before an alias was set.
    let world = World::on(with_alias("old.example.com"), "agency").await;
    let target_url = samples::target("https://old.example.com/self");
    world.store_as_it_is(samples::redirect("self").with(|content| content.target_url = target_url)).await;
    assert_eq!(visit_slug(&world, "self").await, Resolution::NotThere);
}

/// Whatever spelling the own address has: case and trailing dot of the host, port, trailing slash, escapes,
/// alias.
#[tokio::test]
async fn d24_own_addresses_are_recognised_in_every_spelling() {
    let world = World::on(with_alias("old.example.com"), "agency").await;
    world.redirect_to("end", END).await;
    let spellings = [
        "https://go.example.com/end",
        "http://go.example.com/end",
        "https://GO.EXAMPLE.COM./end/",
        "https://go.example.com:443/end?from=mail#top",
        "http://go.example.com:80/%65nd",
        "https://old.example.com/end",
    ];
    for (number, spelling) in spellings.into_iter().enumerate() {
        let slug = format!("s{number}");
        world.redirect_to(&slug, spelling).await;
        assert_eq!(visit_slug(&world, &slug).await, leads_to(END), "{spelling}");
    }
    // Other ports, hosts and paths are other addresses, and visitors are sent there.
    let others = [
        "https://go.example.com:8443/end",
        "https://sub.go.example.com/end",
        "https://go.example.com/end/more",
        "https://example.com/?u=https://go.example.com/end",
    ];
    for (number, other) in others.into_iter().enumerate() {
        let slug = format!("o{number}");
        world.redirect_to(&slug, other).await;
        assert_eq!(visit_slug(&world, &slug).await, leads_to(other));
    }
}

/// Inactive, suspended, gone: at the address itself or further down, a visitor sees
/// one and the same thing.
#[tokio::test]
async fn d54_a_link_that_must_not_be_followed_is_not_there() {
    for position in ["1", "2", "3"] {
        let world = World::new().await;
        chain(&world, 3).await;
        let caller = world.caller().await;
        let all = list_redirects(&world.app, &caller, ListLinks::default()).await.unwrap();
        let placement = samples::on_system(position);
        let link = all.items.into_iter().find(|link| link.placement == placement).unwrap();
        for (is_active, expected) in [(false, Resolution::NotThere), (true, leads_to(END))] {
            world.update(link.id, patch(|patch| patch.is_active = Some(is_active))).await.unwrap();
            assert_eq!(visit_slug(&world, "1").await, expected);
        }
        links::delete(&world.app, &caller, link.id.into()).await.unwrap();
        let expected = Resolution::NotThere;
        assert_eq!(visit_slug(&world, "1").await, expected);
    }
}

#[tokio::test]
async fn d54_links_of_a_suspended_account_are_not_there() {
    let world = World::new().await;
    chain(&world, 2).await;
    let stranger = world.stranger().await;
    let theirs = crate::world::draft("theirs")
        .with(|content| content.target_url = Some(samples::target("https://go.example.com/1")));
    links::create::<RedirectContent>(
        &world.app,
        &stranger,
        Submitted::valid(theirs),
        Idempotency::disabled(),
    )
    .await
    .unwrap();
    assert_eq!(visit_slug(&world, "theirs").await, leads_to(END));
    accounts::suspend(&world.app, world.account.id).await.unwrap();
    for slug in ["1", "2", "theirs"] {
        assert_eq!(visit_slug(&world, slug).await, Resolution::NotThere);
    }
    accounts::resume(&world.app, world.account.id).await.unwrap();
    assert_eq!(visit_slug(&world, "theirs").await, leads_to(END));
}

/// The list of hosts is asked at each visit, so it must be told every host on the way.
#[tokio::test]
async fn d24_all_target_hosts_on_the_way_are_named() {
    let world = World::new().await;
    chain(&world, 3).await;
    let Resolved { target_hosts, .. } = world.resolved("go.example.com", Some("1")).await;
    assert_eq!(target_hosts, ["go.example.com", "go.example.com", "target.example"]);
    let Resolved { target_hosts, .. } = world.resolved("go.example.com", Some("3")).await;
    assert_eq!(target_hosts, ["target.example"]);
}

/// A change holds for the visit that follows it (D58).
#[tokio::test]
async fn d58_changes_hold_at_once() {
    let world = World::new().await;
    let link = world.redirect_to("old", END).await;
    let target = patch(|patch| patch.content.target_url = Some(samples::target("https://example.org/")));
    world.update(link.id, target).await.unwrap();
    assert_eq!(visit_slug(&world, "old").await, leads_to("https://example.org/"));
    world.update(link.id, patch(|patch| patch.slug = Change::Set(samples::slug("new")))).await.unwrap();
    assert_eq!(visit_slug(&world, "old").await, Resolution::NotThere);
    assert_eq!(visit_slug(&world, "new").await, leads_to("https://example.org/"));
    links::delete(&world.app, &world.caller().await, link.id.into()).await.unwrap();
    assert_eq!(visit_slug(&world, "new").await, Resolution::NotThere);
}

/// Only active custom domains resolve links, and here no account has one; a lost link has no address.
#[tokio::test]
async fn d44_links_on_custom_domains_and_lost_links_are_not_there() {
    let world = World::new().await;
    for placement in [
        samples::on_custom("links.example.net", Some("sale")),
        samples::on_custom("links.example.net", None),
        samples::lost(Some("sale")),
    ] {
        world.store_as_it_is(samples::redirect_at(placement)).await;
    }
    for host in ["links.example.net", "go.example.com"] {
        for slug in [Some("sale"), None] {
            assert_eq!(visit(&world, host, slug).await, Resolution::NotThere, "{host} {slug:?}");
        }
    }
}

/// A store that cannot answer is not the same as "nothing there" (D58).
#[tokio::test]
async fn d58_a_store_that_breaks_is_reported() {
    let world = World::new().await;
    chain(&world, 2).await;
    for fault in [Fault::Unavailable, Fault::Corrupt] {
        world.memory.store.faults().fail_next(Step::Read, fault, 1);
        let address = address_of(&world.app, samples::hostname("go.example.com"), Some(samples::slug("1")));
        let outcome = resolve(&world.app, address).await;
        assert!(outcome.is_err(), "{outcome:?}");
    }
    assert_eq!(visit_slug(&world, "1").await, leads_to(END));
}

/// Contract D24: whoever is led from one of our addresses to a landing page is sent to the page's own address, where it
/// is shown; an inactive one is not there for either.
#[tokio::test]
async fn d24_a_landing_page_ends_a_chain() {
    let world = World::new().await;
    let caller = world.caller().await;
    let draft = LandingRequest {
        slug: Change::Set(samples::slug("menu")),
        ..LandingRequest::new(samples::name("Menu"))
    };
    let landing =
        links::create::<PageContent>(&world.app, &caller, Submitted::valid(draft), Idempotency::disabled())
            .await
            .unwrap();
    let address = "https://go.example.com/menu";
    world.redirect_to("a", "https://go.example.com/b").await;
    world.redirect_to("b", address).await;
    assert!(matches!(
        visit_slug(&world, "menu").await,
        Resolution::Landing { page, url } if page.title == samples::name("Menu") && url == address
    ));
    for slug in ["a", "b"] {
        let elsewhere = Resolution::LandingElsewhere { url: address.to_owned() };
        assert_eq!(visit_slug(&world, slug).await, elsewhere);
    }
    let patch = LandingRequest { is_active: Some(false), ..LandingRequest::default() };
    links::update::<PageContent>(&world.app, &caller, landing.id.into(), Submitted::valid(patch))
        .await
        .unwrap();
    for slug in ["menu", "a", "b"] {
        assert_eq!(visit_slug(&world, slug).await, Resolution::NotThere, "{slug}");
    }
}

/// Contract D24, D50, D55 to D57: a chain asks of its visitors what any of its links asks, is a click of each that records
/// clicks, and rests on each.
#[tokio::test]
async fn d24_a_chain_has_the_gates_clicks_and_dependencies_of_all_its_links() {
    let world = World::new().await;
    let countries = |codes: &[&str]| {
        let codes = codes.iter().map(|code| CountryCode::parse(code).unwrap());
        GeoBlocklist::new(codes.collect())
    };
    let to = |slug: &str, target: &str| {
        samples::redirect(slug).with(|content| content.target_url = samples::target(target))
    };
    let first =
        to("a", "https://go.example.com/b").with(|content| content.geo_blocklist = countries(&["DE", "AT"]));
    let silent = Redirect { analytics_enabled: false, ..to("b", "https://go.example.com/c") }
        .with(|content| content.antibot_enabled = true);
    let last = to("c", END).with(|content| content.geo_blocklist = countries(&["AT", "FR"]));
    for redirect in [&first, &silent, &last] {
        world.store_as_it_is(redirect.clone()).await;
    }
    let address = |slug: &str| samples::on_system(slug).address().unwrap();
    let resolved = resolve(&world.app, address("a")).await.unwrap();
    assert_eq!(resolved.resolution, leads_to(END));
    assert!(resolved.gates.antibot_enabled);
    assert_eq!(resolved.gates.geo_blocklist, countries(&["DE", "AT", "FR"]));
    let recorded: Vec<_> = resolved.recorded.iter().map(|link| (link.id, link.account)).collect();
    assert_eq!(recorded, [&first, &last].map(|link| (link.id.into(), world.account.id)));
    // The end has the shape of an address on a custom domain, so a link may come to be there (ADR 25).
    let end = samples::on_custom("target.example", Some("end")).address().unwrap();
    assert_eq!(resolved.depends_on.addresses, [address("a"), address("b"), address("c"), end]);
    assert_eq!(resolved.depends_on.accounts, [world.account.id]);
    assert_eq!(resolved.target_hosts, ["go.example.com", "go.example.com", "target.example"]);
}
