//! From a public address to where it leads (D24, D44, D54).

use signpost_app::links::{self, ListLinks};
use signpost_app::visits::{Missing, Resolution, address_of, resolve};
use signpost_app::{Operator, accounts};
use signpost_domain::{
    CountryCode, GeoBlocklist, Landing, LandingRequest, Life, Link, PageContent, Precondition, Redirect,
    RedirectRequest, Schedule, WidgetContent, WidgetId,
};
use signpost_memory::{Fault, Step};
use signpost_port_contracts::samples;

use crate::world::{World, create_as, list_redirects, page_draft, with_alias};

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

#[tokio::test]
async fn r47_every_system_hostname_leads_to_the_target() {
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

/// No use case creates such a link, but an alias of the system domain may be newer than the link.
#[tokio::test]
async fn d24_a_link_to_its_own_address_leads_nowhere() {
    let world = World::on(with_alias("old.example.com"), "agency").await;
    let target_url = samples::target("https://old.example.com/self");
    world.store_as_it_is(samples::redirect("self").with(|content| content.target_url = target_url)).await;
    assert_eq!(visit_slug(&world, "self").await, Resolution::NotThere);
}

/// Inactive and deleted links look the same at any position of the chain.
#[tokio::test]
async fn d54_an_unavailable_link_breaks_its_chain() {
    for position in ["1", "2", "3"] {
        let world = World::new().await;
        chain(&world, 3).await;
        let caller = world.caller().await;
        let all = list_redirects(&world.app, &caller, ListLinks::default()).await.unwrap();
        let placement = samples::on_system(position);
        let link = all.items.into_iter().find(|link| link.placement == placement).unwrap();
        for (is_active, expected) in [(false, Resolution::NotThere), (true, leads_to(END))] {
            let patch = RedirectRequest { is_active: Some(is_active), ..RedirectRequest::default() };
            world.update(link.id, patch).await.unwrap();
            assert_eq!(visit_slug(&world, "1").await, expected);
        }
        links::delete(&world.app, &caller, link.id.into(), &Precondition::None).await.unwrap();
        let expected = Resolution::NotThere;
        assert_eq!(visit_slug(&world, "1").await, expected);
    }
}

#[tokio::test]
async fn d54_links_of_a_suspended_account_are_not_found() {
    let world = World::new().await;
    chain(&world, 2).await;
    let stranger = world.stranger().await;
    let theirs = crate::world::draft("theirs")
        .with(|content| content.target_url = Some(samples::target("https://go.example.com/1")));
    create_as(&world.app, &stranger, theirs).await.unwrap();
    assert_eq!(visit_slug(&world, "theirs").await, leads_to(END));
    accounts::suspend(&world.app, &Operator::COMMAND, world.account.id).await.unwrap();
    for slug in ["1", "2", "theirs"] {
        assert_eq!(visit_slug(&world, slug).await, Resolution::NotThere);
    }
    accounts::resume(&world.app, &Operator::COMMAND, world.account.id).await.unwrap();
    assert_eq!(visit_slug(&world, "theirs").await, leads_to(END));
}

/// An outage is not a missing link.
#[tokio::test]
async fn d58_a_failing_store_is_reported() {
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

/// The visitor is sent to the page's own address. An inactive page is not found.
#[tokio::test]
async fn d24_a_landing_page_ends_a_chain() {
    let world = World::new().await;
    let landing = world.create_page(page_draft("menu")).await.unwrap();
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
    world.update_page(landing.id, patch).await.unwrap();
    for slug in ["menu", "a", "b"] {
        assert_eq!(visit_slug(&world, slug).await, Resolution::NotThere, "{slug}");
    }
}

/// Requests refuse such targets, but a link may be older than the rule.
#[tokio::test]
async fn d24_a_target_at_a_widget_is_followed_to_the_widgets_target() {
    let world = World::new().await;
    let redirect = |slug: &str, widget: u128| {
        let id = WidgetId::from_bytes(widget.to_be_bytes());
        let target = samples::target(&format!("https://go.example.com/menu/w/{id}"));
        samples::redirect(slug).with(|content| content.target_url = target)
    };
    for (slug, widget) in [("loop", 1), ("end", 2), ("heading", 3), ("none", 9)] {
        world.store_as_it_is(redirect(slug, widget)).await;
    }
    let page = world.create_page(page_draft("menu")).await.unwrap();
    let link = |url: &str| WidgetContent::Link {
        title: samples::name("a"),
        url: samples::web_url(url),
        thumbnail_url: None,
    };
    let heading = WidgetContent::Heading { text: samples::name("a") };
    let widgets = samples::widgets(vec![link("https://go.example.com/loop"), link(END), heading]);
    let content = PageContent { widgets, ..PageContent::default() };
    let mut work = world.app.store.begin().await.unwrap();
    work.write_page_content(world.account.id, page.id, &content).await.unwrap();
    work.commit().await.unwrap();
    assert_eq!(visit_slug(&world, "end").await, leads_to(END));
    for slug in ["loop", "heading", "none"] {
        assert_eq!(visit_slug(&world, slug).await, Resolution::NotThere, "{slug}");
    }
    assert_eq!(world.resolved("go.example.com", Some("loop")).await.missing, Missing::Loop);
    let hosts = world.resolved("go.example.com", Some("end")).await.target_hosts;
    assert_eq!(hosts, ["go.example.com", "target.example"]);
}

/// Contract D50, D55–D57.
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

/// A life with a start and an end.
fn limited() -> Life {
    let schedule = Schedule::new(Some(samples::at(-9)), Some(samples::at(9))).unwrap();
    Life { schedule, fallback_url: Some(samples::target("https://example.com/over")) }
}

fn to(slug: &str, target: &str) -> Redirect {
    samples::redirect(slug).with(|content| content.target_url = samples::target(target))
}

/// The redirect at `b` has dates, so each visitor goes to its address, and it alone judges, records and counts the rest.
#[tokio::test]
async fn d128_a_chain_ends_before_a_link_with_dates() {
    let world = World::new().await;
    let first = to("a", "https://go.example.com/b/?src=qr");
    let dated = Redirect { life: limited(), ..to("b", "https://go.example.com/c") }
        .with(|content| content.antibot_enabled = true);
    for redirect in [first.clone(), dated.clone(), to("c", END)] {
        world.store_as_it_is(redirect).await;
    }
    let resolved = world.resolved("go.example.com", Some("a")).await;
    assert_eq!(resolved.resolution, leads_to("https://go.example.com/b/?src=qr"));
    assert_eq!((&resolved.life, resolved.gates.antibot_enabled), (&Life::default(), false));
    assert_eq!(resolved.recorded.iter().map(|link| link.id).collect::<Vec<_>>(), [first.id.into()]);
    assert_eq!(resolved.target_hosts, ["go.example.com"]);
    let own = world.resolved("go.example.com", Some("b")).await;
    assert_eq!((own.resolution, own.life), (leads_to(END), dated.life));
}

/// Without the dates of a link, the chain is the same as before.
#[tokio::test]
async fn d128_a_fallback_alone_does_not_end_a_chain() {
    let world = World::new().await;
    let life = Life { schedule: Schedule::default(), ..limited() };
    world.store_as_it_is(to("a", "https://go.example.com/b")).await;
    world.store_as_it_is(Redirect { life, ..to("b", END) }).await;
    assert_eq!(visit_slug(&world, "a").await, leads_to(END));
}

/// The visitor would come back again and again, whichever links of the round have dates.
#[tokio::test]
async fn d24_d128_a_chain_with_dates_that_returns_to_itself_leads_nowhere() {
    for dated in [&["a"][..], &["b"], &["a", "b"], &["a", "b", "c"]] {
        let world = World::new().await;
        for (slug, next) in [("a", "b"), ("b", "c"), ("c", "a")] {
            let life = if dated.contains(&slug) { limited() } else { Life::default() };
            let target = format!("https://go.example.com/{next}");
            world.store_as_it_is(Redirect { life, ..to(slug, &target) }).await;
        }
        for slug in ["a", "b", "c"] {
            let resolved = world.resolved("go.example.com", Some(slug)).await;
            let outcome = (resolved.resolution, resolved.missing);
            assert_eq!(outcome, (Resolution::NotThere, Missing::Loop), "{slug} of {dated:?}");
        }
    }
}

/// What follows a link with dates counts for the length of the chain, and nothing else of it.
#[tokio::test]
async fn d128_what_follows_a_link_with_dates_is_its_own_affair() {
    let world = World::new().await;
    world.store_as_it_is(to("a", "https://go.example.com/b")).await;
    let dated = Redirect { life: limited(), ..to("b", "https://go.example.com/gone") };
    world.store_as_it_is(dated).await;
    assert_eq!(visit_slug(&world, "a").await, leads_to("https://go.example.com/b"));
    let own = world.resolved("go.example.com", Some("b")).await;
    assert_eq!((own.resolution, own.life), (Resolution::NotThere, limited()));
    // A link that comes to be there closes the chain.
    let depends_on = world.resolved("go.example.com", Some("a")).await.depends_on.addresses;
    let addresses = ["a", "b", "gone"].map(|slug| samples::on_system(slug).address().unwrap());
    assert_eq!(depends_on, addresses);
}

#[tokio::test]
async fn d128_a_target_at_a_widget_of_a_page_with_dates_stays_there() {
    let world = World::new().await;
    let page = Landing { life: limited(), ..samples::landing("menu") };
    let mut work = world.app.store.begin().await.unwrap();
    work.insert_links(world.account.id, &[Link::from(page.clone())], 9).await.unwrap();
    let link =
        WidgetContent::Link { title: samples::name("a"), url: samples::web_url(END), thumbnail_url: None };
    let content = PageContent { widgets: samples::widgets(vec![link]), ..PageContent::default() };
    work.write_page_content(world.account.id, page.id, &content).await.unwrap();
    work.commit().await.unwrap();
    let widget = format!("https://go.example.com/menu/w/{}", WidgetId::from_bytes(1_u128.to_be_bytes()));
    world.store_as_it_is(to("a", &widget)).await;
    assert_eq!(visit_slug(&world, "a").await, leads_to(&widget));
    world.store_as_it_is(to("b", "https://go.example.com/menu")).await;
    let elsewhere = Resolution::LandingElsewhere { url: "https://go.example.com/menu".to_owned() };
    assert_eq!(visit_slug(&world, "b").await, elsewhere);
}
