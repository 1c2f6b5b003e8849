//! Links on custom domains: creating and moving them (D20–D24).

use signpost_app::idempotency::Idempotency;
use signpost_app::links;
use signpost_app::links::ListLinks;
use signpost_domain::{
    Change, CountryCode, CustomDomainStatus, ErrorCode, Feature, FieldError, GeoBlocklist, HostReference,
    LandingRequest, PageContent, Redirect, RedirectContent, RedirectRequest, Refusal, Submitted,
    ViolationCode, Violations,
};
use signpost_port_contracts::samples;

use crate::given_domains::{ACTIVE, becomes, draft_on, given_domain, not_active, removed};
use crate::world::{
    World, draft, draft_without_slug, drawn, list_redirects, plan, refusal, violation, violations,
};

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

/// Contract D21–D23: with a slug, at the root, and with a slug that is drawn; what the system domain reserves is free.
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

/// Contract D21: an absent slug means "generate one", drawn again where it is taken.
#[tokio::test]
async fn d21_a_slug_is_generated_on_a_custom_domain() {
    let world = World::new().await;
    world.active_domain(HOST).await;
    let [first, second] = [[1; 16], [2; 16]];
    world.create(draft_on(HOST, Some(drawn(first).as_str()))).await.unwrap();
    for bytes in [first, second] {
        world.memory.randomness.queue(bytes);
    }
    let draft = RedirectRequest { slug: Change::Keep, ..draft_on(HOST, None) };
    let link = world.create(draft).await.unwrap();
    assert_eq!(link.placement, samples::on_custom(HOST, Some(drawn(second).as_str())));
}

/// Contract D23: the domain must be the caller's, then active. Another account's is as unknown as one that nobody has.
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

/// Contract D22: a PATCH moves a link anywhere and back, by both fields or by one.
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
    // What it has left is free; what others have is not.
    let at_root = world.create(draft_on(HOST, None)).await.unwrap();
    assert_eq!(refusal(world.update(link.id, both(HOST, None)).await).code(), ErrorCode::SlugAlreadyTaken);
    for patch in [to_system, domain("go.example.com")] {
        assert_eq!(refusal(world.update(at_root.id, patch).await), Refusal::SlugRequiredForSystemDomain);
    }
}

/// Contract D23: whether the domain is active is checked only when a request changes the placement. Also a change of the
/// slug alone does.
#[tokio::test]
async fn d23_a_link_on_a_domain_that_is_not_active_may_stay_but_not_move_there() {
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
        assert_eq!(renamed, Redirect { name: samples::name("Renamed"), ..link.clone() });
        let away =
            world.update(link.id, RedirectRequest { domain: Change::Clear, ..slug(Some(&kept)) }).await;
        assert_eq!(away.unwrap().placement, samples::on_system(&kept));
    }
}

/// A link that was left behind on a hostname which is no domain of the account may stay there, but not move.
#[tokio::test]
async fn d23_a_link_does_not_move_on_a_domain_that_is_gone() {
    let world = World::new().await;
    let link = world.store_as_it_is(samples::redirect_at(samples::on_custom(HOST, Some("sale")))).await;
    for moving in [slug(Some("new")), slug(None), both(HOST, None)] {
        assert_eq!(refusal(world.update(link.id, moving).await), Refusal::DomainNotActive);
    }
    assert_eq!(world.update(link.id, both(HOST, Some("sale"))).await.unwrap(), link);
}

/// Contract D22, D43: a link that lost its domain keeps its slug, and comes back when a domain is set, to one that is
/// active, at an address that is free.
#[tokio::test]
async fn d22_a_lost_link_comes_back_by_its_domain() {
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
    // Without a domain, a root stays one: lost.
    removed(&world.app, &new).await;
    assert_eq!(world.update(with_slug.id, slug(None)).await.unwrap().placement, samples::lost(None));
    world.active_domain(HOST).await;
    world.create(draft_on(HOST, None)).await.unwrap();
    assert_eq!(refusal(world.update(with_slug.id, domain(HOST)).await).code(), ErrorCode::SlugAlreadyTaken);
    let back = world.update(with_slug.id, both(HOST, Some("sale"))).await.unwrap();
    assert_eq!(back.placement, samples::on_custom(HOST, Some("sale")));
}

/// Contract D24: no link points at its own address on a custom domain, however it comes to it: by its target, its slug or
/// its domain.
#[tokio::test]
async fn d24_a_link_on_a_domain_does_not_point_at_itself() {
    let world = World::new().await;
    world.active_domain(HOST).await;
    let at = |target| samples::target(target);
    let itself = |field| vec![violation(field, ViolationCode::InvalidValue)];
    for (slug, target) in [
        (Some("sale"), "https://links.example.net/sale"),
        (Some("sale"), "http://LINKS.example.net.:80/s%61le/?x#y"),
        (None, "https://links.example.net"),
        (None, "http://links.example.net/?x"),
    ] {
        let draft = draft_on(HOST, slug).with(|content| content.target_url = Some(at(target)));
        assert_eq!(violations(world.create(draft.clone()).await), itself("target_url"), "{target}");
        // What is wrong with single fields comes with it.
        let value = RedirectRequest { name: None, ..draft };
        let nameless = Submitted { value, violations: name_is_missing() };
        let both = vec![
            violation("name", ViolationCode::Required),
            violation("target_url", ViolationCode::InvalidValue),
        ];
        assert_eq!(violations(world.create_submitted(nameless).await), both, "{target}");

        let elsewhere = world.create(draft_on(HOST, Some("elsewhere"))).await.unwrap();
        let pointing = RedirectRequest::default().with(|content| content.target_url = Some(at(target)));
        let pointing = world.update(elsewhere.id, pointing).await.unwrap();
        let moving = RedirectRequest {
            slug: slug.map_or(Change::Clear, |s| Change::Set(samples::slug(s))),
            ..RedirectRequest::default()
        };
        assert_eq!(violations(world.update(pointing.id, moving.clone()).await), itself("slug"), "{target}");
        let submitted = Submitted { value: moving, violations: name_is_missing() };
        let caller = world.caller().await;
        let outcome = signpost_app::links::update::<RedirectContent>(
            &world.app,
            &caller,
            pointing.id.into(),
            submitted,
        )
        .await;
        let both =
            vec![violation("name", ViolationCode::Required), violation("slug", ViolationCode::InvalidValue)];
        assert_eq!(violations(outcome), both, "{target}");
        signpost_app::links::delete(&world.app, &caller, pointing.id.into()).await.unwrap();
    }
    let target_url = at("https://links.example.net/sale");
    let link =
        world.create(draft("sale").with(|content| content.target_url = Some(target_url))).await.unwrap();
    assert_eq!(violations(world.update(link.id, domain(HOST)).await), itself("domain"));
    assert_eq!(world.stored(link.id).await, Some(link));
}

fn name_is_missing() -> Violations {
    Violations::from(FieldError::new(ViolationCode::Required, "is required").at("name"))
}

/// ADR 3: what is wrong with fields, then the domain, then the slug, then features, then the group.
#[tokio::test]
async fn refusals_about_domains_come_in_their_place() {
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

/// Contract D28: landing pages live on domains as redirects do, in the same address space (D20).
#[tokio::test]
async fn d28_a_landing_page_lives_on_a_domain() {
    let world = World::new().await;
    let custom = world.active_domain(HOST).await;
    let caller = world.caller().await;
    let page = LandingRequest {
        domain: Change::Set(HostReference::parse(HOST)),
        slug: Change::Clear,
        ..LandingRequest::new(samples::name("Menu"))
    };
    let create = async |draft: LandingRequest| {
        links::create::<PageContent>(&world.app, &caller, Submitted::valid(draft), Idempotency::disabled())
            .await
    };
    let created = create(page.clone()).await.unwrap();
    assert_eq!(created.placement, samples::on_custom(HOST, None));
    assert_eq!(refusal(world.create(draft_on(HOST, None)).await).code(), ErrorCode::SlugAlreadyTaken);
    let update = async |patch: LandingRequest| {
        links::update::<PageContent>(&world.app, &caller, created.id.into(), Submitted::valid(patch)).await
    };
    let move_to =
        |text| LandingRequest { slug: Change::Set(samples::slug(text)), ..LandingRequest::default() };
    let moved = update(move_to("menu")).await.unwrap();
    assert_eq!(moved.placement, samples::on_custom(HOST, Some("menu")));
    becomes(&world.app, &custom, CustomDomainStatus::Failed).await;
    assert_eq!(refusal(update(move_to("other")).await), Refusal::DomainNotActive);
    assert_eq!(refusal(create(page.clone()).await), Refusal::DomainNotActive);
    let unknown = Some(HostReference::parse("nobodys.example.net"));
    assert_eq!(
        refusal(create(LandingRequest { domain: unknown.map_or(Change::Keep, Change::Set), ..page }).await),
        Refusal::DomainNotFound
    );
    let retitled = LandingRequest { name: Some(samples::name("Card")), ..LandingRequest::default() };
    assert_eq!(update(retitled).await.unwrap().placement, moved.placement);
}

/// Contract D32: the lists' filter by domain.
#[tokio::test]
async fn d32_links_are_listed_by_domain() {
    let world = World::new().await;
    let custom = world.active_domain(HOST).await;
    world.active_domain("other.example.org").await;
    let on_host = world.create(draft_on(HOST, Some("a"))).await.unwrap();
    world.create(draft_on("other.example.org", Some("a"))).await.unwrap();
    let on_system = world.create(draft_without_slug()).await.unwrap();
    let listed = async |host: &str| {
        let query = ListLinks { domain: Some(HostReference::parse(host)), ..ListLinks::default() };
        list_redirects(&world.app, &world.caller().await, query).await.unwrap().items
    };
    assert_eq!(listed("LINKS.example.net.").await, [on_host]);
    assert_eq!(listed("go.example.com").await, [on_system]);
    removed(&world.app, &custom).await;
    assert_eq!(listed(HOST).await, []);
}
