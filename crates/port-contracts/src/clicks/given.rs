//! Setup for cases: clicks, and steps that append, pack, digest, seal and query them.

use std::time::{Duration, Instant};

use signpost_app::ports::{Appended, ClickStore, EncodedClicks, Packed, Upkeep};
use signpost_clicks::SegmentBuilder;
use signpost_domain::analytics::{
    Buckets, ClickSelection, ClickSource, Dimension, LinkScope, Period, Question, RecordedClick,
    RecordedKind, Report, UtcDay, Values, VisitorHash,
};
use signpost_domain::{AccountId, LinkId, LinkKind, Timestamp};

use crate::pseudorandom::Pseudorandom;
use crate::samples;

/// The day of the first clicks of a case.
pub(super) const FIRST_DAY: i32 = 20_700;

const DAY: i64 = 86_400_000;

/// A click that a case appends and counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Click {
    pub(super) at: Timestamp,
    pub(super) account: AccountId,
    pub(super) link: LinkId,
    pub(super) kind: RecordedKind,
    pub(super) visitor: [u8; 6],
    pub(super) values: [String; Dimension::RECORDED.len()],
}

pub(super) fn day(number: i32) -> UtcDay {
    UtcDay::from_number(FIRST_DAY + number)
}

/// The instant `millis` milliseconds after the start of a day of the case.
pub(super) fn instant(day: i32, millis: i64) -> Timestamp {
    Timestamp::from_unix_millis(i64::from(FIRST_DAY + day) * DAY + millis).unwrap()
}

pub(super) fn account() -> AccountId {
    samples::id()
}

/// `number` links of both kinds, in ascending order of their bytes.
pub(super) fn links(number: u64) -> Vec<LinkId> {
    let kind = |number| if number % 3 == 0 { LinkKind::Landing } else { LinkKind::Redirect };
    (0..number).map(|number| samples::link(kind(number), &format!("link-{number}")).id()).collect()
}

/// A click without values of dimensions.
pub(super) fn click(account: AccountId, link: LinkId, at: Timestamp, visitor: u8) -> Click {
    let values = Dimension::RECORDED.map(|_| String::new());
    Click { at, account, link, kind: RecordedKind::Click, visitor: [visitor; 6], values }
}

/// Random clicks of some accounts and links over some days, the same in every run. They have few visitors and values, so
/// that many occur twice, and include the boundaries of days and hours.
pub(super) fn random_clicks(
    random: &mut Pseudorandom,
    number: usize,
    owners: &[(AccountId, Vec<LinkId>)],
    days: u64,
) -> Vec<Click> {
    let mut clicks = Vec::with_capacity(number);
    for _ in 0..number {
        let (account, links) = random.pick(owners).unwrap();
        let (account, link) = (*account, *random.pick(links).unwrap());
        let day = i32::try_from(random.below(days)).unwrap();
        let millis = match random.below(4) {
            0 => *random.pick(&[0, DAY - 1, 12 * 3_600_000, 900_000 * 7, 900_000 * 7 - 1]).unwrap(),
            _ => i64::try_from(random.below(86_400_000)).unwrap(),
        };
        let kind = match random.below(10) {
            0 => RecordedKind::Bot,
            1 => RecordedKind::Blocked,
            2 => RecordedKind::Widget,
            _ => RecordedKind::Click,
        };
        let visitor = u8::try_from(random.below(60)).unwrap();
        let mut values = Dimension::RECORDED.map(|dimension| {
            // Visits of widgets get theirs below.
            let dimension = if dimension == Dimension::Widget { Dimension::Rule } else { dimension };
            match random.below(5) {
                0 => String::new(),
                some => format!("{dimension:?}-{some}"),
            }
        });
        if kind == RecordedKind::Widget {
            values[10] = format!("widget-{}", random.below(3));
        }
        // The hash of a visitor differs between accounts and days.
        let mut hash = [visitor; 6];
        hash[0] = u8::try_from(day).unwrap();
        hash[1] = account.to_bytes()[15];
        clicks.push(Click { at: instant(day, millis), account, link, kind, visitor: hash, values });
    }
    clicks
}

/// A batch with these clicks.
pub(super) fn batch(source: u8, number: u64, clicks: &[Click]) -> EncodedClicks {
    let mut builder = SegmentBuilder::new();
    for click in clicks {
        let Click { at, account, link, kind, visitor, values } = click;
        let values = Values(values.each_ref().map(String::as_str));
        let visitor = VisitorHash(*visitor);
        let recorded =
            RecordedClick { at: *at, account: *account, link: *link, kind: *kind, visitor, values };
        builder.push(&recorded).unwrap();
    }
    let built = builder.finish().unwrap();
    EncodedClicks {
        source: ClickSource([source; 16]),
        number,
        clicks: built.clicks,
        first: built.first,
        last: built.last,
        segment: built.data,
    }
}

/// Appends clicks as the first batches of one source.
pub(super) async fn append(store: &dyn ClickStore, source: u8, clicks: &[Click], batch_size: usize) {
    for (number, clicks) in (1..).zip(clicks.chunks(batch_size)) {
        assert_eq!(store.append(&batch(source, number, clicks)).await.unwrap(), Appended::Now);
    }
}

/// Long after all clicks of a case, so that all upkeep is due.
pub(super) fn long_after() -> Timestamp {
    instant(40, 0)
}

/// Packs everything, and returns the number of dropped clicks.
pub(super) async fn pack_all(store: &dyn ClickStore) -> u64 {
    let mut all = 0;
    loop {
        let Packed { upkeep, dropped } = store.pack(long_after()).await.unwrap();
        all += dropped;
        if upkeep == Upkeep::Done {
            return all;
        }
    }
}

pub(super) async fn digest_all(store: &dyn ClickStore) {
    while store.digest(long_after()).await.unwrap() == Upkeep::More {}
}

pub(super) async fn seal_all(store: &dyn ClickStore) {
    while store.seal(long_after()).await.unwrap() == Upkeep::More {}
}

/// The deadline for a query of a case, long enough for a busy machine.
pub(super) fn deadline() -> Instant {
    Instant::now() + Duration::from_secs(100)
}

/// Selects all clicks of an account in the days of a case.
pub(super) fn everything(account: AccountId) -> ClickSelection {
    let period = Period::new(instant(0, 0), instant(39, DAY - 1)).unwrap();
    ClickSelection { account, scope: LinkScope::All, period, filters: Vec::new() }
}

/// A query for totals and all dimensions.
pub(super) fn question(selection: ClickSelection) -> Question {
    let buckets = Buckets::new(vec![selection.period.first()]).unwrap();
    Question { selection, buckets, dimensions: Dimension::ALL.to_vec(), limit: 100 }
}

pub(super) async fn ask(store: &dyn ClickStore, question: &Question) -> Report {
    store.answer(question, deadline()).await.unwrap()
}

/// The number of clicks of an account.
pub(super) async fn count(store: &dyn ClickStore, account: AccountId) -> u64 {
    ask(store, &question(everything(account))).await.totals.clicks
}
