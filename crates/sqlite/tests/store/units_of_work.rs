//! Units of work that are abandoned, forgotten, or delayed by another program.

use std::time::Duration;

use signpost_app::ports::{
    AccountReads, InsertLinksError, Insertion, LinkReads, Store, StoreError, UnitOfWork,
};
use signpost_domain::{AccountId, LinkKind};
use signpost_port_contracts::samples;
use signpost_sqlite::SqliteStore;
use tokio::time::timeout;

use super::database::{AT_LAST, Database, PLENTY, account, unavailable};

/// The time limit of stores in which it is meant to be reached. On a busy machine any call may reach it, because it includes
/// waiting for the disk. So these tests repeat such calls, and use a second, patient store for everything else.
const SHORT: Duration = Duration::from_millis(200);

/// An open unit of work that has made a change.
async fn begun(
    store: &SqliteStore,
    change: impl AsyncFn(&mut dyn UnitOfWork) -> Result<(), InsertLinksError>,
) -> Box<dyn UnitOfWork> {
    loop {
        let attempt = async {
            let mut work = store.begin().await?;
            change(work.as_mut()).await?;
            Ok(work)
        };
        match attempt.await {
            Ok(work) => return work,
            Err(InsertLinksError::Store(StoreError::Unavailable(_))) => tokio::task::yield_now().await,
            Err(error) => panic!("{error:?}"),
        }
    }
}

/// Commits a link, however many attempts it takes.
async fn insert_at_last(store: &SqliteStore, account: AccountId, slug: &str) {
    let link = samples::redirect(slug);
    let attempts = async {
        loop {
            let work = begun(store, async |work| {
                let inserted = work.insert_links(account, &[link.clone().into()], PLENTY).await?;
                // A commit whose answer came too late may have taken effect, and then the address is taken.
                assert!([Insertion::Done, Insertion::AddressTaken].contains(&inserted[0]), "{inserted:?}");
                Ok(())
            });
            match work.await.commit().await {
                Ok(()) => return,
                Err(StoreError::Unavailable(_)) => tokio::task::yield_now().await,
                Err(error) => panic!("{error:?}"),
            }
        }
    };
    timeout(AT_LAST, attempts).await.expect("no unit of work can be committed");
}

/// D6: the store rolls back a unit of work that is open too long, and reports it afterwards.
#[tokio::test]
async fn d6_idle_unit_of_work_is_rolled_back_and_releases_the_writer() {
    let database = Database::new();
    let patient = database.open();
    let account = account(&patient).await;
    let store = database.open_with_time_limit(SHORT);
    let mut idle = begun(&store, async |work| {
        let inserted = work.insert_links(account, &[samples::redirect("held").into()], PLENTY).await?;
        assert_eq!(inserted, [Insertion::Done]);
        Ok(())
    })
    .await;
    // The next one waits at most for the rest of the first one's limit, or must be retried.
    insert_at_last(&store, account, "held").await;
    let late = idle.insert_links(account, &[samples::redirect("late").into()], PLENTY).await;
    assert!(matches!(late, Err(InsertLinksError::Store(StoreError::Unavailable(_)))), "{late:?}");
    assert!(unavailable(idle.commit().await).contains("it can only be dropped"));
    assert_eq!(patient.usage(account).await.unwrap().unwrap().links, 1);
}

#[tokio::test]
async fn unit_of_work_rolled_back_for_its_age_cannot_be_committed() {
    let database = Database::new();
    let patient = database.open();
    let account = account(&patient).await;
    let store = database.open_with_time_limit(SHORT);
    let idle = begun(&store, async |work| {
        assert!(work.delete_account(account).await?);
        Ok(())
    })
    .await;
    // When another one gets its turn, the first is over.
    let next = begun(&store, async |_| Ok(()));
    drop(timeout(AT_LAST, next).await.expect("the first is not over"));
    assert!(unavailable(idle.commit().await).contains("was rolled back"));
    assert!(patient.account(account).await.unwrap().is_some());
}

/// An abandoned call may or may not have taken effect, so the unit of work must not be committed.
#[tokio::test]
async fn unit_of_work_with_an_abandoned_call_cannot_be_committed() {
    let database = Database::new();
    let store = database.open();
    let account = account(&store).await;
    for attempt in 0..1_000 {
        let links = [samples::redirect(&format!("given-up-{attempt}")).into_any()];
        let mut work = store.begin().await.unwrap();
        let mut call = work.insert_links(account, &links, PLENTY);
        let context = &mut std::task::Context::from_waker(std::task::Waker::noop());
        let is_given_up = call.as_mut().poll(context).is_pending();
        drop(call);
        // The writing thread may have answered at this very moment; then no call was abandoned.
        if is_given_up {
            assert!(unavailable(work.commit().await).contains("it can only be dropped"));
            assert_eq!(store.link(account, links[0].id()).await.unwrap(), None);
            return;
        }
    }
    panic!("no call could be abandoned");
}

/// A call that was created but never polled has no effect.
#[tokio::test]
async fn unpolled_call_leaves_the_unit_of_work_usable() {
    let database = Database::new();
    let store = database.open();
    let account = account(&store).await;
    let mut work = store.begin().await.unwrap();
    let (unsaid, said) =
        (samples::link(LinkKind::Redirect, "unsaid"), samples::link(LinkKind::Redirect, "said"));
    drop(work.insert_links(account, &[unsaid], PLENTY));
    assert_eq!(work.insert_links(account, &[said], 1).await.unwrap(), [Insertion::Done]);
    work.commit().await.unwrap();
    assert_eq!(store.usage(account).await.unwrap().unwrap().links, 1);
}

/// D6: another program may hold the file's lock.
#[tokio::test]
async fn d6_waiting_for_another_programs_transaction_ends_at_the_limit() {
    let database = Database::new();
    let account = account(&database.open()).await;
    let store = database.open_with_time_limit(SHORT);
    let other_program = database.raw_holding_the_write_lock();
    for _ in 0..2 {
        let begun = timeout(AT_LAST, store.begin()).await.expect("it waits for the other program");
        unavailable(begun.map(drop));
    }
    // Reads continue.
    let reads = async {
        while !matches!(store.account(account).await, Ok(Some(_))) {
            tokio::task::yield_now().await;
        }
    };
    timeout(AT_LAST, reads).await.expect("a read waits for the other program");
    drop(other_program);
    insert_at_last(&store, account, "after").await;
}

#[tokio::test]
async fn writer_waits_for_a_short_transaction_of_another_program() {
    let database = Database::new();
    let store = database.open();
    let account = account(&store).await;
    for _ in 0..5 {
        let other_program = database.raw_holding_the_write_lock();
        let (work, ()) = tokio::join!(store.begin(), async {
            tokio::task::yield_now().await;
            drop(other_program);
        });
        let mut work = work.unwrap();
        assert!(work.set_plan(account, &samples::plan("free")).await.unwrap());
        work.commit().await.unwrap();
    }
}
