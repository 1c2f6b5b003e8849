//! The cost of storing clicks and of questions about them.

use std::collections::BTreeSet;
use std::fmt;
use std::time::{Duration, Instant};

use signpost_clicks::{DayNeeds, Digest, PackedSegment, Packer, Scanner, SegmentBuilder, digest, seal};
use signpost_domain::Timestamp;
use signpost_domain::analytics::{
    Buckets, ClickSelection, Dimension, DimensionFilter, LinkScope, Period, Question,
};

use crate::synthetic::{Shape, Traffic, account, day, link};

/// How many clicks a recorder writes at once.
const BATCH: usize = 1_000;
/// How many batches are packed at once.
const BATCHES: usize = 50;

/// Processor time of this thread; elapsed time where Linux does not report it.
struct Clock(Instant);

impl Clock {
    fn now(&self) -> Duration {
        let read = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
        let nanos = read.and_then(|text| text.split_whitespace().next()?.parse().ok());
        nanos.map_or_else(|| self.0.elapsed(), Duration::from_nanos)
    }

    fn took<T>(&self, sum: &mut Duration, work: impl FnOnce() -> T) -> T {
        let begin = self.now();
        let result = work();
        *sum += self.now().saturating_sub(begin);
        result
    }
}

/// Bytes and times of some traffic, and the sealed days of its first account.
#[derive(Default)]
pub(crate) struct Measured {
    clicks: u64,
    inbox: usize,
    packed: usize,
    sealed: usize,
    digested: usize,
    build: Duration,
    pack: Duration,
    seal: Duration,
    digest: Duration,
    days: Vec<(Vec<PackedSegment>, Vec<Digest>)>,
}

impl Measured {
    /// Builds batches, packs them, and seals and digests each day.
    pub(crate) fn storing(traffic: &Traffic) -> Self {
        let clock = Clock(Instant::now());
        let mut measured = Self::default();
        for number in 0..traffic.shape.days {
            let mut packed = measured.record(traffic, number, &clock);
            measured.packed += packed.iter().map(|segment| segment.data.len()).sum::<usize>();
            packed.sort_by_key(|segment| segment.account);
            for of_account in packed.chunk_by(|one, next| one.account == next.account) {
                let data: Vec<&[u8]> = of_account.iter().map(|segment| segment.data.as_slice()).collect();
                let digests = clock.took(&mut measured.digest, || digest(&data).unwrap().digests);
                let sealed = clock.took(&mut measured.seal, || seal(&data).unwrap());
                measured.sealed += sealed.iter().map(|segment| segment.data.len()).sum::<usize>();
                measured.digested += digests.iter().map(|digest| digest.data.len()).sum::<usize>();
                if of_account[0].account == account(0) {
                    measured.days.push((sealed, digests));
                }
            }
        }
        measured
    }

    /// Packs a day's batches in portions, as a store does. Small segments are merged again with the last
    /// portion.
    fn record(&mut self, traffic: &Traffic, number: u64, clock: &Clock) -> Vec<PackedSegment> {
        let mut portions = vec![Vec::new()];
        let mut builder = SegmentBuilder::new();
        let mut clicks = Vec::new();
        traffic.day(number, |click| clicks.push(*click));
        self.clicks += clicks.len() as u64;
        for batch in clicks.chunks(BATCH) {
            let built = clock.took(&mut self.build, || {
                for click in batch {
                    builder.push(click).unwrap();
                }
                std::mem::take(&mut builder).finish().unwrap()
            });
            self.inbox += built.data.len();
            if portions.last().unwrap().len() == BATCHES {
                portions.push(Vec::new());
            }
            portions.last_mut().unwrap().push(built.data);
        }
        let packed: Vec<PackedSegment> = portions
            .iter()
            .flat_map(|portion| clock.took(&mut self.pack, || pack(portion.iter().map(Vec::as_slice))))
            .collect();
        let (small, mut large): (Vec<_>, Vec<_>) =
            packed.into_iter().partition(|segment| segment.clicks < 30_000);
        large
            .extend(clock.took(&mut self.pack, || pack(small.iter().map(|segment| segment.data.as_slice()))));
        large
    }

    /// Asks questions about the first account's days.
    pub(crate) fn ask(&self, name: &str, shape: Shape) {
        let clock = Clock(Instant::now());
        for (what, question, by_digest) in questions(shape) {
            let mut took = Duration::MAX;
            let mut report = None;
            for _ in 0..3 {
                // The clock ticks only every few milliseconds.
                let (mut round, mut times) = (Duration::ZERO, 0);
                while times < 1_000 && round < Duration::from_millis(100) {
                    let answer = clock.took(&mut round, || self.answer(&question, by_digest));
                    report = Some(answer);
                    times += 1;
                }
                took = took.min(round / times);
            }
            let totals = report.unwrap().totals;
            assert!(totals.clicks + totals.bots + totals.blocked <= self.clicks);
            println!(
                "{:<52} {:>9} {:>10.1} {:>9.2}",
                format!("{name}: {what}"),
                totals.clicks,
                took.as_nanos() as f64 / self.clicks as f64,
                took.as_secs_f64() * 1e3
            );
        }
    }

    fn answer(&self, question: &Question, by_digest: bool) -> signpost_domain::analytics::Report {
        let mut scanner = Scanner::new(question);
        for (number, (segments, digests)) in (0..).zip(&self.days) {
            let digest = digests.iter().find(|digest| Some(digest.scope) == scanner.scope());
            if by_digest
                && scanner.needs(day(number)) == DayNeeds::Digest
                && let Some(digest) = digest
            {
                assert!(scanner.add_digest(day(number), &digest.data).unwrap());
                continue;
            }
            let range = scanner.link_range();
            let data: Vec<&[u8]> = segments
                .iter()
                .filter(|segment| {
                    range.is_none_or(|(first, last)| segment.first_link <= last && first <= segment.last_link)
                })
                .map(|segment| segment.data.as_slice())
                .collect();
            scanner.add_segments(day(number), &data).unwrap();
        }
        scanner.finish()
    }
}

fn pack<'a>(batches: impl Iterator<Item = &'a [u8]>) -> Vec<PackedSegment> {
    let mut packer = Packer::new();
    for batch in batches {
        packer.add(batch).unwrap();
    }
    packer.finish()
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = |bytes: usize| bytes as f64 / self.clicks as f64;
        let nanos = |time: Duration| time.as_nanos() as f64 / self.clicks as f64;
        write!(
            f,
            "{:>9} {:>7.2} {:>7.2} {:>7.2} {:>7.2} |             {:>6.0} {:>6.0} {:>6.0} {:>7.0}",
            self.clicks,
            bytes(self.inbox),
            bytes(self.packed),
            bytes(self.sealed),
            bytes(self.digested),
            nanos(self.build),
            nanos(self.pack),
            nanos(self.seal),
            nanos(self.digest)
        )
    }
}

/// The questions, and whether digests may answer them.
fn questions(shape: Shape) -> Vec<(&'static str, Question, bool)> {
    let last = day(shape.days.max(1) - 1).last();
    let ask = |offset: i64, dimensions: &[Dimension], filters: Vec<DimensionFilter>, scope: LinkScope| {
        let first = day(0).first().unix_millis();
        let starts = (0..=shape.days).map(|day| first - offset + day.cast_signed() * 86_400_000);
        let starts = starts.map(|start| Timestamp::from_unix_millis(start).unwrap()).collect();
        Question {
            selection: ClickSelection {
                account: account(0),
                scope,
                period: Period::new(day(0).first(), last).unwrap(),
                filters,
            },
            buckets: Buckets::new(starts).unwrap(),
            dimensions: dimensions.to_vec(),
            limit: 100,
        }
    };
    let two = [Dimension::Country, Dimension::Referrer];
    let eight = &Dimension::ALL[..8];
    let germans = DimensionFilter {
        dimension: Dimension::Country,
        values: BTreeSet::from(["AB".to_owned()]),
        excludes: false,
    };
    let scope = if shape.links == 1 { LinkScope::One(link(0, 0)) } else { LinkScope::All };
    vec![
        ("totals by day", ask(0, &[], vec![], scope.clone()), false),
        ("by day, 1 dimension", ask(0, &two[..1], vec![], scope.clone()), false),
        ("by day, 2 dimensions", ask(0, &two, vec![], scope.clone()), false),
        ("by day of UTC+2, 2 dimensions", ask(7_200_000, &two, vec![], scope.clone()), false),
        ("by day, 8 dimensions", ask(0, eight, vec![], scope.clone()), false),
        ("one country by browser", ask(0, &[Dimension::Browser], vec![germans], scope.clone()), false),
        ("by link", ask(0, &[Dimension::Link], vec![], scope.clone()), false),
        ("a rare link", ask(0, &two, vec![], LinkScope::One(link(0, shape.links * 3 / 4))), false),
        ("digests, 2 dimensions", ask(0, &two, vec![], scope.clone()), true),
        ("digests of UTC+2, 2 dimensions", ask(7_200_000, &two, vec![], scope.clone()), true),
        ("digests, 8 dimensions", ask(0, eight, vec![], scope), true),
    ]
}
