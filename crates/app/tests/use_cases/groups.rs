//! Groups (contract "Group", D2, D15, D33).

use std::time::Duration;

use signpost_app::groups;
use signpost_app::idempotency::Idempotency;
use signpost_domain::{Change, Group, IdReference, Plan, PlanLimits, PlanResource, RedirectRequest, Refusal};
use signpost_memory::{Fault, Step};
use signpost_port_contracts::samples;

use crate::world::{World, at_once, draft, get_redirect, plan, refusal};

#[tokio::test]
async fn a_new_group_is_empty_and_may_repeat_a_name() {
    let world = World::new().await;
    let first = world.group("Spring").await;
    let second = world.group("Spring").await;
    assert!(second.id > first.id);
    let caller = world.caller().await;
    for group in [first, second] {
        assert_eq!(group, Group::create(group.id, samples::name("Spring"), samples::at(0)));
        assert_eq!(groups::get(&world.app, &caller, group.id.into()).await.unwrap(), group);
    }
    assert_eq!(world.usage().await.groups, 2);
}

fn three_groups() -> Plan {
    Plan { limits: PlanLimits { groups: 3, ..plan(&[]).limits }, ..plan(&[]) }
}

const THREE: Refusal = Refusal::PlanLimitReached { resource: PlanResource::Groups, limit: 3 };

#[tokio::test(flavor = "multi_thread")]
async fn d15_the_limit_on_groups_is_exact_under_concurrency() {
    let world = World::with_plan(three_groups()).await;
    let caller = world.caller().await;
    let outcomes = at_once(53, async |_| {
        groups::create(&world.app, &caller, samples::name("One of many"), Idempotency::disabled()).await
    });
    let (created, refused): (Vec<_>, Vec<_>) = outcomes.into_iter().partition(Result::is_ok);
    assert_eq!(created.len(), 3);
    assert!(refused.into_iter().all(|outcome| refusal(outcome) == THREE));
    assert_eq!(world.usage().await.groups, 3);
    let one = created.into_iter().flatten().next().unwrap();
    groups::delete(&world.app, &caller, one.id.into()).await.unwrap();
    world.group("A deletion makes room").await;
    assert_eq!(
        refusal(groups::create(&world.app, &caller, samples::name("For one"), Idempotency::disabled()).await),
        THREE
    );
}

#[tokio::test]
async fn d33_renaming_moves_updated_at_only_if_the_name_changes() {
    let world = World::new().await;
    let group = world.group("Spring").await;
    world.create(RedirectRequest { group: Change::Set(group.id.into()), ..draft("a") }).await.unwrap();
    let caller = world.caller().await;
    let rename = async |text| groups::rename(&world.app, &caller, group.id.into(), samples::name(text)).await;
    world.memory.clock.advance(Duration::from_secs(10));

    world.memory.store.faults().fail_next(Step::Commit, Fault::Unavailable, 1);
    let same = rename("Spring").await.unwrap();
    assert_eq!(same, Group { redirects_count: 1, ..group.clone() });
    assert_eq!(world.memory.store.faults().outstanding(), 1, "nothing was committed");
    assert!(rename("Summer").await.is_err());

    let renamed = rename("Summer").await.unwrap();
    let expected = Group {
        name: samples::name("Summer"),
        updated_at: samples::at(10_000),
        redirects_count: 1,
        ..group.clone()
    };
    assert_eq!(renamed, expected);
    assert_eq!(groups::get(&world.app, &caller, group.id.into()).await.unwrap(), expected);
}

/// Deleting a group keeps its links; they become ungrouped, which is a change of theirs (D33).
#[tokio::test]
async fn deleting_a_group_keeps_its_links() {
    let world = World::new().await;
    let group = world.group("Spring").await;
    let inside =
        world.create(RedirectRequest { group: Change::Set(group.id.into()), ..draft("in") }).await.unwrap();
    let outside = world.redirect("out").await;
    let caller = world.caller().await;
    world.memory.clock.advance(Duration::from_secs(10));
    assert_eq!(groups::delete(&world.app, &caller, group.id.into()).await.unwrap(), group.id);
    let ungrouped = get_redirect(&world.app, &caller, inside.id.into()).await.unwrap();
    assert_eq!((ungrouped.group_id, ungrouped.updated_at), (None, samples::at(10_000)));
    assert_eq!(world.stored(outside.id).await, Some(outside));
    assert_eq!(refusal(groups::get(&world.app, &caller, group.id.into()).await), Refusal::GroupNotFound);
    let usage = world.usage().await;
    assert_eq!((usage.links, usage.groups), (2, 0));
}

/// Unknown, malformed and foreign ids get the same answer.
#[tokio::test]
async fn d2_missing_and_foreign_groups_are_not_found() {
    let world = World::new().await;
    let group = world.group("Mine").await;
    let stranger = world.stranger().await;
    for id in [IdReference::Malformed, samples::id().into(), group.id.into()] {
        let renamed = groups::rename(&world.app, &stranger, id, samples::name("Stolen")).await;
        assert_eq!(refusal(groups::get(&world.app, &stranger, id).await), Refusal::GroupNotFound);
        assert_eq!(refusal(renamed), Refusal::GroupNotFound);
        assert_eq!(refusal(groups::delete(&world.app, &stranger, id).await), Refusal::GroupNotFound);
    }
    assert_eq!(groups::get(&world.app, &world.caller().await, group.id.into()).await.unwrap(), group);
}
