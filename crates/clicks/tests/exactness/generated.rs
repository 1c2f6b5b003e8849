//! Rows and questions from proptest, close together so that many values coincide.

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use signpost_domain::analytics::{
    Buckets, ClickSelection, Dimension, DimensionFilter, LinkScope, Period, Question, RecordedKind, UtcDay,
};
use signpost_domain::{AccountId, LinkId, LinkKind, Timestamp};

use crate::model::Row;
use crate::storage::Storage;

const QUARTER: i64 = 900_000;

/// The days of clicks.
pub(crate) fn day(number: i32) -> UtcDay {
    UtcDay::from_number(20_000 + number)
}

pub(crate) fn account(number: u8) -> AccountId {
    AccountId::from_bytes([number; 16])
}

/// Links of both kinds, two of which have the same bytes.
pub(crate) fn link(number: u8) -> LinkId {
    let kind = if number.is_multiple_of(2) { LinkKind::Redirect } else { LinkKind::Landing };
    let mut bytes = [7; 16];
    bytes[15] = 200 - number / 2;
    LinkId::from_bytes(kind, bytes)
}

pub(crate) fn instant(millis: i64) -> Timestamp {
    Timestamp::from_unix_millis(day(0).first().unix_millis() + millis).unwrap()
}

/// Instants of three days and slightly beyond, many of them at or near a quarter hour.
pub(crate) fn instants() -> impl Strategy<Value = Timestamp> {
    prop_oneof![
        // So few instants that several clicks on a link share one.
        (0..3_i64).prop_map(|place| instant(place * 40 * QUARTER)),
        (-4..=3 * 96_i64, -1..=1_i64).prop_map(|(quarter, off)| instant(quarter * QUARTER + off)),
        (-QUARTER..3 * 96 * QUARTER).prop_map(instant),
    ]
}

fn kinds() -> impl Strategy<Value = RecordedKind> {
    prop_oneof![
        6 => Just(RecordedKind::Click),
        1 => Just(RecordedKind::Bot),
        1 => Just(RecordedKind::Blocked),
        2 => Just(RecordedKind::Widget),
    ]
}

const VALUES: [&str; 4] = ["", "a", "b", "ä€"];

fn values() -> impl Strategy<Value = [String; 11]> {
    proptest::array::uniform11(select(&VALUES[..]).prop_map(str::to_owned))
}

pub(crate) fn rows(at_most: usize) -> impl Strategy<Value = Vec<Row>> {
    let row = (instants(), 0..2_u8, 0..5_u8, kinds(), 0..6_u8, values()).prop_map(
        |(at, of, on, kind, visitor, values)| Row {
            at,
            account: account(of),
            link: link(on),
            kind,
            visitor: [visitor, 1, 2, 3, 4, 5],
            values,
            sealed_by: None,
        },
    );
    prop::collection::vec(row, 1..at_most)
}

/// An operation on a store.
#[derive(Debug, Clone)]
enum Step {
    Append(Vec<Row>),
    Pack { merging: bool },
    Seal(u8, i32),
}

/// A store in any state.
pub(crate) fn storages() -> impl Strategy<Value = Storage> {
    let step = prop_oneof![
        4 => rows(40).prop_map(Step::Append),
        2 => any::<bool>().prop_map(|merging| Step::Pack { merging }),
        2 => (0..2_u8, -1..4).prop_map(|(of, on)| Step::Seal(of, on)),
    ];
    prop::collection::vec(step, 1..12).prop_map(|steps| {
        let mut storage = Storage::default();
        for step in steps {
            match step {
                Step::Append(rows) => storage.append(&rows),
                Step::Pack { merging } => storage.pack(merging),
                Step::Seal(of, on) => storage.seal(account(of), day(on)),
            }
        }
        storage
    })
}

fn scopes() -> impl Strategy<Value = LinkScope> {
    prop_oneof![
        3 => Just(LinkScope::All),
        2 => (0..6_u8).prop_map(|number| LinkScope::One(link(number))),
        1 => subsequence((0..6_u8).collect::<Vec<_>>(), 0..5)
            .prop_map(|numbers| LinkScope::Some(numbers.into_iter().map(link).collect())),
    ]
}

fn filters() -> impl Strategy<Value = Vec<DimensionFilter>> {
    let filter = (select(&Dimension::ALL[..]), subsequence(VALUES.to_vec(), 1..4), 0..5_u8, any::<bool>())
        .prop_map(|(dimension, values, number, excludes)| {
            let values: BTreeSet<String> = match dimension.recorded_place() {
                Some(_) => values.into_iter().map(str::to_owned).collect(),
                None => BTreeSet::from([link(number).to_string(), link(0).to_string()]),
            };
            DimensionFilter { dimension, values, excludes }
        });
    prop_oneof![3 => Just(Vec::new()), 2 => prop::collection::vec(filter, 1..3)]
}

pub(crate) fn selections() -> impl Strategy<Value = ClickSelection> {
    let period = prop_oneof![
        1 => (instants(), instants())
            .prop_map(|(one, other)| Period::new(one.min(other), one.max(other)).unwrap()),
        1 => (-1..3_i32, 0..3_i32)
            .prop_map(|(first, days)| Period::new(day(first).first(), day(first + days).last()).unwrap()),
    ];
    (0..2_u8, scopes(), period, filters()).prop_map(|(of, scope, period, filters)| ClickSelection {
        account: account(of),
        scope,
        period,
        filters,
    })
}

/// Starts of buckets like those of time zones: days and hours that begin at any quarter hour, with one clock
/// change; or any instants.
fn starts(first: Timestamp) -> impl Strategy<Value = Vec<Timestamp>> {
    let first = first.unix_millis();
    let regular = (select(vec![1_i64, 2, 4, 96]), 0..96_i64, 0..300_i64, select(vec![-4_i64, -2, 0, 2, 4]))
        .prop_map(move |(step, offset, change_at, change)| {
            let length = step * QUARTER;
            let mut starts = vec![(first - offset * QUARTER).div_euclid(QUARTER) * QUARTER];
            while starts[starts.len() - 1] < instant(4 * 96 * QUARTER).unix_millis() && starts.len() < 600 {
                let place = i64::try_from(starts.len()).unwrap();
                let moved = if place == change_at { change * QUARTER } else { 0 };
                starts.push(starts[starts.len() - 1] + (length + moved).max(QUARTER));
            }
            starts
        });
    let any = prop::collection::btree_set(instants(), 0..6).prop_map(move |instants| {
        let later = instants.into_iter().map(Timestamp::unix_millis).filter(|start| *start > first);
        std::iter::once(first).chain(later).collect()
    });
    prop_oneof![3 => regular, 1 => any].prop_map(|starts: Vec<i64>| {
        starts.into_iter().map(|start| Timestamp::from_unix_millis(start).unwrap()).collect()
    })
}

pub(crate) fn questions() -> impl Strategy<Value = Question> {
    let dimensions = subsequence(Dimension::ALL.to_vec(), 0..5).prop_shuffle();
    (selections(), dimensions, prop_oneof![1..4_usize, Just(100)]).prop_flat_map(
        |(selection, dimensions, limit)| {
            starts(selection.period.first()).prop_map(move |starts| Question {
                selection: selection.clone(),
                buckets: Buckets::new(starts).unwrap(),
                dimensions: dimensions.clone(),
                limit,
            })
        },
    )
}
