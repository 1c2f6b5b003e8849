//! Units of work that are given up, forgotten, or kept waiting by another program.

use std::sync::Arc;
use std::time::{Duration, Instant};

use signpost_app::ports::{AccountReads, InsertLinksError, Insertion, LinkReads, Store, StoreError};
use signpost_domain::LinkKind;
use signpost_port_contracts::samples;

use super::database::{Database, PLENTY, account, insert, insert_in, unavailable};

/// The limit of stores in which somebody is meant to run into it.
const SHORT: Duration = Duration::from_millis(200);

/// Contract D6: a call does not take longer than the limit, give or take a busy machine.
fn in_time(since: Instant) {
    assert!(since.elapsed() < SHORT + Duration::from_secs(10), "{:?}", since.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_is_aborted_in_the_middle_is_undone_and_blocks_nobody() {
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
        // The limit of this store is a minute: it is the channel's end that makes way.
        insert(&store, account, samples::redirect(&format!("whole-{round}"))).await;
    }
    assert_eq!(store.usage(account).await.unwrap().unwrap().links, 20);
}

/// Contract D6: the store undoes what is open too long, and says so afterwards.
#[tokio::test]
async fn d6_a_unit_of_work_that_idles_is_undone_and_makes_way() {
    let database = Database::new();
    let store = database.open_with_time_limit(SHORT);
    let account = account(&store).await;
    let mut idle = store.begin().await.unwrap();
    insert_in(idle.as_mut(), account, samples::redirect("held")).await;
    // The next one waits at most as long as the first has left, or is told to come again.
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
    assert!(unavailable(idle.commit().await).contains("only dropping it"));
    assert_eq!(store.usage(account).await.unwrap().unwrap().links, 1);
}

#[tokio::test]
async fn what_was_undone_for_its_age_cannot_be_committed() {
    let database = Database::new();
    let store = database.open_with_time_limit(SHORT);
    let account = account(&store).await;
    let mut idle = store.begin().await.unwrap();
    assert!(idle.delete_account(account).await.unwrap());
    // As soon as another has its turn, the first is over.
    while store.begin().await.is_err() {}
    assert!(unavailable(idle.commit().await).contains("has been undone"));
    assert!(store.account(account).await.unwrap().is_some());
}

/// A call that was given up may have been done or not, so nothing of the unit of work may be kept.
#[tokio::test]
async fn a_unit_of_work_with_a_call_given_up_cannot_be_committed() {
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
        // The writing thread may have answered in this very moment; then nothing was given up.
        if is_given_up {
            assert!(unavailable(work.commit().await).contains("only dropping it"));
            assert_eq!(store.link(account, links[0].id()).await.unwrap(), None);
            return;
        }
    }
    panic!("no call could be given up");
}

/// A call that was made but never begun is nothing.
#[tokio::test]
async fn a_call_that_was_never_polled_leaves_the_unit_of_work_usable() {
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

/// Contract D6: another program may hold the file's lock.
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
    // Readers go on.
    assert!(store.account(account).await.unwrap().is_some());
    drop(other_program);
    insert(&store, account, samples::redirect("after")).await;
}

#[tokio::test]
async fn a_short_transaction_of_another_program_is_waited_for() {
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
async fn readers_see_the_last_commit_and_nothing_of_an_open_unit_of_work() {
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
