//! Updating redirects (contract "PATCH /v1/redirects/{id}", D15, D33).

use std::time::Duration;

use signpost_app::idempotency::Idempotency;
use signpost_app::{groups, links};
use signpost_domain::{
    Change, CountryCode, GeoBlocklist, IdReference, Precondition, Redirect, RedirectContent, RedirectRequest,
    Refusal, Submitted,
};
use signpost_memory::{Fault, Step};
use signpost_port_contracts::samples;

use crate::world::{World, at_once, draft, refusal};

const LATER: Duration = Duration::from_secs(10);

fn blocks(code: &str) -> GeoBlocklist {
    GeoBlocklist::new(vec![CountryCode::parse(code).unwrap()])
}

#[tokio::test]
async fn d33_an_update_that_changes_nothing_writes_nothing() {
    let world = World::new().await;
    let group = world.group("Spring").await;
    let draft = RedirectRequest {
        note: Change::Set(samples::note("note")),
        group: Change::Set(group.id.into()),
        ..draft("sale")
    }
    .with(|content| content.geo_blocklist = Change::Set(blocks("DE")));
    let link = world.create(draft).await.unwrap();
    world.memory.clock.advance(LATER);
    world.memory.store.faults().fail_next(Step::Commit, Fault::Unavailable, 1);
    let same = RedirectRequest {
        name: Some(link.name.clone()),
        slug: Change::Set(samples::slug("sale")),
        note: Change::Set(samples::note("note")),
        domain: Change::Clear,
        group: Change::Set(group.id.into()),
        is_active: Some(true),
        ..RedirectRequest::default()
    }
    .with(|content| {
        content.target_url = Some(link.content.target_url.clone());
        content.antibot_enabled = Some(false);
        content.geo_blocklist = Change::Set(blocks("DE"));
        content.pixels = Change::Clear;
    });
    for patch in [RedirectRequest::default(), same] {
        assert_eq!(world.update(link.id, patch).await.unwrap(), link);
        assert_eq!(world.stored(link.id).await.as_ref(), Some(&link));
    }
    assert_eq!(world.memory.store.faults().outstanding(), 1, "nothing was committed");
}

/// Unknown, malformed and foreign ids get the same answer.
#[tokio::test]
async fn d2_missing_and_foreign_redirects_are_not_found() {
    let world = World::new().await;
    let link = world.redirect("mine").await;
    let stranger = world.stranger().await;
    for id in [IdReference::Malformed, samples::id().into(), link.id.into()] {
        let patch = RedirectRequest { name: Some(samples::name("Stolen")), ..RedirectRequest::default() };
        let outcome = links::update::<RedirectContent>(
            &world.app,
            &stranger,
            id,
            Submitted::valid(patch),
            &Precondition::None,
        )
        .await;
        assert_eq!(refusal(outcome), Refusal::RedirectNotFound);
    }
    assert_eq!(world.stored(link.id).await, Some(link));
}

#[tokio::test]
async fn d6_missing_and_foreign_groups_are_not_found() {
    let world = World::new().await;
    let link = world.redirect("mine").await;
    let stranger = world.stranger().await;
    let foreign = groups::create(&world.app, &stranger, samples::name("Theirs"), Idempotency::disabled())
        .await
        .unwrap();
    for group in [IdReference::Malformed, samples::id().into(), foreign.id.into()] {
        let patch = RedirectRequest {
            group: Change::Set(group),
            name: Some(samples::name("Renamed")),
            ..RedirectRequest::default()
        };
        assert_eq!(refusal(world.update(link.id, patch).await), Refusal::GroupNotFound);
        let draft = RedirectRequest { group: Change::Set(group), ..draft("new") };
        assert_eq!(refusal(world.create(draft).await), Refusal::GroupNotFound);
    }
    assert_eq!(world.stored(link.id).await, Some(link));
    assert_eq!(world.usage().await.links, 1);
}

/// Each update starts from the result of the update before it.
#[tokio::test(flavor = "multi_thread")]
async fn no_update_is_lost() {
    let world = World::new().await;
    let link = world.redirect("start").await;
    let caller = world.caller().await;
    let nothing = RedirectRequest::default;
    let patches = [
        RedirectRequest { name: Some(samples::name("New")), ..nothing() },
        nothing().with(|content| content.target_url = Some(samples::target("https://a.example"))),
        RedirectRequest { slug: Change::Set(samples::slug("end")), ..nothing() },
        RedirectRequest { note: Change::Set(samples::note("x")), ..nothing() },
        RedirectRequest { is_active: Some(false), ..nothing() },
        nothing().with(|content| content.antibot_enabled = Some(true)),
        nothing().with(|content| content.geo_blocklist = Change::Set(blocks("AT"))),
    ];
    at_once(patches.len(), async |number| {
        let command = Submitted::valid(patches[number].clone());
        links::update::<RedirectContent>(&world.app, &caller, link.id.into(), command, &Precondition::None)
            .await
            .unwrap();
    });
    let expected = Redirect {
        name: samples::name("New"),
        placement: samples::on_system("end"),
        note: Some(samples::note("x")),
        is_active: false,
        revision: patches.iter().fold(link.revision, |revision, _| revision.next()),
        ..link
    }
    .with(|content| {
        content.target_url = samples::target("https://a.example");
        content.antibot_enabled = true;
        content.geo_blocklist = blocks("AT");
    });
    assert_eq!(world.stored(link.id).await, Some(expected));
}
