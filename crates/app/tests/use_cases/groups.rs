//! Groups (contract "Group", D15, D33), and deletions of more links than fit in one unit of work (D60).

use std::time::Duration;

use signpost_app::{Operator, accounts, groups};
use signpost_domain::{
    Change, Group, GroupId, Plan, PlanLimits, PlanResource, Precondition, Redirect, RedirectRequest, Refusal,
};
use signpost_memory::{Fault, Step};
use signpost_port_contracts::samples;

use crate::world::{World, draft, group_of, plan, refusal};

/// More links than fit in one unit of work.
const MANY: u32 = 2_500;

/// Stores many links of the account.
async fn fill(world: &World, group_id: Option<GroupId>) -> Vec<Redirect> {
    let link = |number| Redirect { group_id, ..samples::redirect(&format!("link-{number}")) };
    let links: Vec<Redirect> = (0..MANY).map(link).collect();
    let mut work = world.app.store.begin().await.unwrap();
    for link in &links {
        work.insert_links(world.account.id, &[link.clone().into()], 1_000_000).await.unwrap();
    }
    work.commit().await.unwrap();
    links
}

#[tokio::test]
async fn d15_groups_are_limited_by_the_plan() {
    let limits = PlanLimits { groups: 1, ..plan(&[]).limits };
    let world = World::with_plan(Plan { limits, ..plan(&[]) }).await;
    world.group("Spring").await;
    let reached = Refusal::PlanLimitReached { resource: PlanResource::Groups, limit: 1 };
    assert_eq!(refusal(group_of(&world.app, &world.caller().await, "Summer").await), reached);
}

#[tokio::test]
async fn d33_d120_renaming_moves_updated_at_and_revision_only_if_the_name_changes() {
    let world = World::new().await;
    let group = world.group("Spring").await;
    world.create(RedirectRequest { group: Change::Set(group.id.into()), ..draft("a") }).await.unwrap();
    let caller = world.caller().await;
    let rename = async |text| {
        groups::rename(&world.app, &caller, group.id.into(), Ok(samples::name(text)), &Precondition::None)
            .await
    };
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
        revision: group.revision.next(),
        ..group.clone()
    };
    assert_eq!(renamed, expected);
    assert_eq!(groups::get(&world.app, &caller, group.id.into()).await.unwrap(), expected);
}

/// There are more links than fit in one unit of work. They become ungrouped, which changes each of them (D33).
#[tokio::test]
async fn d33_deleting_a_group_with_many_links_keeps_them() {
    let world = World::new().await;
    let (group, outside) = (world.group("Large").await.id, world.redirect("outside").await);
    let inside = fill(&world, Some(group)).await;
    world.memory.clock.advance(Duration::from_secs(10));
    let caller = world.caller().await;
    assert_eq!(groups::delete(&world.app, &caller, group.into(), &Precondition::None).await.unwrap(), group);
    assert_eq!(refusal(groups::get(&world.app, &caller, group.into()).await), Refusal::GroupNotFound);
    for link in [inside.first(), inside.last()].into_iter().flatten() {
        let revision = link.revision.next();
        let expected = Redirect { group_id: None, updated_at: samples::at(10_000), revision, ..link.clone() };
        assert_eq!(world.stored(link.id).await, Some(expected));
    }
    assert_eq!(world.stored(outside.id).await, Some(outside));
    let usage = world.usage().await;
    assert_eq!((usage.links, usage.groups), (u64::from(MANY) + 1, 0));
}

#[tokio::test]
async fn d60_an_account_with_many_links_is_deleted_with_all_its_data() {
    let world = World::new().await;
    let links = fill(&world, None).await;
    accounts::delete(&world.app, &Operator::COMMAND, world.account.id).await.unwrap();
    assert_eq!(world.app.store.account(world.account.id).await.unwrap(), None);
    for link in [links.first(), links.last()].into_iter().flatten() {
        let address = link.placement.address().unwrap();
        assert_eq!(world.app.store.published_link(&address).await.unwrap(), None);
    }
}
