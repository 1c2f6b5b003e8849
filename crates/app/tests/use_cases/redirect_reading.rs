//! Retrieving and deleting redirects (D2, D20).

use signpost_app::links;
use signpost_domain::{IdReference, Refusal};
use signpost_port_contracts::samples;

use crate::world::{World, get_redirect, refusal};

#[tokio::test]
async fn a_redirect_read_at_admission_is_not_read_again() {
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
        "another link is read on request"
    );
}

/// Unknown, malformed and foreign ids get the same answer.
#[tokio::test]
async fn d2_missing_and_foreign_redirects_are_not_found() {
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
