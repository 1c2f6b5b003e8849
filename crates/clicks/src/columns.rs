//! Clicks in memory, as columns with tables of distinct values.

use std::cmp::Ordering;

use foldhash::fast::RandomState;
use hashbrown::HashMap;
use signpost_domain::analytics::{Dimension, RecordedClick, RecordedKind, UtcDay};
use signpost_domain::{AccountId, LinkId, LinkKind};

use crate::MAX_VALUE_BYTES;
use crate::click_rows::{ClickRows, DimensionRows};
use crate::decoded_segment::DecodedSegment;
use crate::numbers::index;
use crate::segment_format::{DAY_MILLIS, DIMENSIONS};
use crate::tables::{KeyTable, ValueTable};

/// A link on one day. Its clicks are contiguous in a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Run {
    /// The account.
    pub(crate) account: AccountId,
    /// The day.
    pub(crate) day: UtcDay,
    /// The link.
    pub(crate) link: LinkId,
}

impl Run {
    /// The order of runs in a segment. Links of both kinds are ordered by their bytes, like an index of a
    /// store.
    pub(crate) fn order(&self, other: &Self) -> Ordering {
        let key = |run: &Self| (u128::from_be_bytes(run.account.to_bytes()), run.day, link_order(run.link));
        key(self).cmp(&key(other))
    }

    /// Whether both belong to one section of a segment.
    pub(crate) fn same_day(&self, other: &Self) -> bool {
        self.account == other.account && self.day == other.day
    }
}

/// The sort key of links: their bytes as a number, because numbers compare faster.
pub(crate) fn link_order(link: LinkId) -> (u128, LinkKind) {
    (u128::from_be_bytes(link.to_bytes()), link.kind())
}

/// The visitor of a click.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Visitor {
    /// A hash.
    Hash([u8; 6]),
    /// An ordinal within a sealed day.
    Ordinal(u32),
}

impl Visitor {
    /// A number that distinguishes it from all other visitors of a day.
    pub(crate) fn key(self) -> u64 {
        let mut bytes = [0; 8];
        bytes[2..].copy_from_slice(&self.bytes());
        let ordinal = u64::from(matches!(self, Self::Ordinal(_)));
        ordinal << 48 | u64::from_be_bytes(bytes)
    }

    /// Six bytes that distinguish it from other visitors of the same variant.
    pub(crate) fn bytes(self) -> [u8; 6] {
        match self {
            Self::Hash(bytes) => bytes,
            Self::Ordinal(ordinal) => {
                let [a, b, c, d] = ordinal.to_be_bytes();
                [0, 0, a, b, c, d]
            }
        }
    }
}

/// Clicks in any order.
#[derive(Debug, Default)]
pub(crate) struct Columns {
    /// The distinct runs.
    pub(crate) runs: KeyTable<Run>,
    /// The run of each click.
    pub(crate) run: Vec<u32>,
    /// The millisecond in the day of each click.
    pub(crate) time: Vec<u32>,
    /// The number of the kind of each click.
    pub(crate) kind: Vec<u8>,
    /// The distinct visitors.
    pub(crate) visitors: KeyTable<Visitor>,
    /// The visitor of each click.
    pub(crate) visitor: Vec<u32>,
    /// The distinct values of each dimension.
    pub(crate) values: [ValueTable; DIMENSIONS],
    /// The value of each click, by dimension.
    pub(crate) value: [Vec<u32>; DIMENSIONS],
    last_run: Option<(Run, u32)>,
    /// The numbers of values that belong together, by the caller's number for all of them.
    alike: HashMap<u64, [u32; DIMENSIONS], RandomState>,
}

/// The values that may differ between alike clicks. The place of the widget is also that of the rule.
const OF_EACH_CLICK: [Dimension; 2] = [Dimension::Country, Dimension::Widget];

impl Columns {
    /// The number of clicks.
    pub(crate) fn len(&self) -> usize {
        self.time.len()
    }

    /// Adds a click. Clicks with the same `alike` number have the same values, except for [`OF_EACH_CLICK`].
    pub(crate) fn push_alike(&mut self, click: &RecordedClick<'_>, alike: Option<u64>) {
        let day = UtcDay::of(click.at);
        let run = Run { account: click.account, day, link: click.link };
        let run = match self.last_run {
            Some((last, known)) if last == run => known,
            _ => {
                let known = self.runs.number(run);
                self.last_run = Some((run, known));
                known
            }
        };
        self.run.push(run);
        let time = click.at.unix_millis() - day.first().unix_millis();
        self.time.push(u32::try_from(time).unwrap_or(0));
        self.kind.push(kind_number(click.kind));
        self.visitor.push(self.visitors.number(Visitor::Hash(click.visitor.0)));
        let known = alike.and_then(|alike| self.alike.get(&alike)).copied();
        let numbers = if let Some(known) = known {
            self.with_own(known, click)
        } else {
            let mut tables = self.values.iter_mut().zip(click.values.0);
            std::array::from_fn(|_| tables.next().map_or(0, |(table, value)| table.number(cut(value))))
        };
        if let (None, Some(alike)) = (known, alike) {
            self.alike.insert(alike, numbers);
        }
        for (column, number) in self.value.iter_mut().zip(numbers) {
            column.push(number);
        }
    }

    /// The numbers of alike clicks' values, with the values that differ in this one.
    fn with_own(&mut self, mut numbers: [u32; DIMENSIONS], click: &RecordedClick<'_>) -> [u32; DIMENSIONS] {
        for place in OF_EACH_CLICK.into_iter().filter_map(Dimension::recorded_place) {
            let of_place = (self.values.get_mut(place), click.values.0.get(place), numbers.get_mut(place));
            if let (Some(table), Some(value), Some(number)) = of_place {
                *number = table.number(cut(value));
            }
        }
        numbers
    }

    /// Adds the clicks of a segment.
    pub(crate) fn append(&mut self, segment: &DecodedSegment) {
        for run in &segment.runs {
            let known = self.runs.number(run.run);
            self.run.resize(self.run.len() + index(run.clicks), known);
        }
        self.time.extend_from_slice(&segment.times);
        self.kind.extend_from_slice(&segment.kinds);
        let known: Vec<u32> = segment.visitors.iter().map(|visitor| self.visitors.number(*visitor)).collect();
        self.visitor.extend(translated(&segment.visitor, &known));
        for (dimension, (table, column)) in self.values.iter_mut().zip(&mut self.value).enumerate() {
            let known: Vec<u32> = segment.dictionary(dimension).map(|value| table.number(value)).collect();
            column.extend(translated(segment.codes(dimension), &known));
        }
    }

    /// The clicks in the order of segments: by account, day, link and time. Clicks equal in all of these keep
    /// their order.
    pub(crate) fn order(&self) -> Vec<u32> {
        let runs = self.runs.keys();
        let mut by_rank: Vec<(&Run, u32)> = runs.iter().zip(0..).collect();
        by_rank.sort_unstable_by(|one, other| one.0.order(other.0));
        let mut rank = vec![0_u64; runs.len()];
        for ((_, run), at) in by_rank.iter().zip(0..) {
            if let Some(room) = rank.get_mut(index(*run)) {
                *room = at;
            }
        }
        let rank_of = |run: u32| rank.get(index(run)).copied().unwrap_or(0);
        let mut keys: Vec<(u64, u32)> = self
            .run
            .iter()
            .zip(&self.time)
            .zip(0..)
            .map(|((run, time), row)| (rank_of(*run) * u64::from(DAY_MILLIS) + u64::from(*time), row))
            .collect();
        // A merge sort, since the input mostly consists of sorted stretches.
        keys.sort_by_key(|(key, _)| *key);
        keys.into_iter().map(|(_, row)| row).collect()
    }

    /// The run of a click.
    pub(crate) fn run_of(&self, row: u32) -> Option<Run> {
        self.runs.keys().get(index(*self.run.get(index(row))?)).copied()
    }

    /// The columns, borrowed.
    pub(crate) fn rows(&self) -> ClickRows<'_> {
        let dimensions = self.values.iter().zip(&self.value);
        ClickRows {
            runs: self.runs.keys(),
            run: &self.run,
            time: &self.time,
            kind: &self.kind,
            visitors: self.visitors.keys(),
            visitor: &self.visitor,
            dimensions: dimensions.map(|(dictionary, value)| DimensionRows { dictionary, value }).collect(),
        }
    }

    /// The instant of a click, in milliseconds.
    pub(crate) fn instant_of(&self, row: u32) -> i64 {
        let day = self.run_of(row).map_or(0, |run| run.day.first().unix_millis());
        day + i64::from(self.time.get(index(row)).copied().unwrap_or(0))
    }

    /// Splits ordered rows where account or day changes.
    pub(crate) fn days<'a>(&'a self, order: &'a [u32]) -> impl Iterator<Item = &'a [u32]> {
        order.chunk_by(|one, next| match (self.run_of(*one), self.run_of(*next)) {
            (Some(one), Some(next)) => one.same_day(&next),
            _ => false,
        })
    }

    /// Whether the clicks of some visitors come from sealed segments.
    pub(crate) fn has_ordinals(&self) -> bool {
        self.visitors.keys().iter().any(|visitor| matches!(visitor, Visitor::Ordinal(_)))
    }

    /// Whether the clicks belong to several accounts or days.
    pub(crate) fn has_several_days(&self) -> bool {
        has_several_days(self.runs.keys())
    }
}

/// Whether runs belong to several accounts or days.
pub(crate) fn has_several_days<'a>(runs: impl IntoIterator<Item = &'a Run>) -> bool {
    let mut runs = runs.into_iter();
    runs.next().is_some_and(|first| runs.any(|run| !run.same_day(first)))
}

/// The number of a kind in segments.
pub(crate) fn kind_number(kind: RecordedKind) -> u8 {
    match kind {
        RecordedKind::Click => 0,
        RecordedKind::Bot => 1,
        RecordedKind::Blocked => 2,
        RecordedKind::Widget => 3,
    }
}

/// The kind of a number.
pub(crate) fn kind_of_number(number: u8) -> Option<RecordedKind> {
    RecordedKind::ALL.into_iter().find(|kind| kind_number(*kind) == number)
}

/// Truncates a value to its stored length.
pub(crate) fn cut(value: &str) -> &str {
    value.get(..value.floor_char_boundary(MAX_VALUE_BYTES)).unwrap_or(value)
}

fn translated<'a>(from: &'a [u32], known: &'a [u32]) -> impl Iterator<Item = u32> + 'a {
    from.iter().map(|old| known.get(index(*old)).copied().unwrap_or(0))
}
