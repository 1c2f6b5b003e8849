//! The contract of [`ClickTables`]: what the shared code above a store's tables of clicks relies on.

use std::any::Any;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use signpost_app::ports::{Appended, ClickStore, EncodedClicks, Upkeep};
use signpost_click_store::{
    Applied, BatchHead, BatchKey, BatchSelection, ClickChange, ClickTables, DayChange, DayEffect, Reading,
    Replacement,
};
use signpost_clicks::pack_batches;
use signpost_domain::AccountId;
use signpost_domain::analytics::{ClickSource, UtcDay};

use crate::click_samples::{ClickedLink, at};
use crate::clicks::ClickFixture;
use crate::samples;

/// A click store with its tables.
pub trait ClickTablesFixture: ClickFixture {
    /// The tables of the store.
    fn tables(&self) -> Arc<dyn ClickTables>;
}

/// Opens a fresh store.
type Opening = Pin<Box<dyn Future<Output = Opened>>>;
type Case = fn(Opening) -> Pin<Box<dyn Future<Output = ()>>>;

macro_rules! table {
    (() $($module:ident { $($case:ident)* })*) => {
        const CASES: &[(&str, &str, Case)] =
            &[$($((stringify!($module), stringify!($case), |opening| {
                Box::pin(async { $case(opening.await).await })
            }),)*)*];
    };
}

/// Passes the list of cases to another macro, after that macro's own arguments.
#[doc(hidden)]
#[macro_export]
macro_rules! __click_tables_cases {
    ([$($callback:tt)*] $arguments:tt) => {
        $($callback)* ! { $arguments
            reading {
                r46_waiting_batches_are_found_by_their_accounts
                a_malformed_batch_is_found_by_every_account
                a_snapshot_does_not_change
                r46_held_long_readings_delay_no_others
            }
            changing {
                d51_a_change_is_applied_once
                d51_a_change_of_another_version_is_outdated
                r36_a_change_with_clicks_of_a_deleted_account_is_outdated
            }
        }
    };
}

crate::__click_tables_cases! { [table] () }

/// Not generic, as `crate::run::find` asks.
fn find(module: &str, case: &str) -> Case {
    crate::run::find(CASES, module, case)
}

/// Runs one case; [`click_tables_contract!`](crate::click_tables_contract) makes a test of each.
#[doc(hidden)]
pub fn run<F, O>(module: &str, case: &str, open: impl Fn() -> O + 'static)
where
    F: ClickTablesFixture,
    O: Future<Output = F> + 'static,
{
    let opening = async move { Opened::new(open().await) };
    crate::run::run(find(module, case)(Box::pin(opening)));
}

/// Makes a test of every case of the contract of a store's tables of clicks. The argument names a function in scope,
/// `async fn() -> impl ClickTablesFixture`; see [`ClickTablesFixture`](crate::click_tables::ClickTablesFixture).
#[macro_export]
macro_rules! click_tables_contract {
    ($open:ident) => {
        mod click_tables {
            $crate::__click_tables_cases! { [$crate::__tests] ($crate::click_tables::run, $open) }
        }
    };
}

struct Opened {
    tables: Arc<dyn ClickTables>,
    clicks: Arc<dyn ClickStore>,
    _fixture: Box<dyn Any>,
}

impl Opened {
    fn new(fixture: impl ClickTablesFixture) -> Self {
        Self { tables: fixture.tables(), clicks: fixture.clicks(), _fixture: Box::new(fixture) }
    }

    async fn append(&self, batch: &EncodedClicks) {
        assert_eq!(self.clicks.append(batch).await.unwrap(), Appended::Now);
    }

    async fn waiting(&self, account: Option<AccountId>) -> Vec<BatchHead> {
        let selection = BatchSelection { account, ..BatchSelection::ALL };
        let mut snapshot = self.tables.snapshot(Reading::ShortQuestion, soon()).await.unwrap();
        snapshot.waiting_batches(selection, usize::MAX).await.unwrap()
    }

    /// A change that packs all waiting batches, for days without clicks.
    async fn packing(&self) -> ClickChange {
        let taken: Vec<BatchKey> = self.waiting(None).await.into_iter().map(|head| head.key).collect();
        let mut snapshot = self.tables.snapshot(Reading::Upkeep, soon()).await.unwrap();
        let data = snapshot.batch_data(&taken).await.unwrap();
        let segments = pack_batches(data.iter().map(|(_, data)| data.as_slice())).segments;
        let day = |segment: signpost_clicks::PackedSegment| DayChange {
            account: segment.account,
            day: segment.day,
            version: None,
            effect: DayEffect::NewClicks(Replacement { removed: Vec::new(), added: vec![segment] }),
        };
        ClickChange { taken, unreadable: Vec::new(), days: segments.into_iter().map(day).collect() }
    }

    async fn apply(&self, change: ClickChange) -> Applied {
        self.tables.apply(change, soon()).await.unwrap()
    }

    /// The number of packed segments of the account's day.
    async fn segments(&self, account: AccountId) -> usize {
        let mut snapshot = self.tables.snapshot(Reading::ShortQuestion, soon()).await.unwrap();
        snapshot.segments(&[(account, UtcDay::of(at(0)))], None).await.unwrap().len()
    }
}

fn soon() -> Instant {
    Instant::now() + Duration::from_mins(1)
}

fn of_source(source: u8, batch: EncodedClicks) -> EncodedClicks {
    EncodedClicks { source: ClickSource([source; 16]), ..batch }
}

/// A question of one account must not read what waits for others.
async fn r46_waiting_batches_are_found_by_their_accounts(opened: Opened) {
    let (one, other) = (ClickedLink::new(), ClickedLink::new());
    opened.append(&of_source(1, one.batch(1))).await;
    for number in 1..=3 {
        opened.append(&of_source(2, other.batch(number))).await;
    }
    assert_eq!(opened.waiting(Some(one.account)).await.len(), 1);
    assert_eq!(opened.waiting(Some(other.account)).await.len(), 3);
    assert_eq!(opened.waiting(Some(samples::id())).await, []);
    assert_eq!(opened.waiting(None).await.len(), 4);
}

async fn a_malformed_batch_is_found_by_every_account(opened: Opened) {
    let clicked = ClickedLink::new();
    opened.append(&EncodedClicks { segment: vec![7; 100], ..clicked.batch(1) }).await;
    for account in [clicked.account, samples::id()] {
        assert_eq!(opened.waiting(Some(account)).await.len(), 1);
    }
}

async fn a_snapshot_does_not_change(opened: Opened) {
    let clicked = ClickedLink::new();
    opened.append(&clicked.batch(1)).await;
    let mut snapshot = opened.tables.snapshot(Reading::LongQuestion, soon()).await.unwrap();
    let before = snapshot.waiting_batches(BatchSelection::ALL, usize::MAX).await.unwrap();
    opened.append(&clicked.batch(2)).await;
    let change = opened.packing().await;
    assert_eq!(opened.apply(change).await, Applied::Whole);
    assert_eq!(snapshot.waiting_batches(BatchSelection::ALL, usize::MAX).await.unwrap(), before);
    let keys: Vec<BatchKey> = before.iter().map(|head| head.key).collect();
    assert_eq!(snapshot.batch_data(&keys).await.unwrap(), [(keys[0], clicked.batch(1).segment)]);
    assert_eq!(snapshot.segments(&[(clicked.account, UtcDay::of(at(0)))], None).await.unwrap(), []);
}

/// One account's large reports take every turn of their kind.
async fn r46_held_long_readings_delay_no_others(opened: Opened) {
    let clicked = ClickedLink::new();
    let mut held = Vec::new();
    loop {
        let begun = opened.tables.snapshot(Reading::LongQuestion, Instant::now() + Duration::from_millis(50));
        let Ok(snapshot) = begun.await else { break };
        held.push(snapshot);
    }
    assert!(!held.is_empty());
    for reading in [Reading::ShortQuestion, Reading::RecentClicks, Reading::Upkeep] {
        let mut snapshot = opened.tables.snapshot(reading, soon()).await.unwrap();
        assert_eq!(snapshot.waiting_batches(BatchSelection::ALL, 1).await.unwrap(), []);
    }
    opened.append(&clicked.batch(1)).await;
    assert_eq!(opened.clicks.pack(at(3_600_000)).await.unwrap().upkeep, Upkeep::More);
}

async fn d51_a_change_is_applied_once(opened: Opened) {
    let clicked = ClickedLink::new();
    opened.append(&clicked.batch(1)).await;
    let (change, same) = (opened.packing().await, opened.packing().await);
    assert_eq!(opened.apply(change).await, Applied::Whole);
    assert_eq!(opened.waiting(None).await, []);
    assert_eq!(opened.segments(clicked.account).await, 1);
    // Another node computed the same change at the same time.
    assert_eq!(opened.apply(same).await, Applied::Outdated);
    assert_eq!(opened.segments(clicked.account).await, 1);
}

async fn d51_a_change_of_another_version_is_outdated(opened: Opened) {
    let clicked = ClickedLink::new();
    opened.append(&clicked.batch(1)).await;
    let change = opened.packing().await;
    assert_eq!(opened.apply(change).await, Applied::Whole);
    opened.append(&clicked.batch(2)).await;
    // It rests on a day without clicks, and the day has some by now.
    let change = opened.packing().await;
    assert_eq!(opened.apply(change).await, Applied::Outdated);
    assert_eq!(opened.waiting(None).await.len(), 1);
    assert_eq!(opened.segments(clicked.account).await, 1);
}

async fn r36_a_change_with_clicks_of_a_deleted_account_is_outdated(opened: Opened) {
    let clicked = ClickedLink::new();
    opened.append(&clicked.batch(1)).await;
    let change = opened.packing().await;
    while opened.clicks.forget_clicks(clicked.account, None).await.unwrap() == Upkeep::More {}
    assert_eq!(opened.apply(change).await, Applied::Outdated);
    assert_eq!(opened.waiting(None).await.len(), 1);
    let packed = opened.clicks.pack(at(3_600_000)).await.unwrap();
    assert_eq!(packed.dropped, 1_000);
    assert_eq!(opened.waiting(None).await, []);
    assert_eq!(opened.segments(clicked.account).await, 0);
}
