//! Reporting the link at a taken address during concurrent units of work (D20).

use signpost_app::ports::{Insertion, Store as _};
use signpost_domain::{Link, LinkKind};
use signpost_port_contracts::samples;

use super::database::{PLENTY, account, migrated, open};

#[tokio::test]
async fn d20_link_deleted_after_the_conflict_is_not_named() {
    let database = migrated().await;
    let store = open(&database).await;
    let account = account(&store).await;
    let held = samples::link(LinkKind::Redirect, "sale");
    let mut work = store.begin().await.unwrap();
    work.insert_links(account, std::slice::from_ref(&held), PLENTY).await.unwrap();
    work.commit().await.unwrap();
    let late = samples::link(LinkKind::Redirect, "sale");
    let addresses: Vec<_> = late.placement.address().into_iter().collect();

    let mut loser = store.begin().await.unwrap();
    let inserted = loser.insert_links(account, std::slice::from_ref(&late), PLENTY).await.unwrap();
    assert_eq!(inserted, [Insertion::AddressTaken]);
    let named = loser.links_at(account, &addresses).await.unwrap();
    assert_eq!(named, [(addresses[0].clone(), Link::id(&held))]);
    drop(loser);

    let mut loser = store.begin().await.unwrap();
    let inserted = loser.insert_links(account, std::slice::from_ref(&late), PLENTY).await.unwrap();
    assert_eq!(inserted, [Insertion::AddressTaken]);
    delete_directly(&database, &held);
    assert_eq!(loser.links_at(account, &addresses).await.unwrap(), []);
}

/// Without the counters, whose row the other unit of work has locked.
fn delete_directly(database: &signpost_test_servers::postgres::PostgresDatabase, link: &Link) {
    let id = link.id().to_bytes().map(|byte| format!("{byte:02x}")).concat();
    database.run(&format!("DELETE FROM links WHERE id = '{id}'"));
}
