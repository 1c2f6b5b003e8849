//! Units of work that are abandoned, forgotten, or delayed by another program.

use std::sync::Arc;
use std::time::{Duration, Instant};

use signpost_app::ports::{AccountReads, InsertLinksError, Insertion, LinkReads, Store, StoreError};
use signpost_domain::LinkKind;
use signpost_port_contracts::samples;

use super::database::{Database, PLENTY, account, insert, insert_in, unavailable};

/// The time limit of stores in which it is meant to be reached.
const SHORT: Duration = Duration::from_millis(200);

/// D6: a call takes no longer than the limit, with tolerance for a busy machine.
fn in_time(since: Instant) {
    assert!(since.elapsed() < SHORT + Duration::from_secs(10), "{:?}", since.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn aborted_task_is_rolled_back_and_blocks_no_other() {
    let database = Database::new();
    let store = Arc::new(database.open());
    let account = account(&store).await;
    for round in 0..20 {
        let (reached, is_reached) = tokio::sync::oneshot::channel();
        let task = tokio::spawn({
            let store = Arc::clone(&store);
            async move {
                let mut work = store.begin().await.unwrap();
                insert_in(work.as_mut(), account, samples::redirect("half")).await;
                reached.send(()).unwrap();
                std::future::pending::<()>().await;
                work.commit().await.unwrap();
            }
        });
        is_reached.await.unwrap();
        task.abort();
        // The limit of this store is a minute, so closing the channel is what releases the writer.
        insert(&store, account, samples::redirect(&format!("whole-{round}"))).await;
    }
    assert_eq!(store.usage(account).await.unwrap().unwrap().links, 20);
}

/// D6: the store rolls back a unit of work that is open too long, and reports it afterwards.
#[tokio::test]
async fn d6_idle_unit_of_work_is_rolled_back_and_releases_the_writer() {
    let database = Database::new();
    let store = database.open_with_time_limit(SHORT);
    let account = account(&store).await;
    let mut idle = store.begin().await.unwrap();
    insert_in(idle.as_mut(), account, samples::redirect("held")).await;
    // The next one waits at most for the rest of the first one's limit, or must be retried.
    let mut next = loop {
        match store.begin().await {
            Ok(work) => break work,
            Err(StoreError::Unavailable(_)) => {}
            Err(error) => panic!("{error}"),
        }
    };
    insert_in(next.as_mut(), account, samples::redirect("held")).await;
    next.commit().await.unwrap();
    let late = idle.insert_links(account, &[samples::redirect("late").into()], PLENTY).await;
    assert!(matches!(late, Err(InsertLinksError::Store(StoreError::Unavailable(_)))), "{late:?}");
    assert!(unavailable(idle.commit().await).contains("it can only be dropped"));
    assert_eq!(store.usage(account).await.unwrap().unwrap().links, 1);
}

#[tokio::test]
async fn unit_of_work_rolled_back_for_its_age_cannot_be_committed() {
    let database = Database::new();
    let store = database.open_with_time_limit(SHORT);
    let account = account(&store).await;
    let mut idle = store.begin().await.unwrap();
    assert!(idle.delete_account(account).await.unwrap());
    // When another one gets its turn, the first is over.
    while store.begin().await.is_err() {}
    assert!(unavailable(idle.commit().await).contains("was rolled back"));
    assert!(store.account(account).await.unwrap().is_some());
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
    let store = database.open_with_time_limit(SHORT);
    let account = account(&store).await;
    let other_program = database.raw_holding_the_write_lock();
    for _ in 0..2 {
        let since = Instant::now();
        unavailable(store.begin().await.map(drop));
        in_time(since);
    }
    // Reads continue.
    assert!(store.account(account).await.unwrap().is_some());
    drop(other_program);
    insert(&store, account, samples::redirect("after")).await;
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

#[tokio::test]
async fn readers_see_the_last_commit_and_no_open_unit_of_work() {
    let database = Database::new();
    let store = database.open();
    let account = account(&store).await;
    let link = samples::link(LinkKind::Landing, "link");
    let mut work = store.begin().await.unwrap();
    insert_in(work.as_mut(), account, link.clone()).await;
    assert_eq!(store.link(account, link.id()).await.unwrap(), None);
    work.commit().await.unwrap();
    assert_eq!(store.link(account, link.id()).await.unwrap(), Some(link));
}
