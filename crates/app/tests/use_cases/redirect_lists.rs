//! Listing redirects (contract "List filters for links" and "Pagination rules", D32).

use signpost_app::idempotency::Idempotency;
use signpost_app::links::ListLinks;
use signpost_domain::{Change, HostReference, IdReference, PageLimit, Redirect, RedirectRequest, SearchText};
use signpost_port_contracts::samples;

use crate::world::{World, draft, list_redirects, with_alias};

async fn list(world: &World, query: ListLinks) -> Vec<Redirect> {
    let page = list_redirects(&world.app, &world.caller().await, query).await.unwrap();
    assert_eq!(page.next, None);
    page.items
}

#[tokio::test]
async fn links_are_listed_newest_first_in_pages() {
    let world = World::new().await;
    let mut links = Vec::new();
    for number in 0..30 {
        links.insert(0, world.redirect(&format!("link-{number}")).await);
    }
    let caller = world.caller().await;
    let first = list_redirects(&world.app, &caller, ListLinks::default()).await.unwrap();
    assert_eq!(first.items, links[..25], "the default limit is 25");
    let rest = ListLinks { after: first.next, limit: PageLimit::new(5).unwrap(), ..ListLinks::default() };
    let last = list_redirects(&world.app, &caller, rest).await.unwrap();
    assert_eq!(last.items, links[25..]);
    assert_eq!(last.next, None, "a full last page has no next page");
    let stranger = world.stranger().await;
    let theirs = list_redirects(&world.app, &stranger, ListLinks::default()).await.unwrap();
    assert_eq!((theirs.items, theirs.next), (vec![], None));
}

/// A missing, malformed or foreign group yields an empty list, not an error.
#[tokio::test]
async fn d32_links_are_filtered_by_group() {
    let world = World::new().await;
    let [spring, summer] = [world.group("Spring").await.id, world.group("Summer").await.id];
    let grouped = RedirectRequest { group: Change::Set(spring.into()), ..draft("grouped") };
    let grouped = world.create(grouped).await.unwrap();
    let ungrouped = world.redirect("ungrouped").await;
    let stranger = world.stranger().await;
    let foreign =
        signpost_app::groups::create(&world.app, &stranger, samples::name("Theirs"), Idempotency::disabled())
            .await
            .unwrap();
    for (group, expected) in [
        (None, vec![ungrouped.clone(), grouped.clone()]),
        (Some(None), vec![ungrouped]),
        (Some(Some(spring.into())), vec![grouped]),
        (Some(Some(summer.into())), vec![]),
        (Some(Some(foreign.id.into())), vec![]),
        (Some(Some(samples::id().into())), vec![]),
        (Some(Some(IdReference::Malformed)), vec![]),
    ] {
        assert_eq!(list(&world, ListLinks { group, ..ListLinks::default() }).await, expected, "{group:?}");
    }
}

/// The filter accepts the system hostname and its aliases (D22).
#[tokio::test]
async fn d32_links_are_filtered_by_domain() {
    let world = World::on(with_alias("old.example.com"), "agency").await;
    let on_system = world.redirect("sale").await;
    let on_custom = samples::redirect_at(samples::on_custom("links.example.net", Some("sale")));
    let on_custom = world.store_as_it_is(on_custom).await;
    world.store_as_it_is(samples::redirect_at(samples::lost(Some("sale")))).await;
    for (domain, expected) in [
        ("go.example.com", vec![on_system.clone()]),
        ("GO.example.com.", vec![on_system.clone()]),
        ("old.example.com", vec![on_system]),
        ("Links.example.net", vec![on_custom]),
        ("unknown.example.net", vec![]),
        ("example.net", vec![]),
        ("not a host", vec![]),
        ("", vec![]),
    ] {
        let query = ListLinks { domain: Some(HostReference::parse(domain)), ..ListLinks::default() };
        assert_eq!(list(&world, query).await, expected, "{domain}");
    }
}

#[tokio::test]
async fn d32_links_are_filtered_by_state_and_text_together() {
    let world = World::new().await;
    let active = world.redirect_to("a-Straße".replace('ß', "ss").as_str(), "https://example.com/Über").await;
    let inactive = RedirectRequest { is_active: Some(false), ..draft("b") };
    let inactive =
        world.create(RedirectRequest { name: Some(samples::name("STRASSE")), ..inactive }).await.unwrap();
    for (search, is_active, expected) in [
        (None, Some(true), vec![active.clone()]),
        (None, Some(false), vec![inactive.clone()]),
        (Some("straße"), None, vec![inactive.clone(), active.clone()]),
        (Some("straße"), Some(true), vec![active.clone()]),
        (Some("über"), None, vec![active]),
        (Some("über"), Some(false), vec![]),
        (Some("nowhere"), None, vec![]),
    ] {
        let search = search.map(|text| SearchText::parse(text).unwrap());
        let query = ListLinks { search, is_active, ..ListLinks::default() };
        assert_eq!(list(&world, query.clone()).await, expected, "{query:?}");
    }
}
