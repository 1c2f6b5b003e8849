//! Which link a test of a visit is about (D136). What a visit of it gets is tested where visits are served.

use std::sync::Arc;

use signpost_app::explain::{self, Explanation, VisitFacts, VisitOutcome, VisitQuery, VisitedUrl};
use signpost_app::ports::ExplainerSlot;
use signpost_app::{AppError, Application};
use signpost_domain::{
    IdReference, LinkId, Permission, PermissionSet, Redirect, RedirectId, RedirectRequest, Refusal, Timestamp,
};
use signpost_port_contracts::samples;

use crate::world::{World, create_as, draft, page_draft, refusal};

fn url(text: &str) -> VisitedUrl {
    VisitedUrl::parse(text).unwrap()
}

async fn by_url(world: &World, text: &str) -> Explanation {
    explain::by_url(&world.app, &world.caller().await, &url(text), VisitFacts::default()).await.unwrap()
}

async fn by_id(world: &World, link: &Redirect, facts: VisitFacts) -> Explanation {
    explain::by_id(&world.app, &world.caller().await, link.id.into(), facts).await.unwrap()
}

/// The links whose visits were explained.
fn asked(world: &World) -> Vec<LinkId> {
    world.memory.explainer.asked().into_iter().map(|visit| visit.link).collect()
}

#[tokio::test]
async fn d136_a_link_is_explained_by_its_id_and_by_its_url() {
    let world = World::new().await;
    let link = world.redirect("sale").await;
    let page = world.create_page(page_draft("menu")).await.unwrap();
    let by_id = by_id(&world, &link, VisitFacts::default()).await;
    assert_eq!(by_id.outcome, VisitOutcome::Redirect);
    assert_eq!(by_url(&world, "https://go.example.com/sale").await, by_id);
    assert_eq!(by_url(&world, "https://go.example.com/menu").await, by_id);
    assert_eq!(asked(&world), [link.id.into(), link.id.into(), page.id.into()]);
    let first = world.memory.explainer.asked().swap_remove(0);
    assert_eq!((first.account, Some(first.address)), (world.account.id, link.placement.address()));
    assert!(first.is_active && first.is_domain_active);
}

/// The instant is the present unless the caller names one. A query that is given wins over that of the URL.
#[tokio::test]
async fn d136_what_is_not_given_comes_from_the_clock_and_the_url() {
    let world = World::new().await;
    let link = world.redirect("sale").await;
    world.memory.clock.set(samples::at(5_000));
    let query = |text: &str| VisitQuery::parse(text).ok();
    let caller = world.caller().await;
    let explained = async |text: &str, facts: VisitFacts| {
        explain::by_url(&world.app, &caller, &url(text), facts).await.unwrap();
        let visit = world.memory.explainer.asked().pop().unwrap();
        (visit.at, visit.facts.query)
    };
    let now: Timestamp = samples::at(5_000);
    let facts = VisitFacts::default;
    assert_eq!(explained("https://go.example.com/sale", facts()).await, (now, None));
    assert_eq!(explained("https://go.example.com/sale?a=1", facts()).await, (now, query("a=1")));
    let given = VisitFacts { query: query("b=2"), at: Some(samples::at(7)), ..facts() };
    assert_eq!(
        explained("https://go.example.com/sale?a=1", given.clone()).await,
        (samples::at(7), query("b=2"))
    );
    by_id(&world, &link, given).await;
    assert_eq!(world.memory.explainer.asked().pop().unwrap().at, samples::at(7));
}

/// D136, D2: a caller does not learn what is at other addresses, nor that an id belongs to another account.
#[tokio::test]
async fn d136_every_address_without_an_own_link_answers_alike() {
    let world = World::new().await;
    let stranger = world.stranger().await;
    let theirs = create_as(&world.app, &stranger, draft("theirs")).await.unwrap();
    world.redirect("sale").await;
    for text in [
        "https://go.example.com/theirs",
        "https://go.example.com/none",
        "https://go.example.com/",
        "https://go.example.com",
        "https://go.example.com/sale/qr.svg",
        "https://go.example.com/a/b",
        "https://links.example.net/sale",
        "https://links.example.net/",
        "https://example.com/",
        "https://[",
        "https://a b/",
        "http://",
    ] {
        assert_eq!(by_url(&world, text).await, Explanation::unknown(), "{text}");
    }
    assert_eq!(asked(&world), []);
    let caller = world.caller().await;
    for id in [theirs.id.into(), RedirectId::from_bytes([7; 16]).into(), IdReference::Malformed] {
        let found = explain::by_id(&world.app, &caller, id, VisitFacts::default()).await;
        assert_eq!(refusal(found), Refusal::RedirectNotFound);
    }
}

/// A lost link has no address that anybody could visit.
#[tokio::test]
async fn d136_a_lost_link_opens_nowhere() {
    let world = World::new().await;
    let lost = world.store_as_it_is(samples::redirect_at(samples::lost(Some("sale")))).await;
    let explanation = by_id(&world, &lost, VisitFacts::default()).await;
    assert_eq!((explanation.outcome, explanation.status), (VisitOutcome::NotFound, 404));
    assert_ne!(explanation, Explanation::unknown());
    assert_eq!(asked(&world), []);
}

#[tokio::test]
async fn d136_the_state_of_a_link_goes_along() {
    let world = World::new().await;
    let inactive = world.create(RedirectRequest { is_active: Some(false), ..draft("off") }).await.unwrap();
    by_id(&world, &inactive, VisitFacts::default()).await;
    assert!(!world.memory.explainer.asked()[0].is_active);
}

#[tokio::test]
async fn d80_an_explanation_needs_the_permission_to_read() {
    let world = World::new().await;
    let link = world.redirect("sale").await;
    let without = world.caller().await.limited_to(PermissionSet::from_iter([Permission::WriteLinks]));
    let facts = VisitFacts::default;
    let by_id = explain::by_id(&world.app, &without, IdReference::from(link.id), facts()).await;
    let by_url = explain::by_url(&world.app, &without, &url("https://go.example.com/sale"), facts()).await;
    for refused in [by_id, by_url] {
        assert_eq!(refusal(refused), Refusal::NotPermitted(Permission::Read));
    }
}

/// A node that serves no links yet, or whose store is away, says so.
#[tokio::test]
async fn d136_without_what_serves_visits_there_is_no_explanation() {
    let mut world = World::new().await;
    let link = world.redirect("sale").await;
    let caller = world.caller().await;
    world.memory.explainer.set_unavailable(true);
    let failed = explain::by_id(&world.app, &caller, IdReference::from(link.id), VisitFacts::default()).await;
    assert!(matches!(failed, Err(AppError::Store(_))));
    let app = Application { explainer: ExplainerSlot::default(), ..world.memory.application() };
    world.app = Arc::new(app);
    let failed = explain::by_id(&world.app, &caller, IdReference::from(link.id), VisitFacts::default()).await;
    assert!(matches!(failed, Err(AppError::Store(_))));
    let failed =
        explain::by_url(&world.app, &caller, &url("https://go.example.com/sale"), VisitFacts::default())
            .await;
    assert!(matches!(failed, Err(AppError::Store(_))));
}
