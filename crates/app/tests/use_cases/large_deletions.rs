//! Deletions of more links than fit in one unit of work.

use signpost_app::idempotency::Idempotency;
use signpost_app::{accounts, groups};
use signpost_domain::{Address, GroupId, IdReference, Redirect, Site};
use signpost_port_contracts::samples;

use crate::world::World;

const MANY: u32 = 2_500;

async fn fill(world: &World, group: Option<GroupId>) {
    let mut work = world.app.store.begin().await.unwrap();
    for number in 0..MANY {
        let link = Redirect { group_id: group, ..samples::redirect(&format!("link-{number}")) };
        work.insert_links(world.account.id, &[link.into()], 1_000_000).await.unwrap();
    }
    work.commit().await.unwrap();
}

#[tokio::test]
async fn a_group_with_many_links_is_deleted_and_its_links_stay() {
    let world = World::new().await;
    let caller = world.caller().await;
    let group = groups::create(&world.app, &caller, samples::name("Large"), Idempotency::disabled())
        .await
        .unwrap()
        .id;
    fill(&world, Some(group)).await;
    groups::delete(&world.app, &caller, IdReference::Id(group)).await.unwrap();
    assert_eq!(world.app.store.group(world.account.id, group).await.unwrap(), None);
    let usage = world.app.store.usage(world.account.id).await.unwrap().unwrap();
    assert_eq!((usage.links, usage.groups), (u64::from(MANY), 0));
    let address = Address { site: Site::System, slug: Some(samples::slug("link-0")) };
    assert!(world.app.store.published_link(&address).await.unwrap().is_some());
}

#[tokio::test]
async fn d60_an_account_with_many_links_is_deleted_with_all_its_data() {
    let world = World::new().await;
    fill(&world, None).await;
    accounts::delete(&world.app, world.account.id).await.unwrap();
    assert_eq!(world.app.store.account(world.account.id).await.unwrap(), None);
    for number in [0, MANY - 1] {
        let address = Address { site: Site::System, slug: Some(samples::slug(&format!("link-{number}"))) };
        assert_eq!(world.app.store.published_link(&address).await.unwrap(), None);
    }
}
