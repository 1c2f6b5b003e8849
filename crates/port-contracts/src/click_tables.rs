//! The contract of [`ClickTables`]: what the shared code above a store's tables of clicks relies on.

mod changing;
mod large_days;
mod observed;
mod reading;

use std::any::Any;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use signpost_app::ports::{Appended, ClickStore, EncodedClicks};
use signpost_click_store::{
    Applied, BatchHead, BatchKey, BatchSelection, ClickChange, ClickTables, DayChange, DayEffect, Reading,
    Replacement,
};
use signpost_clicks::{PackedSegment, pack_batches};
use signpost_domain::AccountId;
use signpost_domain::analytics::{ClickSource, UtcDay};

use self::changing::{
    d51_a_change_is_applied_once, d51_a_change_of_another_version_is_outdated,
    d51_a_day_that_changes_meanwhile_delays_no_other, d51_a_day_that_comes_back_has_another_version,
    d51_one_outdated_day_makes_the_whole_change_outdated,
    d51_sealing_moves_the_version_and_digesting_does_not,
    r36_a_change_with_clicks_of_a_deleted_account_is_outdated,
};
use self::large_days::{
    d51_a_large_day_that_changes_while_it_is_sorted_loses_no_click,
    r46_a_large_day_is_counted_and_exported_in_parts,
    r46_a_large_day_is_sorted_digested_and_finished_in_parts,
};
use self::reading::{
    a_malformed_batch_is_found_by_every_account, a_snapshot_does_not_change,
    r46_a_short_attempt_reads_few_large_digests, r46_a_short_attempt_reads_no_large_batches,
    r46_held_long_readings_delay_no_others, r46_waiting_batches_are_found_by_their_accounts,
};
use crate::click_samples::{ClickedLink, at};
use crate::clicks::ClickFixture;

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
                r46_a_short_attempt_reads_no_large_batches
                r46_a_short_attempt_reads_few_large_digests
            }
            large_days {
                r46_a_large_day_is_counted_and_exported_in_parts
                r46_a_large_day_is_sorted_digested_and_finished_in_parts
                d51_a_large_day_that_changes_while_it_is_sorted_loses_no_click
            }
            changing {
                d51_a_change_is_applied_once
                d51_a_change_of_another_version_is_outdated
                d51_sealing_moves_the_version_and_digesting_does_not
                d51_one_outdated_day_makes_the_whole_change_outdated
                d51_a_day_that_comes_back_has_another_version
                d51_a_day_that_changes_meanwhile_delays_no_other
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
        let day = |segment: PackedSegment| DayChange {
            account: segment.account,
            day: segment.day,
            version: None,
            effect: DayEffect::NewSegments(Replacement { removed: Vec::new(), added: vec![segment] }),
        };
        ClickChange { taken, unreadable: Vec::new(), days: segments.into_iter().map(day).collect() }
    }

    async fn apply(&self, change: ClickChange) -> Applied {
        self.tables.apply(change, soon()).await.unwrap()
    }

    /// Packs a click of a new account. Returns its account and day.
    async fn packed_day(&self) -> (AccountId, UtcDay) {
        let clicked = ClickedLink::new();
        let source = ClickSource(clicked.account.to_bytes());
        self.append(&EncodedClicks { source, ..clicked.batch(1) }).await;
        let change = self.packing().await;
        assert_eq!(self.apply(change).await, Applied::Whole);
        (clicked.account, UtcDay::of(at(0)))
    }

    async fn version(&self, account: AccountId, day: UtcDay) -> Option<i64> {
        let mut snapshot = self.tables.snapshot(Reading::Upkeep, soon()).await.unwrap();
        let versions = snapshot.versions(&[(account, day)]).await.unwrap();
        versions.into_iter().next().map(|day| day.version)
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
