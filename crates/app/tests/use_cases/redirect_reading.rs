//! Retrieving and listing redirects (contract "List filters for links", D32).

use signpost_app::admission::AdmittedRequest;
use signpost_app::links::{self, ListLinks};
use signpost_domain::{
    Change, HostReference, IdReference, Precondition, Redirect, RedirectContent, RedirectRequest, Refusal,
};
use signpost_port_contracts::samples;

use crate::world::{World, draft, group_of, list_redirects, refusal, with_alias};

async fn list(world: &World, query: ListLinks) -> Vec<Redirect> {
    let page = list_redirects(&world.app, &world.caller().await, query).await.unwrap();
    assert_eq!(page.next, None);
    page.items
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
    let foreign = group_of(&world.app, &stranger, "Theirs").await.unwrap();
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
async fn a_redirect_read_at_admission_is_not_read_again() {
    let world = World::new().await;
    let (about, other) = (world.redirect("about").await, world.redirect("other").await);
    let AdmittedRequest { caller, read_ahead, .. } = world.request_about(about.id.into()).await;
    for link in [&about, &other] {
        links::delete(&world.app, &world.caller().await, link.id.into(), &Precondition::None).await.unwrap();
    }
    let get = async |redirect: &Redirect| {
        links::get::<RedirectContent>(&world.app, &caller, redirect.id.into(), read_ahead.as_ref()).await
    };
    assert_eq!(get(&about).await.unwrap().redirect, about);
    assert_eq!(refusal(get(&other).await), Refusal::RedirectNotFound, "another link is read on request");
}
