//! A killed process keeps every commit that it has reported, and leaves nothing half done.

use signpost_app::ports::{AccountReads, LinkReads, Store};
use signpost_domain::Redirect;
use signpost_port_contracts::samples;

use super::database::{Database, insert_in};
use super::processes::{Other, Place, numbered};

const ROUNDS: u128 = 12;

#[tokio::test]
async fn reported_commits_survive_a_kill_and_counters_agree() {
    let database = Database::new();
    let place = Place::new(&database.open()).await;
    let account = place.account;
    let mut last = 0;
    for round in 1..=ROUNDS {
        let mut other = Other::start(&database, place, last + 1, 1_000_000);
        // Killed after this many commits, whatever it is doing then.
        for _ in 0..round * 3 {
            last = other.next_committed().expect("the process ended before it was killed");
        }
        other.child.kill().unwrap();
        while let Some(number) = other.next_committed() {
            last = number;
        }
        assert!(!other.ended_well());

        let store = database.open();
        let usage = store.usage(account).await.unwrap().unwrap();
        // One more may have been committed without being reported.
        let next = store.link(account, numbered(last + 1).id.into()).await.unwrap();
        let there = last + u128::from(next.is_some());
        assert_eq!(u128::from(usage.links), there);
        for number in 1..=there {
            assert!(
                store.link(account, numbered(number).id.into()).await.unwrap().is_some(),
                "number {number}"
            );
        }
        last = there;
        drop(store);
        is_consistent(&database);
    }
}

/// The same, with an open unit of work in this process: the lock of a dead process is released, and that of a living one
/// stays.
#[tokio::test]
async fn kill_does_not_affect_a_living_process() {
    let database = Database::new();
    let store = database.open();
    let place = Place::new(&store).await;
    let mut other = Other::start(&database, place, 1, 1_000_000);
    assert!(other.next_committed().is_some());
    let mut work = store.begin().await.unwrap();
    let link = Redirect { group_id: Some(place.group), ..samples::redirect("ours") };
    insert_in(work.as_mut(), place.account, link.clone()).await;
    other.child.kill().unwrap();
    assert!(!other.ended_well());
    work.commit().await.unwrap();
    assert_eq!(store.link(place.account, link.id.into()).await.unwrap(), Some(link.into()));
    drop(store);
    is_consistent(&database);
}

fn is_consistent(database: &Database) {
    let damage = "SELECT count(*) AS number FROM pragma_integrity_check WHERE integrity_check <> 'ok'";
    assert_eq!(database.number(damage), 0);
    assert_eq!(database.number("SELECT count(*) AS number FROM pragma_foreign_key_check"), 0);
    let miscounted = "SELECT count(*) AS number FROM accounts WHERE \
        links_count <> (SELECT count(*) FROM links WHERE links.account_id = accounts.id) OR \
        groups_count <> (SELECT count(*) FROM groups WHERE groups.account_id = accounts.id)";
    assert_eq!(database.number(miscounted), 0);
    let miscounted = "SELECT count(*) AS number FROM groups WHERE redirects_count + landings_count <> \
        (SELECT count(*) FROM links WHERE links.account_id = groups.account_id AND links.group_id = groups.id)";
    assert_eq!(database.number(miscounted), 0);
}
