//! Days of very busy accounts, which do not fit into memory.

use std::collections::BTreeMap;

use signpost_app::ports::Upkeep;
use signpost_click_store::{
    Applied, ClickChange, ClickTables, DayChange, DayEffect, PendingDays, Reading, Replacement, SegmentHead,
};
use signpost_clicks::{DigestScope, PackedSegment, SegmentBuilder};
use signpost_domain::analytics::{
    Buckets, ClickSelection, Dimension, ExportedClick, LinkScope, Period, Question, RecordedClick,
    RecordedKind, UtcDay, Values, VisitorHash,
};
use signpost_domain::{AccountId, LinkId};

use super::observed::ObservedTables;
use super::{Opened, soon};
use crate::click_samples::{ClickedLink, at};
use crate::pseudorandom::Pseudorandom;
use crate::samples;

const SEGMENTS: usize = 12;
const CLICKS_OF_SEGMENT: usize = 280;
const CLICKS: usize = SEGMENTS * CLICKS_OF_SEGMENT;
const VISITORS: usize = 100;

/// Nothing may read more at once.
const MOST_READ_AT_ONCE: usize = 4 * 1024 * 1024;

/// A day of more than twelve MiB.
struct LargeDay {
    account: AccountId,
    day: UtcDay,
    links: [LinkId; 2],
}

impl LargeDay {
    /// Stores the day. Each segment has clicks on both links, of a time of its own.
    async fn store(opened: &Opened) -> Self {
        let links = [ClickedLink::new().link, ClickedLink::new().link];
        let large = Self { account: samples::id(), day: UtcDay::of(at(0)), links };
        let mut random = Pseudorandom::new(7);
        let added = (0..SEGMENTS).map(|segment| large.segment(segment, &mut random)).collect();
        assert_eq!(opened.apply(large.new_segments(None, added)).await, Applied::Whole);
        large
    }

    fn segment(&self, segment: usize, random: &mut Pseudorandom) -> PackedSegment {
        let mut builder = SegmentBuilder::new();
        for click in 0..CLICKS_OF_SEGMENT {
            let number = segment * CLICKS_OF_SEGMENT + click;
            // Texts that cannot be compressed to less than three quarters.
            let texts = Dimension::RECORDED.map(|_| text(random));
            let recorded = RecordedClick {
                at: at(i64::try_from(number).unwrap()),
                account: self.account,
                link: self.links[click % 2],
                kind: RecordedKind::Click,
                visitor: VisitorHash([u8::try_from(number / 2 % VISITORS).unwrap(); 6]),
                values: Values(texts.each_ref().map(String::as_str)),
            };
            builder.push(&recorded).unwrap();
        }
        let data = builder.finish().unwrap().data;
        assert!(data.len() > 1024 * 1024, "{}", data.len());
        let [first_link, last_link] = self.links_in_order();
        PackedSegment {
            account: self.account,
            day: self.day,
            first_link,
            last_link,
            clicks: u32::try_from(CLICKS_OF_SEGMENT).unwrap(),
            sealed: false,
            data,
        }
    }

    fn links_in_order(&self) -> [LinkId; 2] {
        let mut links = self.links;
        links.sort_by_key(|link| link.to_bytes());
        links
    }

    fn new_segments(&self, version: Option<i64>, added: Vec<PackedSegment>) -> ClickChange {
        let effect = DayEffect::NewSegments(Replacement { removed: Vec::new(), added });
        let Self { account, day, links: _ } = *self;
        ClickChange { days: vec![DayChange { account, day, version, effect }], ..ClickChange::default() }
    }

    fn question(&self, dimensions: Vec<Dimension>) -> Question {
        Question {
            selection: ClickSelection {
                account: self.account,
                scope: LinkScope::All,
                period: Period::new(self.day.first(), self.day.last()).unwrap(),
                filters: Vec::new(),
            },
            buckets: Buckets::new(vec![self.day.first()]).unwrap(),
            dimensions,
            limit: 100,
        }
    }

    /// Asserts that a question by link has the right answer.
    async fn check_answer(&self, tables: &ObservedTables) {
        let question = self.question(vec![Dimension::Link]);
        let report = signpost_click_store::answer(tables, &question, soon()).await.unwrap();
        let (clicks, visitors) = (count(CLICKS), count(VISITORS));
        assert_eq!((report.totals.clicks, report.totals.visitors), (clicks, visitors));
        let by_link: Vec<_> = report.dimensions[0].iter().map(|it| (it.clicks, it.visitors)).collect();
        assert_eq!(by_link, [(clicks / 2, visitors); 2]);
    }

    async fn segments(&self, tables: &dyn ClickTables) -> Vec<SegmentHead> {
        let mut snapshot = tables.snapshot(Reading::Upkeep, soon()).await.unwrap();
        snapshot.segments(&[(self.account, self.day)], None).await.unwrap()
    }

    async fn is_pending(&self, tables: &dyn ClickTables, pending: PendingDays) -> bool {
        let mut snapshot = tables.snapshot(Reading::Upkeep, soon()).await.unwrap();
        let found = snapshot.pending_days(pending, self.day, 1_000).await.unwrap();
        found.iter().any(|day| day.account == self.account)
    }
}

/// Distinct visitors are counted by day.
pub(super) async fn r46_a_large_day_is_counted_and_exported_in_parts(opened: Opened) {
    let large = LargeDay::store(&opened).await;
    let observed = ObservedTables::new(opened.tables.clone());
    large.check_answer(&observed).await;
    let selection = large.question(Vec::new()).selection;
    let mut exported = Vec::new();
    loop {
        let after = exported.last().map(|click: &ExportedClick| click.id);
        let page = signpost_click_store::clicks(&observed, &selection, after, 1_000, soon()).await.unwrap();
        let is_last = page.len() < 1_000;
        exported.extend(page);
        if is_last {
            break;
        }
    }
    assert_eq!(exported.len(), CLICKS);
    assert!(exported.is_sorted_by(|one, next| one.id < next.id));
    assert!(observed.largest_read() <= MOST_READ_AT_ONCE, "{}", observed.largest_read());
}

/// A stranger decides how many clicks a day has.
pub(super) async fn r46_a_large_day_is_sorted_digested_and_finished_in_parts(opened: Opened) {
    let large = LargeDay::store(&opened).await;
    let observed = ObservedTables::new(opened.tables.clone());
    let later = at(10 * 86_400_000);
    while signpost_click_store::digest(&observed, later).await.unwrap() == Upkeep::More {}
    let sorted = large.segments(&observed).await;
    // Nearly all segments have clicks on one link only, so a question about a link reads half of the day.
    let of_one_link = sorted.iter().filter(|head| head.first_link == head.last_link).count();
    assert!(of_one_link + 1 >= sorted.len() && sorted.len() > 1, "{sorted:?}");
    assert_eq!(sorted.iter().map(|head| head.clicks).sum::<u32>(), u32::try_from(CLICKS).unwrap());
    assert!(!large.is_pending(&observed, PendingDays::ToDigest).await);
    let mut snapshot = opened.tables.snapshot(Reading::Upkeep, soon()).await.unwrap();
    for scope in [DigestScope::Account, DigestScope::Link(large.links[0]), DigestScope::Link(large.links[1])]
    {
        let digests = snapshot.digests(large.account, &[large.day], scope, u64::MAX).await.unwrap();
        assert_eq!(digests.len(), 1, "{scope:?}");
    }
    let last = snapshot.last_clicks(large.account, &large.links).await.unwrap();
    drop(snapshot);
    let end = i64::try_from(CLICKS).unwrap();
    assert_eq!(last, BTreeMap::from([(large.links[0], at(end - 2)), (large.links[1], at(end - 1))]));

    while signpost_click_store::seal(&observed, later).await.unwrap() == Upkeep::More {}
    assert!(!large.is_pending(&observed, PendingDays::ToSeal).await);
    assert_eq!(large.segments(&observed).await, sorted);
    large.check_answer(&observed).await;
    let question = large.question(Vec::new());
    let report = signpost_click_store::answer(&*opened.tables, &question, soon()).await.unwrap();
    assert_eq!((report.totals.clicks, report.totals.visitors), (count(CLICKS), count(VISITORS)));
    assert!(observed.largest_read() <= MOST_READ_AT_ONCE, "{}", observed.largest_read());

    // A late click comes after the day was finished.
    let version = opened.version(large.account, large.day).await;
    let late = large.segment(0, &mut Pseudorandom::new(8));
    assert_eq!(opened.apply(large.new_segments(version, vec![late])).await, Applied::Whole);
    while signpost_click_store::digest(&observed, later).await.unwrap() == Upkeep::More {}
    while signpost_click_store::seal(&observed, later).await.unwrap() == Upkeep::More {}
    assert!(!large.is_pending(&observed, PendingDays::ToDigest).await);
    assert!(!large.is_pending(&observed, PendingDays::ToSeal).await);
    let report = signpost_click_store::answer(&*opened.tables, &question, soon()).await.unwrap();
    let clicks = count(CLICKS + CLICKS_OF_SEGMENT);
    assert_eq!((report.totals.clicks, report.totals.visitors), (clicks, count(VISITORS)));
}

/// Another node packs late clicks of the day while this one sorts it.
pub(super) async fn d51_a_large_day_that_changes_while_it_is_sorted_loses_no_click(opened: Opened) {
    // While places are read, while segments are split, and while ranges are sorted.
    for moment in [2, 7, 14] {
        let large = LargeDay::store(&opened).await;
        let late = large.segment(1, &mut Pseudorandom::new(9));
        let version = opened.version(large.account, large.day).await;
        let change = large.new_segments(version, vec![late]);
        let observed = ObservedTables::new(opened.tables.clone()).changing_after(moment, change);
        let mut steps = 0;
        while large.is_pending(&*opened.tables, PendingDays::ToDigest).await {
            signpost_click_store::digest(&observed, at(10 * 86_400_000)).await.unwrap();
            steps += 1;
            assert!(steps < 10, "the day is not done after {steps} steps");
        }
        let question = large.question(Vec::new());
        let report = signpost_click_store::answer(&*opened.tables, &question, soon()).await.unwrap();
        assert_eq!(report.totals.clicks, count(CLICKS + CLICKS_OF_SEGMENT), "{moment}");
        let clicks: u32 = large.segments(&*opened.tables).await.iter().map(|head| head.clicks).sum();
        assert_eq!(count(usize::try_from(clicks).unwrap()), report.totals.clicks);
    }
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap()
}

/// 512 random letters.
fn text(random: &mut Pseudorandom) -> String {
    const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    (0..512).map(|_| char::from(*random.pick(LETTERS).unwrap())).collect()
}
