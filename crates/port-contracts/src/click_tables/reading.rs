//! Reading one moment.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use signpost_app::ports::{EncodedClicks, StoreError, Upkeep};
use signpost_click_store::{
    Applied, BatchKey, BatchSelection, ClickChange, DayChange, DayEffect, Reading, Replacement,
};
use signpost_clicks::{Digest, DigestScope, PackedSegment};
use signpost_domain::AccountId;
use signpost_domain::analytics::{Buckets, ClickSelection, LinkScope, Period, Question, UtcDay};

use super::observed::ObservedTables;
use super::{Opened, of_source, soon};
use crate::click_samples::{ClickedLink, at};
use crate::samples;

/// A question of one account must not read what waits for others.
pub(super) async fn r46_waiting_batches_are_found_by_their_accounts(opened: Opened) {
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

pub(super) async fn a_malformed_batch_is_found_by_every_account(opened: Opened) {
    let clicked = ClickedLink::new();
    opened.append(&EncodedClicks { segment: vec![7; 100], ..clicked.batch(1) }).await;
    for account in [clicked.account, samples::id()] {
        assert_eq!(opened.waiting(Some(account)).await.len(), 1);
    }
}

pub(super) async fn a_snapshot_does_not_change(opened: Opened) {
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
pub(super) async fn r46_held_long_readings_delay_no_others(opened: Opened) {
    let clicked = ClickedLink::new();
    // The first one may have to wait for a busy machine. The others end when there is no room for one more.
    let mut held = vec![opened.tables.snapshot(Reading::LongQuestion, soon()).await.unwrap()];
    loop {
        let begun =
            opened.tables.snapshot(Reading::LongQuestion, Instant::now() + Duration::from_millis(200));
        let Ok(snapshot) = begun.await else { break };
        held.push(snapshot);
    }
    for reading in [Reading::ShortQuestion, Reading::RecentClicks, Reading::ManyRecentClicks, Reading::Upkeep]
    {
        let mut snapshot = opened.tables.snapshot(reading, soon()).await.unwrap();
        assert_eq!(snapshot.waiting_batches(BatchSelection::ALL, 1).await.unwrap(), []);
    }
    opened.append(&clicked.batch(1)).await;
    assert_eq!(opened.clicks.pack(at(3_600_000)).await.unwrap().upkeep, Upkeep::More);
}

fn question(account: AccountId) -> Question {
    let day = UtcDay::of(at(0));
    let period = Period::new(day.first(), UtcDay::from_number(day.number() + 40).last()).unwrap();
    let selection = ClickSelection { account, scope: LinkScope::All, period, filters: Vec::new() };
    let buckets = Buckets::new(vec![period.first()]).unwrap();
    Question { selection, buckets, dimensions: Vec::new(), limit: 100 }
}

/// What one account's flood leaves waiting must not be read while others wait for the turn.
pub(super) async fn r46_a_short_attempt_reads_no_large_batches(opened: Opened) {
    let clicked = ClickedLink::new();
    // Every question finds a malformed batch, reads it, and does not count it.
    opened.append(&EncodedClicks { segment: vec![7; 600 * 1024], ..clicked.batch(1) }).await;
    let observed = ObservedTables::new(opened.tables.clone());
    let report = signpost_click_store::answer(&observed, &question(clicked.account), soon()).await.unwrap();
    assert_eq!(report.totals.clicks, 0);
    let read = observed.bytes_read();
    assert_eq!(read, BTreeMap::from([(Reading::ShortQuestion, 0), (Reading::LongQuestion, 600 * 1024)]));
    let observed = ObservedTables::new(opened.tables.clone());
    let links = [clicked.link];
    let recent =
        signpost_click_store::recent_clicks(&observed, clicked.account, &links, at(0)).await.unwrap();
    assert_eq!(recent[0].clicks, 0);
    let read = observed.bytes_read();
    assert_eq!(read, BTreeMap::from([(Reading::RecentClicks, 0), (Reading::ManyRecentClicks, 600 * 1024)]));
    // What is small is read at once.
    let small = ClickedLink::new();
    opened.append(&of_source(2, small.batch(1))).await;
    let change = opened.packing().await;
    assert_eq!(opened.apply(change).await, Applied::Whole);
    let observed = ObservedTables::new(opened.tables.clone());
    let report = signpost_click_store::answer(&observed, &question(small.account), soon()).await.unwrap();
    assert_eq!(report.totals.clicks, 1_000);
    let read: Vec<Reading> = observed.bytes_read().into_keys().collect();
    assert_eq!(read, [Reading::ShortQuestion]);
}

pub(super) async fn r46_a_short_attempt_reads_few_large_digests(opened: Opened) {
    const BYTES: usize = 300 * 1024;
    let large_from = UtcDay::from_number(UtcDay::of(at(0)).number() + 14);
    let account = samples::id();
    let link = ClickedLink::new().link;
    let days = (10..30).map(|number| UtcDay::from_number(UtcDay::of(at(0)).number() + number));
    for day in days {
        let change = |version, effect| ClickChange {
            days: vec![DayChange { account, day, version, effect }],
            ..ClickChange::default()
        };
        let segment = PackedSegment {
            account,
            day,
            first_link: link,
            last_link: link,
            clicks: 1,
            sealed: false,
            data: vec![7; 100],
        };
        let new = Replacement { removed: Vec::new(), added: vec![segment] };
        assert_eq!(opened.apply(change(None, DayEffect::NewSegments(new))).await, Applied::Whole);
        let version = opened.version(account, day).await;
        // The first days of the question have none, the next ones small ones.
        let bytes = if day < large_from { 100 } else { BYTES };
        let digest = Digest { scope: DigestScope::Account, data: vec![7; bytes] };
        let digested = DayEffect::Digested { digests: vec![digest], last_clicks: BTreeMap::new() };
        assert_eq!(opened.apply(change(version, digested)).await, Applied::Whole);
    }
    let observed = ObservedTables::new(opened.tables.clone());
    let answered = signpost_click_store::answer(&observed, &question(account), soon()).await;
    assert!(matches!(answered, Err(StoreError::Corrupt { table: "click_digests", .. })), "{answered:?}");
    let read = observed.bytes_read();
    assert_eq!(read.get(&Reading::ShortQuestion), Some(&(400 + 2 * BYTES)), "{read:?}");
}
