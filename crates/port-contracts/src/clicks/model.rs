//! A model that counts clicks one by one, without any encoding. Reports must equal its results.

use std::collections::{BTreeMap, BTreeSet};

use signpost_domain::LinkId;
use signpost_domain::analytics::{
    Buckets, ClickId, ClickSelection, Counts, Dimension, DimensionFilter, ExportedClick, LinkScope, Period,
    Question, RecordedKind, Report, UtcDay, ValueCounts,
};

use super::given::{Click, instant};
use crate::pseudorandom::Pseudorandom;

type Visitor = (UtcDay, [u8; 6]);

#[derive(Default)]
struct Tally {
    counts: Counts,
    visitors: BTreeSet<Visitor>,
}

impl Tally {
    fn add(&mut self, click: &Click) {
        match click.kind {
            RecordedKind::Click | RecordedKind::Widget => {
                self.counts.clicks += 1;
                self.visitors.insert((UtcDay::of(click.at), click.visitor));
            }
            RecordedKind::Bot => self.counts.bots += 1,
            RecordedKind::Blocked => self.counts.blocked += 1,
        }
    }

    fn counts(&self) -> Counts {
        Counts { visitors: u64::try_from(self.visitors.len()).unwrap(), ..self.counts }
    }
}

fn value(click: &Click, dimension: Dimension) -> String {
    dimension.recorded_place().map_or_else(|| click.link.to_string(), |place| click.values[place].clone())
}

fn is_selected(click: &Click, selection: &ClickSelection) -> bool {
    click.account == selection.account
        && selection.scope.contains(click.link)
        && selection.period.contains(click.at)
        && selection.filters.iter().all(|filter| filter.takes(&value(click, filter.dimension)))
}

/// The expected report for a query.
pub(super) fn report(clicks: &[Click], question: &Question) -> Report {
    let selected: Vec<&Click> =
        clicks.iter().filter(|click| is_selected(click, &question.selection)).collect();
    let mut totals = Tally::default();
    let starts = question.buckets.starts();
    let mut series: Vec<Tally> = starts.iter().map(|_| Tally::default()).collect();
    for click in selected.iter().filter(|click| click.kind != RecordedKind::Widget) {
        totals.add(click);
        series[starts.partition_point(|start| *start <= click.at) - 1].add(click);
    }
    let dimensions =
        question.dimensions.iter().map(|dimension| values(&selected, *dimension, question.limit));
    Report {
        totals: totals.counts(),
        series: series.iter().map(Tally::counts).collect(),
        dimensions: dimensions.collect(),
    }
}

fn values(selected: &[&Click], dimension: Dimension, limit: usize) -> Vec<ValueCounts> {
    let counted = if dimension == Dimension::Widget { RecordedKind::Widget } else { RecordedKind::Click };
    let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
    for click in selected.iter().filter(|click| click.kind == counted) {
        tallies.entry(value(click, dimension)).or_default().add(click);
    }
    let mut values: Vec<ValueCounts> = tallies
        .into_iter()
        .map(|(value, tally)| {
            let Counts { clicks, visitors, .. } = tally.counts();
            ValueCounts { value, clicks, visitors }
        })
        .collect();
    values.sort_by(|one, other| other.clicks.cmp(&one.clicks).then_with(|| one.value.cmp(&other.value)));
    values.truncate(limit);
    values
}

/// The expected export of a selection.
pub(super) fn export(clicks: &[Click], selection: &ClickSelection) -> Vec<ExportedClick> {
    let mut sorted: Vec<&Click> = clicks
        .iter()
        .filter(|click| click.account == selection.account && click.kind != RecordedKind::Widget)
        .collect();
    sorted.sort_by(|one, other| {
        let key = |click: &Click| (click.at, click.link, click.kind, click.values.clone());
        key(one).cmp(&key(other))
    });
    let mut export: Vec<ExportedClick> = Vec::new();
    for same in sorted.chunk_by(|one, next| (one.at, one.link) == (next.at, next.link)) {
        for (place, click) in (0..).zip(same).filter(|(_, click)| is_selected(click, selection)) {
            let id = ClickId { at: click.at, link: click.link, place };
            export.push(ExportedClick { id, kind: click.kind, values: click.values.clone() });
        }
    }
    export
}

/// A random selection of clicks of these links in the first days of a case.
pub(super) fn random_selection(
    random: &mut Pseudorandom,
    account: signpost_domain::AccountId,
    links: &[LinkId],
    days: u64,
) -> ClickSelection {
    let mut edge = || {
        let day = i32::try_from(random.below(days)).unwrap();
        let millis = match random.below(3) {
            0 => 0,
            1 => i64::try_from(random.below(96)).unwrap() * 900_000,
            _ => i64::try_from(random.below(86_400_000)).unwrap(),
        };
        instant(day, millis)
    };
    let (one, other) = (edge(), edge());
    let period = Period::new(one.min(other), one.max(other)).unwrap();
    let scope = match random.below(4) {
        0 => LinkScope::One(*random.pick(links).unwrap()),
        1 => LinkScope::Some((0..3).map(|_| *random.pick(links).unwrap()).collect()),
        _ => LinkScope::All,
    };
    let mut filters = Vec::new();
    while random.one_in(3) {
        let dimension = *random.pick(&Dimension::ALL).unwrap();
        let values = (0..2).map(|_| match dimension {
            Dimension::Link => random.pick(links).unwrap().to_string(),
            _ => match random.below(5) {
                0 => String::new(),
                some => format!("{dimension:?}-{some}"),
            },
        });
        filters.push(DimensionFilter { dimension, values: values.collect(), excludes: random.one_in(2) });
    }
    ClickSelection { account, scope, period, filters }
}

/// A random query about a selection, with any kind of buckets.
pub(super) fn random_question(random: &mut Pseudorandom, selection: ClickSelection) -> Question {
    let (first, last) = (selection.period.first().unix_millis(), selection.period.last().unix_millis());
    let step = *random.pick(&[3_600_000, 900_000 * 23, 86_400_000, 86_400_000 * 2, 7_777_777]).unwrap();
    let begin = first - i64::try_from(random.below(4)).unwrap() * 900_000;
    let starts = (0..).map(|number| begin + number * step).take_while(|start| *start <= last);
    let starts = starts.map(|start| signpost_domain::Timestamp::from_unix_millis(start).unwrap()).collect();
    let dimensions = Dimension::ALL.into_iter().filter(|_| random.one_in(3)).collect();
    let limit = usize::try_from(1 + random.below(6)).unwrap();
    Question { selection, buckets: Buckets::new(starts).unwrap(), dimensions, limit }
}
