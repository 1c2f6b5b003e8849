//! Where a link lives: what creations and updates may say about it (D21–D23).

use signpost_domain::{Change, ErrorCode, HostReference, Placement, Redirect, RedirectRequest, Refusal};
use signpost_port_contracts::samples;

use crate::world::{World, draft, refusal, with_alias};

const RESERVED: [&str; 9] = ["v1", "robots", "favicon", "health", "admin", "dashboard", "docs", "api", "www"];

fn slug(text: &str) -> RedirectRequest {
    RedirectRequest { slug: Change::Set(samples::slug(text)), ..RedirectRequest::default() }
}

fn domain(text: &str) -> RedirectRequest {
    RedirectRequest { domain: Change::Set(HostReference::parse(text)), ..RedirectRequest::default() }
}

fn no_slug() -> RedirectRequest {
    RedirectRequest { slug: Change::Clear, ..RedirectRequest::default() }
}

fn system_domain() -> RedirectRequest {
    RedirectRequest { domain: Change::Clear, ..RedirectRequest::default() }
}

#[tokio::test]
async fn d21_reserved_slugs_are_taken_on_the_system_domain() {
    let world = World::new().await;
    let link = world.redirect("mine").await;
    for reserved in RESERVED {
        for spelling in [reserved.to_owned(), reserved.to_uppercase()] {
            let outcome = world.create(draft(&spelling)).await;
            assert_eq!(refusal(outcome).code(), ErrorCode::SlugAlreadyTaken, "{spelling}");
            let outcome = world.update(link.id, slug(&spelling)).await;
            assert_eq!(refusal(outcome).code(), ErrorCode::SlugAlreadyTaken, "{spelling}");
        }
        world.redirect(&format!("{reserved}-1")).await;
    }
}

#[tokio::test]
async fn d21_the_system_domain_has_no_root() {
    let world = World::new().await;
    let link = world.redirect("mine").await;
    for domain in [None, Some(HostReference::parse("go.example.com"))] {
        let outcome = world
            .create(RedirectRequest {
                slug: Change::Clear,
                domain: domain.map_or(Change::Keep, Change::Set),
                ..draft("x")
            })
            .await;
        assert_eq!(refusal(outcome), Refusal::SlugRequiredForSystemDomain);
    }
    assert_eq!(refusal(world.update(link.id, no_slug()).await), Refusal::SlugRequiredForSystemDomain);
    assert_eq!(world.stored(link.id).await, Some(link));
}

/// The system hostname, and each of its aliases, is accepted wherever a domain is passed.
#[tokio::test]
async fn d22_the_system_hostname_may_be_named() {
    let world = World::on(with_alias("old.example.com"), "agency").await;
    let names = ["go.example.com", "GO.Example.COM.", " old.example.com "];
    for (number, name) in names.into_iter().enumerate() {
        let draft = RedirectRequest {
            domain: Change::Set(HostReference::parse(name)),
            ..draft(&format!("s{number}"))
        };
        let created = world.create(draft).await.unwrap();
        assert!(matches!(created.placement, Placement::System { .. }), "{created:?}");
        let unmoved = world.update(created.id, domain(name)).await.unwrap();
        assert_eq!(unmoved, created);
    }
}

/// Without a domain of its own, to an account every other hostname is unknown, and so is what is none.
#[tokio::test]
async fn d23_any_other_domain_is_not_found() {
    let world = World::new().await;
    let link = world.redirect("mine").await;
    for name in ["links.example.net", "example.com", "a.go.example.com", "not a host", ""] {
        let draft = RedirectRequest { domain: Change::Set(HostReference::parse(name)), ..draft("new") };
        assert_eq!(refusal(world.create(draft).await), Refusal::DomainNotFound, "{name}");
        assert_eq!(refusal(world.update(link.id, domain(name)).await), Refusal::DomainNotFound, "{name}");
        let both = RedirectRequest { slug: Change::Clear, ..domain(name) };
        assert_eq!(refusal(world.update(link.id, both).await), Refusal::DomainNotFound, "{name}");
    }
}

#[tokio::test]
async fn d22_a_link_moves_to_another_slug_and_back() {
    let world = World::new().await;
    let link = world.redirect("first").await;
    let moved = world.update(link.id, slug("second")).await.unwrap();
    assert_eq!(moved.placement, samples::on_system("second"));
    let taken = world.redirect("first").await;
    assert_eq!(refusal(world.update(link.id, slug("first")).await).code(), ErrorCode::SlugAlreadyTaken);
    assert_eq!(refusal(world.update(taken.id, slug("second")).await).code(), ErrorCode::SlugAlreadyTaken);
    assert_eq!(world.stored(link.id).await, Some(moved));
}

/// A link that lost its domain keeps its slug, can be given another or none, and comes back with a domain.
#[tokio::test]
async fn d22_a_lost_link_keeps_its_slug_until_it_comes_back() {
    let world = World::new().await;
    let lost = world.store_as_it_is(samples::redirect_at(samples::lost(Some("kept")))).await;
    for (patch, expected) in [
        (no_slug(), samples::lost(None)),
        (slug("admin"), samples::lost(Some("admin"))),
        (slug("kept"), samples::lost(Some("kept"))),
        (
            RedirectRequest { name: Some(samples::name("Renamed")), ..RedirectRequest::default() },
            samples::lost(Some("kept")),
        ),
        (system_domain(), samples::on_system("kept")),
    ] {
        assert_eq!(world.update(lost.id, patch).await.unwrap().placement, expected);
    }
}

#[tokio::test]
async fn d22_a_lost_link_comes_back_only_to_an_address_that_it_may_have() {
    let world = World::new().await;
    let taken = world.redirect("taken").await;
    for (slug, why) in [
        (Some("taken"), Refusal::AddressTaken { existing: Some(taken.id.into()) }),
        (Some("admin"), Refusal::SlugReserved),
        (None, Refusal::SlugRequiredForSystemDomain),
    ] {
        let lost = world.store_as_it_is(samples::redirect_at(samples::lost(slug))).await;
        assert_eq!(refusal(world.update(lost.id, system_domain()).await), why);
        assert_eq!(world.stored(lost.id).await.as_ref(), Some(&lost));
        // The slug may come with the domain.
        let free = samples::slug(&format!("free-{}", slug.unwrap_or("root")));
        let both = RedirectRequest { slug: Change::Set(free.clone()), ..system_domain() };
        let back = world.update(lost.id, both).await.unwrap();
        assert_eq!(back.placement, Placement::System { slug: free });
    }
}

/// A PATCH is judged by the placement that it ends in, not field by field.
#[tokio::test]
async fn d22_a_link_on_a_custom_domain_comes_back_to_the_system_domain() {
    let world = World::new().await;
    let on_custom = |slug| samples::redirect_at(samples::on_custom("links.example.net", slug));
    let with_slug = world.store_as_it_is(on_custom(Some("sale"))).await;
    let at_root = world.store_as_it_is(on_custom(None)).await;
    assert_eq!(
        refusal(world.update(at_root.id, system_domain()).await),
        Refusal::SlugRequiredForSystemDomain
    );
    let both = RedirectRequest { slug: Change::Clear, ..system_domain() };
    assert_eq!(refusal(world.update(with_slug.id, both).await), Refusal::SlugRequiredForSystemDomain);
    let both =
        RedirectRequest { domain: Change::Set(HostReference::parse("go.example.com")), ..slug("root") };
    assert_eq!(world.update(at_root.id, both).await.unwrap().placement, samples::on_system("root"));
    let back = world.update(with_slug.id, system_domain()).await.unwrap();
    assert_eq!(back.placement, samples::on_system("sale"));
}

/// Whether a domain is active is checked only when a request changes the placement.
#[tokio::test]
async fn d23_other_fields_of_a_link_on_a_custom_domain_may_change() {
    let world = World::new().await;
    let link = samples::redirect_at(samples::on_custom("links.example.net", Some("sale")));
    let link = world.store_as_it_is(link).await;
    let patch = RedirectRequest {
        name: Some(samples::name("Renamed")),
        // Naming the domain and the slug that it has moves nothing.
        ..RedirectRequest { slug: Change::Set(samples::slug("sale")), ..domain("Links.Example.NET") }
    };
    let renamed = world.update(link.id, patch).await.unwrap();
    assert_eq!(renamed, Redirect { name: samples::name("Renamed"), ..link });
}
