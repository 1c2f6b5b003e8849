//! The units of work of an update by filter, and what is left when one of them fails (D12, D124).

use std::time::Duration;

use signpost_app::AppError;
use signpost_app::idempotency::{Idempotency, KeyedRequest};
use signpost_app::links::{self, ListLinks, MatchingUpdate, UpdateMatching};
use signpost_app::ports::{RememberedAnswer, RequestFingerprint};
use signpost_domain::{
    IdempotencyKey, Link, LinkFilter, LinkKind, PageLimit, Placement, Redirect, RedirectPatch, Revision,
};
use signpost_memory::{Fault, Step};
use signpost_port_contracts::samples;

use crate::update_matching::{deactivating, of_all, replacing, run, tagging, try_run};
use crate::world::{World, assert_internal};

/// Stores this many redirects without addresses.
async fn with_links(count: usize) -> World {
    let world = World::new().await;
    let placement = Placement::Lost { slug: None };
    let links: Vec<Link> = (0..count)
        .map(|_| Redirect { placement: placement.clone(), ..samples::redirect("x") }.into())
        .collect();
    let mut work = world.app.store.begin().await.unwrap();
    work.insert_links(world.account.id, &links, u64::MAX).await.unwrap();
    work.commit().await.unwrap();
    world
}

/// The redirects that match the filter, newest first.
async fn stored(world: &World, filter: &LinkFilter) -> Vec<Link> {
    let (mut stored, mut after) = (vec![], None);
    loop {
        let (account, limit) = (world.account.id, PageLimit::OF_UNIT_OF_WORK);
        let page = world.app.store.links(account, LinkKind::Redirect, filter, limit, after).await.unwrap();
        stored.extend(page.items);
        after = page.next;
        if after.is_none() {
            return stored;
        }
    }
}

/// How many redirects are active.
async fn active(world: &World) -> usize {
    let filter = LinkFilter { is_active: Some(true), ..LinkFilter::default() };
    stored(world, &filter).await.len()
}

/// How often each redirect was changed, newest first.
async fn changes(world: &World) -> Vec<u64> {
    let all = stored(world, &LinkFilter::default()).await;
    all.iter().map(|link| link.revision.get() - Revision::FIRST.get()).collect()
}

#[tokio::test]
async fn d124_a_call_changes_all_links() {
    let world = with_links(2_500).await;
    let outcome = run(&world, of_all(deactivating())).await;
    assert_eq!((outcome.matched(), outcome.updated, outcome.next), (2_500, 2_500, None));
    assert_eq!(active(&world).await, 0);
}

#[tokio::test]
async fn d124_a_call_stops_after_ten_thousand_links() {
    let world = with_links(10_001).await;
    let request = UpdateMatching { is_dry_run: true, ..of_all(deactivating()) };
    let first = try_run(&world, request.clone()).await.unwrap();
    assert_eq!((first.updated, first.examples.len()), (10_000, 10));
    let links = ListLinks { after: first.next, ..ListLinks::default() };
    let second = try_run(&world, UpdateMatching { links, ..request }).await.unwrap();
    assert_eq!((second.updated, second.next), (1, None));
}

/// A link that is created between the calls is newer than those behind the cursor.
#[tokio::test]
async fn d124_a_cursor_leads_to_each_old_link_once_and_to_no_new_one() {
    let world = with_links(10_001).await;
    let first = try_run(&world, of_all(deactivating())).await.unwrap();
    assert_eq!((first.matched(), first.updated), (10_000, 10_000));
    world.memory.clock.advance(Duration::from_secs(1));
    world.redirect("new").await;
    let links = ListLinks { after: first.next, ..ListLinks::default() };
    let second = try_run(&world, UpdateMatching { links, ..of_all(deactivating()) }).await.unwrap();
    assert_eq!((second.matched(), second.updated, second.next), (1, 1, None));
    let changes = changes(&world).await;
    assert_eq!((changes.len(), changes[0]), (10_002, 0));
    assert!(changes[1..].iter().all(|times| *times == 1), "each old link changes once");
}

#[tokio::test]
async fn d124_at_most_a_hundred_refused_links_are_named() {
    let world = with_links(1_105).await;
    let patch = RedirectPatch { is_active: Some(false), ..replacing("https:", "ftp:") };
    let outcome = run(&world, of_all(patch)).await;
    assert_eq!((outcome.failed.len(), outcome.failed_more, outcome.matched()), (100, 1_005, 1_105));
    assert!(outcome.failed.is_sorted_by(|(newer, _), (older, _)| newer.to_bytes() > older.to_bytes()));
    assert_eq!(active(&world).await, 1_105);
}

/// It also ends the call, and the same request can be sent again.
#[tokio::test]
async fn d124_a_failed_unit_leaves_its_links_alone() {
    for step in [Step::Begin, Step::Write, Step::Commit] {
        let world = with_links(1_500).await;
        let first = ListLinks { is_active: Some(true), ..ListLinks::default() };
        world.memory.store.faults().fail_next(step, Fault::Unavailable, 1);
        let request = UpdateMatching { links: first, ..of_all(deactivating()) };
        assert_internal(try_run(&world, request.clone()).await);
        assert_eq!(active(&world).await, 1_500, "{step:?}");
        assert_eq!(try_run(&world, request).await.unwrap().updated, 1_500);
        assert_eq!(active(&world).await, 0);
    }
}

/// Links of an earlier unit stay changed, and the same request changes only the others.
#[tokio::test]
async fn d12_d124_a_call_that_failed_halfway_changes_each_link_once_when_sent_again() {
    let world = with_links(2_500).await;
    let (request, once) = (of_all(deactivating()), once_for("a"));
    world.memory.store.faults().pass_next(Step::Commit, 1);
    world.memory.store.faults().fail_next(Step::Commit, Fault::Unavailable, 1);
    assert_internal(run_once(&world, request.clone(), &once).await);
    assert_eq!(active(&world).await, 2_400, "a unit has a hundred links");
    let again = run_once(&world, request, &once).await.unwrap();
    assert_eq!((again.updated, again.unchanged, again.next), (2_400, 100, None));
    assert_eq!(changes(&world).await, vec![1; 2_500]);
}

#[tokio::test]
async fn d30_a_contended_unit_is_tried_again_as_a_whole() {
    let world = with_links(1_500).await;
    world.memory.store.faults().fail_next(Step::Commit, Fault::Contended, 4);
    let outcome = try_run(&world, of_all(tagging(&["new"], &[]))).await.unwrap();
    assert_eq!((outcome.updated, outcome.unchanged), (1_500, 0), "no link is counted twice");
    world.memory.store.faults().refuse_addresses(1);
    assert_eq!(try_run(&world, of_all(deactivating())).await.unwrap().updated, 1_500);
}

fn once_for(body: &str) -> KeyedRequest {
    KeyedRequest {
        key: IdempotencyKey::parse("once").unwrap(),
        fingerprint: RequestFingerprint::of("POST", "/v1/redirects/update-matching", body.as_bytes()),
        answer_to_refusal: |_| None,
    }
}

async fn run_once(
    world: &World,
    request: UpdateMatching,
    once: &KeyedRequest,
) -> Result<MatchingUpdate, AppError> {
    let answer = |outcome: &MatchingUpdate| {
        Some(RememberedAnswer { status: 200, location: None, body: outcome.updated.to_string() })
    };
    let idempotency = Idempotency::of_request(Some(once), answer);
    links::update_matching(&world.app, &world.caller().await, request, idempotency).await
}

/// Also the answer to a dry run, and one about no link.
#[tokio::test]
async fn d12_the_answer_to_a_call_is_remembered_with_its_last_unit() {
    for (count, is_dry_run) in [(1_500, false), (1_500, true), (0, false)] {
        let world = with_links(count).await;
        let (request, once) = (UpdateMatching { is_dry_run, ..of_all(deactivating()) }, once_for("a"));
        let outcome = run_once(&world, request.clone(), &once).await.unwrap();
        assert_eq!(outcome.updated, count);
        match run_once(&world, request, &once).await {
            Err(AppError::AnsweredBefore(answer)) => assert_eq!(answer.body, count.to_string()),
            other => panic!("not answered before: {other:?}"),
        }
    }
}

/// A request that is sent again after a failure runs again, because nothing was answered.
#[tokio::test]
async fn d12_a_call_that_failed_is_not_remembered() {
    let world = with_links(1_500).await;
    let once = once_for("a");
    world.memory.store.faults().fail_next(Step::Commit, Fault::Unavailable, 1);
    assert_internal(run_once(&world, of_all(deactivating()), &once).await);
    assert_eq!(run_once(&world, of_all(deactivating()), &once).await.unwrap().updated, 1_500);
}
