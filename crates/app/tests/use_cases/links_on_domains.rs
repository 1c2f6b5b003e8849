//! Links on custom domains: creating and moving them (D20–D24).

use signpost_app::domains::{LinkCount, links_on};
use signpost_domain::{
    Change, CountryCode, CustomDomainStatus, ErrorCode, Feature, GeoBlocklist, HostReference, LandingRequest,
    Link, LinkState, Redirect, RedirectRequest, Refusal, ViolationCode,
};
use signpost_port_contracts::samples;

use crate::given_domains::{ACTIVE, becomes, draft_on, given_domain, not_active, removed};
use crate::world::{World, draft, generated, page_draft, plan, refusal, violation, violations};

const HOST: &str = "links.example.net";

fn domain(text: &str) -> RedirectRequest {
    RedirectRequest { domain: Change::Set(HostReference::parse(text)), ..RedirectRequest::default() }
}

fn slug(text: Option<&str>) -> RedirectRequest {
    let slug = text.map_or(Change::Clear, |text| Change::Set(samples::slug(text)));
    RedirectRequest { slug, ..RedirectRequest::default() }
}

fn both(host: &str, text: Option<&str>) -> RedirectRequest {
    RedirectRequest { domain: Change::Set(HostReference::parse(host)), ..slug(text) }
}

fn url(world: &World, link: &Redirect) -> Option<String> {
    link.placement.url(&world.app.system, world.app.custom_domain_scheme)
}

/// Contract D21: slugs that the system domain reserves are free on custom domains.
#[tokio::test]
async fn d22_a_link_is_created_on_an_active_domain() {
    let world = World::new().await;
    world.active_domain(HOST).await;
    for (host, slug, expected) in [
        (" Links.Example.NET. ", Some("sale"), "https://links.example.net/sale"),
        (HOST, None, "https://links.example.net/"),
        (HOST, Some("admin"), "https://links.example.net/admin"),
    ] {
        let link = world.create(draft_on(host, slug)).await.unwrap();
        assert_eq!(link.placement, samples::on_custom(HOST, slug));
        assert_eq!(url(&world, &link).as_deref(), Some(expected));
        assert_eq!(world.stored(link.id).await, Some(link));
    }
    for repeated in [Some("sale"), None] {
        assert_eq!(refusal(world.create(draft_on(HOST, repeated)).await).code(), ErrorCode::SlugAlreadyTaken);
    }
    // The same slug elsewhere is another address.
    world.redirect("sale").await;
}

#[tokio::test]
async fn d21_a_slug_is_generated_on_a_custom_domain() {
    let world = World::new().await;
    world.active_domain(HOST).await;
    let [first, second] = [[1; 16], [2; 16]];
    world.create(draft_on(HOST, Some(generated(first).as_str()))).await.unwrap();
    for bytes in [first, second] {
        world.memory.randomness.queue(bytes);
    }
    let draft = RedirectRequest { slug: Change::Keep, ..draft_on(HOST, None) };
    let link = world.create(draft).await.unwrap();
    assert_eq!(link.placement, samples::on_custom(HOST, Some(generated(second).as_str())));
}

/// A foreign domain is as unknown as an unconnected hostname.
#[tokio::test]
async fn d23_a_link_is_placed_only_on_an_active_domain_of_the_callers() {
    let world = World::new().await;
    let (other, _) = world.another_account("agency").await;
    given_domain(&world.app, other.id, "theirs.example.net", ACTIVE).await;
    let mut refused = vec![
        ("theirs.example.net".to_owned(), Refusal::DomainNotFound),
        ("nobodys.example.net".to_owned(), Refusal::DomainNotFound),
        ("192.0.2.1".to_owned(), Refusal::DomainNotFound),
    ];
    for status in not_active(&world.app) {
        let host = format!("{}.example.net", status.as_str().replace('_', "-"));
        given_domain(&world.app, world.account.id, &host, status).await;
        refused.push((host, Refusal::DomainNotActive));
    }
    let link = world.redirect("mine").await;
    for (host, why) in refused {
        for slug in [Some("sale"), None] {
            assert_eq!(refusal(world.create(draft_on(&host, slug)).await), why, "{host}");
            assert_eq!(refusal(world.update(link.id, both(&host, slug)).await), why, "{host}");
        }
        assert_eq!(refusal(world.update(link.id, domain(&host)).await), why, "{host}");
    }
    assert_eq!(world.stored(link.id).await, Some(link));
    assert_eq!(world.usage().await.links, 1);
}

#[tokio::test]
async fn d22_a_link_moves_between_domains() {
    let world = World::new().await;
    for host in [HOST, "other.example.org"] {
        world.active_domain(host).await;
    }
    let link = world.redirect("sale").await;
    let to_system = RedirectRequest { domain: Change::Clear, ..RedirectRequest::default() };
    for (patch, expected) in [
        (domain(HOST), samples::on_custom(HOST, Some("sale"))),
        (slug(Some("admin")), samples::on_custom(HOST, Some("admin"))),
        (domain("other.example.org"), samples::on_custom("other.example.org", Some("admin"))),
        (slug(None), samples::on_custom("other.example.org", None)),
        (domain(HOST), samples::on_custom(HOST, None)),
        (slug(Some("sale")), samples::on_custom(HOST, Some("sale"))),
        (to_system.clone(), samples::on_system("sale")),
        (both(HOST, None), samples::on_custom(HOST, None)),
        (both("go.example.com", Some("sale")), samples::on_system("sale")),
    ] {
        assert_eq!(world.update(link.id, patch).await.unwrap().placement, expected);
    }
    // Its former address is free until another link takes it.
    let at_root = world.create(draft_on(HOST, None)).await.unwrap();
    assert_eq!(refusal(world.update(link.id, both(HOST, None)).await).code(), ErrorCode::SlugAlreadyTaken);
    for patch in [to_system, domain("go.example.com")] {
        assert_eq!(refusal(world.update(at_root.id, patch).await), Refusal::SlugRequiredForSystemDomain);
    }
}

/// The state of the domain matters only when the placement changes. A new slug changes it.
#[tokio::test]
async fn d23_a_link_on_an_inactive_domain_may_stay_or_leave() {
    let world = World::new().await;
    let custom = world.active_domain(HOST).await;
    for (number, status) in not_active(&world.app).into_iter().enumerate() {
        becomes(&world.app, &custom, ACTIVE).await;
        let kept = format!("s{number}");
        let link = world.create(draft_on(HOST, Some(&kept))).await.unwrap();
        becomes(&world.app, &custom, status).await;
        for moving in [slug(Some("new")), slug(None), both(HOST, Some("new"))] {
            assert_eq!(refusal(world.update(link.id, moving).await), Refusal::DomainNotActive);
        }
        let renaming = RedirectRequest { name: Some(samples::name("Renamed")), ..both(HOST, Some(&kept)) };
        let renamed = world.update(link.id, renaming).await.unwrap();
        let revision = link.revision.next();
        let name = samples::name("Renamed");
        let expected = Redirect { name, revision, is_domain_active: false, ..link.clone() };
        assert_eq!(renamed, expected);
        assert_eq!(renamed.state(samples::at(0)), LinkState::DomainInactive);
        let away =
            world.update(link.id, RedirectRequest { domain: Change::Clear, ..slug(Some(&kept)) }).await;
        let away = away.unwrap();
        assert_eq!(away.placement, samples::on_system(&kept));
        assert_eq!(away.state(samples::at(0)), LinkState::Active);
    }
}

/// The page of a domain says how many links a deletion costs, and reads no more of them than that.
#[tokio::test]
async fn d43_links_of_a_domain_are_counted_up_to_ten_thousand() {
    let world = World::new().await;
    world.active_domain(HOST).await;
    let caller = world.caller().await;
    let elsewhere: [Link; 1] = [samples::redirect("elsewhere").into()];
    let on_domain =
        |number: usize| samples::redirect_at(samples::on_custom(HOST, Some(&format!("s{number}"))));
    let most: Vec<Link> = (0..10_000).map(|number| on_domain(number).into()).collect();
    let last: [Link; 1] = [on_domain(10_000).into()];
    for (links, expected) in [
        (&elsewhere[..], LinkCount::Exactly(0)),
        (&most[..], LinkCount::Exactly(10_000)),
        (&last[..], LinkCount::MoreThan(10_000)),
    ] {
        let mut work = world.app.store.begin().await.unwrap();
        work.insert_links(world.account.id, links, u64::MAX).await.unwrap();
        work.commit().await.unwrap();
        assert_eq!(links_on(&world.app, &caller, &samples::hostname(HOST)).await.unwrap(), expected);
    }
}

/// Its hostname is no domain of its account any more.
#[tokio::test]
async fn d23_a_link_does_not_move_on_a_removed_domain() {
    let world = World::new().await;
    let link = world.store_as_it_is(samples::redirect_at(samples::on_custom(HOST, Some("sale")))).await;
    for moving in [slug(Some("new")), slug(None), both(HOST, None)] {
        assert_eq!(refusal(world.update(link.id, moving).await), Refusal::DomainNotActive);
    }
    assert_eq!(world.update(link.id, both(HOST, Some("sale"))).await.unwrap(), link);
}

/// Contract D43: it keeps its slug. The domain must be active and the address free.
#[tokio::test]
async fn d22_a_lost_link_returns_when_a_domain_is_set() {
    let world = World::new().await;
    let custom = world.active_domain(HOST).await;
    let with_slug = world.create(draft_on(HOST, Some("sale"))).await.unwrap();
    let at_root = world.create(draft_on(HOST, None)).await.unwrap();
    removed(&world.app, &custom).await;
    for (link, slug) in [(&with_slug, Some("sale")), (&at_root, None)] {
        let lost = world.stored(link.id).await.unwrap();
        assert_eq!((lost.placement.clone(), url(&world, &lost)), (samples::lost(slug), None));
        assert_eq!(refusal(world.update(link.id, domain(HOST)).await), Refusal::DomainNotFound);
    }
    let new = world.active_domain("new.example.net").await;
    becomes(&world.app, &new, not_active(&world.app)[0]).await;
    assert_eq!(refusal(world.update(at_root.id, domain("new.example.net")).await), Refusal::DomainNotActive);
    becomes(&world.app, &new, ACTIVE).await;
    for (link, slug) in [(&with_slug, Some("sale")), (&at_root, None)] {
        let back = world.update(link.id, domain("new.example.net")).await.unwrap();
        assert_eq!(back.placement, samples::on_custom("new.example.net", slug));
    }
    // A lost link may have no slug.
    removed(&world.app, &new).await;
    assert_eq!(world.update(with_slug.id, slug(None)).await.unwrap().placement, samples::lost(None));
    world.active_domain(HOST).await;
    world.create(draft_on(HOST, None)).await.unwrap();
    assert_eq!(refusal(world.update(with_slug.id, domain(HOST)).await).code(), ErrorCode::SlugAlreadyTaken);
    let back = world.update(with_slug.id, both(HOST, Some("sale"))).await.unwrap();
    assert_eq!(back.placement, samples::on_custom(HOST, Some("sale")));
}

/// The violation names the field that closes the loop: the target, the slug or the domain.
#[tokio::test]
async fn d24_a_link_on_a_domain_does_not_point_at_itself() {
    let world = World::new().await;
    world.active_domain(HOST).await;
    let itself = |field| [violation(field, ViolationCode::InvalidValue)];
    let target_url = samples::target("http://LINKS.example.net.:80/s%61le/?x#y");
    let pointing =
        |draft: RedirectRequest| draft.with(|content| content.target_url = Some(target_url.clone()));
    let outcome = world.create(pointing(draft_on(HOST, Some("sale")))).await;
    assert_eq!(violations(outcome), itself("target_url"));
    let elsewhere = world.create(pointing(draft_on(HOST, Some("elsewhere")))).await.unwrap();
    assert_eq!(violations(world.update(elsewhere.id, slug(Some("sale"))).await), itself("slug"));
    let on_system = world.create(pointing(draft("sale"))).await.unwrap();
    assert_eq!(violations(world.update(on_system.id, domain(HOST)).await), itself("domain"));
    assert_eq!(world.stored(on_system.id).await, Some(on_system));
}

/// ADR 3: violations, domain, slug, features, group.
#[tokio::test]
async fn refusals_about_domains_keep_their_order() {
    let world = World::with_plan(plan(&[Feature::CustomDomains])).await;
    let custom = world.active_domain(HOST).await;
    becomes(&world.app, &custom, CustomDomainStatus::Failed).await;
    let geo_blocklist = GeoBlocklist::new([CountryCode::parse("DE").unwrap()].into());
    let group = Some(signpost_domain::IdReference::Malformed);
    let wrong =
        RedirectRequest { group: group.map_or(Change::Keep, Change::Set), ..draft_on(HOST, Some("sale")) }
            .with(|content| content.geo_blocklist = Change::Set(geo_blocklist));
    let own = wrong
        .clone()
        .with(|content| content.target_url = Some(samples::target("https://links.example.net/sale")));
    assert_eq!(refusal(world.create(wrong.clone()).await), Refusal::DomainNotActive);
    becomes(&world.app, &custom, ACTIVE).await;
    assert_eq!(violations(world.create(own).await).len(), 1);
    assert_eq!(
        refusal(world.create(wrong.clone()).await),
        Refusal::FeatureNotAvailable(Feature::GeoBlocking)
    );
    let grouped = wrong.with(|content| content.geo_blocklist = Change::Set(GeoBlocklist::default()));
    assert_eq!(refusal(world.create(grouped).await), Refusal::GroupNotFound);
}

/// It shares the address space of redirects (D20).
#[tokio::test]
async fn d28_a_landing_page_lives_on_a_domain() {
    let world = World::new().await;
    let custom = world.active_domain(HOST).await;
    let page = LandingRequest {
        domain: Change::Set(HostReference::parse(HOST)),
        slug: Change::Clear,
        ..page_draft("x")
    };
    let created = world.create_page(page.clone()).await.unwrap();
    assert_eq!(created.placement, samples::on_custom(HOST, None));
    assert_eq!(refusal(world.create(draft_on(HOST, None)).await).code(), ErrorCode::SlugAlreadyTaken);
    let move_to =
        |text| LandingRequest { slug: Change::Set(samples::slug(text)), ..LandingRequest::default() };
    let moved = world.update_page(created.id, move_to("menu")).await.unwrap();
    assert_eq!(moved.placement, samples::on_custom(HOST, Some("menu")));
    becomes(&world.app, &custom, CustomDomainStatus::Failed).await;
    assert_eq!(refusal(world.update_page(created.id, move_to("other")).await), Refusal::DomainNotActive);
    assert_eq!(refusal(world.create_page(page).await), Refusal::DomainNotActive);
}
