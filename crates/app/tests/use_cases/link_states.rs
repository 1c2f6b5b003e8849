//! Lists of links by their state, and changes of such lists (D126, D128).

use std::time::Duration;

use signpost_app::links::{self, ListLinks, UpdateMatching};
use signpost_domain::{
    Change, LandingRequest, LifeRequest, Link, LinkId, LinkState, LinkStates, PageLimit, RedirectPatch,
    RedirectRequest, Timestamp,
};
use signpost_port_contracts::samples;

use crate::update_matching::{of_all, run, tagging};
use crate::world::{World, draft, list_redirects, page_draft};

fn of(states: &[LinkState]) -> ListLinks {
    ListLinks { states: LinkStates::new(states.iter().copied()), ..ListLinks::default() }
}

/// A redirect that starts so long from now.
async fn starting_in(world: &World, slug: &str, wait: Duration) -> Link {
    let starts_at = Change::Set(world.app.clock.now().plus(wait));
    let life = LifeRequest { starts_at, ..LifeRequest::default() };
    world.create(RedirectRequest { life, ..draft(slug) }).await.unwrap().into_any()
}

fn ids(links: &[Link]) -> Vec<LinkId> {
    links.iter().map(Link::id).collect()
}

#[tokio::test]
async fn d126_a_list_has_the_states_at_the_instant_of_the_request() {
    let world = World::new().await;
    let always = world.redirect("always").await.into_any();
    world.memory.clock.advance(Duration::from_millis(1));
    let later = starting_in(&world, "later", Duration::from_secs(5)).await;
    let listed = async |states: &[LinkState]| {
        let page = list_redirects(&world.app, &world.caller().await, of(states)).await.unwrap();
        page.items.iter().map(|redirect| redirect.id.into()).collect::<Vec<LinkId>>()
    };
    let active = [LinkState::Active];
    assert_eq!(listed(&[LinkState::Scheduled]).await, [later.id()]);
    assert_eq!(listed(&active).await, [always.id()]);
    assert_eq!(listed(&[LinkState::Active, LinkState::Scheduled]).await, [later.id(), always.id()]);
    world.memory.clock.advance(Duration::from_millis(4_999));
    assert_eq!(listed(&active).await, [always.id()]);
    world.memory.clock.advance(Duration::from_millis(1));
    assert_eq!(listed(&active).await, [later.id(), always.id()]);
    assert_eq!(listed(&[LinkState::Scheduled, LinkState::Expired]).await, []);
}

/// The caller names the instant, so that it can show the links as they were chosen.
#[tokio::test]
async fn d126_both_kinds_are_listed_at_one_instant() {
    let world = World::new().await;
    let off = LandingRequest { is_active: Some(false), ..page_draft("menu") };
    let page = world.create_page(off).await.unwrap().into_any();
    world.memory.clock.advance(Duration::from_millis(1));
    let later = starting_in(&world, "later", Duration::from_secs(5)).await;
    let caller = world.caller().await;
    let states = [LinkState::Inactive, LinkState::Scheduled];
    let now = world.app.clock.now();
    for (at, expected) in [
        (now, vec![later.id(), page.id()]),
        (now.plus(Duration::from_secs(5)), vec![page.id()]),
        (Timestamp::EPOCH, vec![later.id(), page.id()]),
    ] {
        let found = links::list_all(&world.app, &caller, of(&states), at).await.unwrap();
        assert_eq!(ids(&found.items), expected, "{at}");
        let in_turn = ListLinks { limit: PageLimit::new(1).unwrap(), ..of(&states) };
        let first = links::list_all(&world.app, &caller, in_turn, at).await.unwrap();
        assert_eq!((ids(&first.items), first.next.is_some()), (vec![expected[0]], expected.len() > 1));
    }
}

#[tokio::test]
async fn d124_links_of_some_states_change() {
    let world = World::new().await;
    let active = world.redirect("active").await;
    let off = RedirectRequest { is_active: Some(false), ..draft("off") };
    let off = world.create(off).await.unwrap();
    let later = starting_in(&world, "later", Duration::from_secs(5)).await;
    let lost = world.store_as_it_is(samples::redirect_at(samples::lost(Some("lost")))).await;
    let request = |states: &[LinkState], patch| UpdateMatching { links: of(states), ..of_all(patch) };
    let outcome =
        run(&world, request(&[LinkState::Lost, LinkState::Scheduled], tagging(&["seen"], &[]))).await;
    assert_eq!((outcome.matched(), outcome.updated), (2, 2));
    for (id, is_tagged) in
        [(active.id.into(), false), (off.id.into(), false), (later.id(), true), (LinkId::from(lost.id), true)]
    {
        let stored = world.app.store.link(world.account.id, id).await.unwrap().unwrap();
        assert_eq!(!stored.tags.is_empty(), is_tagged, "{id}");
    }
    // A patch that changes the state finds each link once.
    let starting = RedirectPatch {
        life: LifeRequest { starts_at: Change::Clear, ..LifeRequest::default() },
        ..RedirectPatch::default()
    };
    let outcome = run(&world, request(&[LinkState::Scheduled], starting.clone())).await;
    assert_eq!((outcome.matched(), outcome.updated), (1, 1));
    let outcome = run(&world, request(&[LinkState::Scheduled], starting)).await;
    assert_eq!(outcome.matched(), 0);
}
