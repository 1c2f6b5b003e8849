//! Retrieving and deleting redirects (D2, D20).

use signpost_app::{groups, links};
use signpost_domain::{Change, IdReference, RedirectRequest, Refusal};
use signpost_port_contracts::samples;

use crate::world::{World, draft, get_redirect, refusal};

#[tokio::test]
async fn a_redirect_is_retrieved_by_its_owner() {
    let world = World::new().await;
    let link = world.redirect("sale").await;
    assert_eq!(get_redirect(&world.app, &world.caller().await, link.id.into()).await.unwrap(), link);
}

/// The link is read with the key, and not again.
#[tokio::test]
async fn a_redirect_read_ahead_is_as_it_was_when_the_request_was_admitted() {
    let world = World::new().await;
    let (about, other) = (world.redirect("about").await, world.redirect("other").await);
    let caller = world.caller_about(about.id.into()).await;
    for link in [&about, &other] {
        links::delete(&world.app, &world.caller().await, link.id.into()).await.unwrap();
    }
    assert_eq!(get_redirect(&world.app, &caller, about.id.into()).await.unwrap(), about);
    assert_eq!(
        refusal(get_redirect(&world.app, &caller, other.id.into()).await),
        Refusal::RedirectNotFound,
        "another is read when it is asked for"
    );
}

#[tokio::test]
async fn d2_a_redirect_that_the_caller_does_not_have_is_not_found() {
    let world = World::new().await;
    let link = world.redirect("mine").await;
    let stranger = world.stranger().await;
    for id in [IdReference::Malformed, samples::id().into(), link.id.into()] {
        assert_eq!(refusal(get_redirect(&world.app, &stranger, id).await), Refusal::RedirectNotFound);
        assert_eq!(refusal(links::delete(&world.app, &stranger, id).await), Refusal::RedirectNotFound);
    }
    assert_eq!(world.stored(link.id).await, Some(link));
    assert_eq!(world.usage().await.links, 1);
}

#[tokio::test]
async fn a_deleted_redirect_is_gone_and_its_address_free() {
    let world = World::new().await;
    let group = world.group("Spring").await;
    let link =
        world.create(RedirectRequest { group: Change::Set(group.id.into()), ..draft("sale") }).await.unwrap();
    let caller = world.caller().await;
    assert_eq!(links::delete(&world.app, &caller, link.id.into()).await.unwrap(), link.id);
    assert_eq!(refusal(get_redirect(&world.app, &caller, link.id.into()).await), Refusal::RedirectNotFound);
    assert_eq!(refusal(links::delete(&world.app, &caller, link.id.into()).await), Refusal::RedirectNotFound);
    assert_eq!(groups::get(&world.app, &caller, group.id.into()).await.unwrap().redirects_count, 0);
    assert_eq!(world.usage().await.links, 0);
    world.redirect("sale").await;
}
