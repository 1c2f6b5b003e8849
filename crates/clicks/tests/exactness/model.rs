//! Rows in a list, with answers found by examining each: slow, but too simple to have the same bugs.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use signpost_domain::analytics::{
    ClickId, ClickSelection, Counts, Dimension, ExportedClick, Question, RecentClicks, RecordedClick,
    RecordedKind, Report, UtcDay, ValueCounts, Values, VisitorHash,
};
use signpost_domain::{AccountId, LinkId, Timestamp};

/// A recorded click that owns its values.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Row {
    pub(crate) at: Timestamp,
    pub(crate) account: AccountId,
    pub(crate) link: LinkId,
    pub(crate) kind: RecordedKind,
    pub(crate) visitor: [u8; 6],
    pub(crate) values: [String; 11],
    /// The sealing that destroyed the hash. Visitors cannot be recognized across two of them.
    pub(crate) sealed_by: Option<usize>,
}

impl Row {
    pub(crate) fn click(&self) -> RecordedClick<'_> {
        RecordedClick {
            at: self.at,
            account: self.account,
            link: self.link,
            kind: self.kind,
            visitor: VisitorHash(self.visitor),
            values: Values(std::array::from_fn(|place| self.values[place].as_str())),
        }
    }

    pub(crate) fn day(&self) -> UtcDay {
        UtcDay::of(self.at)
    }

    fn value(&self, dimension: Dimension) -> String {
        match dimension.recorded_place() {
            Some(place) => self.values[place].clone(),
            None => self.link.to_string(),
        }
    }

    fn visitor_of_day(&self) -> (UtcDay, [u8; 6], Option<usize>) {
        (self.day(), self.visitor, self.sealed_by)
    }
}

fn selected(selection: &ClickSelection, row: &Row) -> bool {
    row.account == selection.account
        && selection.scope.contains(row.link)
        && selection.period.contains(row.at)
        && selection
            .filters
            .iter()
            .all(|filter| filter.values.contains(&row.value(filter.dimension)) != filter.excludes)
}

fn counts(rows: &[&Row]) -> Counts {
    let of = |kind| rows.iter().filter(move |row| row.kind == kind);
    let count = |kind| u64::try_from(of(kind).count()).unwrap();
    let visitors: HashSet<_> = of(RecordedKind::Click).map(|row| row.visitor_of_day()).collect();
    Counts {
        clicks: count(RecordedKind::Click),
        visitors: u64::try_from(visitors.len()).unwrap(),
        bots: count(RecordedKind::Bot),
        blocked: count(RecordedKind::Blocked),
    }
}

/// The answer to a question.
pub(crate) fn answer(rows: &[Row], question: &Question) -> Report {
    let rows: Vec<&Row> = rows.iter().filter(|row| selected(&question.selection, row)).collect();
    let starts = question.buckets.starts();
    let bucket = |place: usize| {
        let end = starts.get(place + 1).copied();
        let inside: Vec<&Row> = rows
            .iter()
            .filter(|row| row.at >= starts[place] && end.is_none_or(|end| row.at < end))
            .copied()
            .collect();
        counts(&inside)
    };
    let values = |dimension: Dimension| {
        let counted = if dimension == Dimension::Widget { RecordedKind::Widget } else { RecordedKind::Click };
        let mut by_value: BTreeMap<String, Vec<&Row>> = BTreeMap::new();
        for row in rows.iter().filter(|row| row.kind == counted) {
            by_value.entry(row.value(dimension)).or_default().push(row);
        }
        let mut values: Vec<ValueCounts> = by_value
            .into_iter()
            .map(|(value, rows)| {
                let visitors: HashSet<_> = rows.iter().map(|row| row.visitor_of_day()).collect();
                ValueCounts {
                    value,
                    clicks: u64::try_from(rows.len()).unwrap(),
                    visitors: u64::try_from(visitors.len()).unwrap(),
                }
            })
            .collect();
        // A stable sort keeps the order of values.
        values.sort_by_key(|value| std::cmp::Reverse(value.clicks));
        values.truncate(question.limit);
        values
    };
    Report {
        totals: counts(&rows),
        series: (0..starts.len()).map(bucket).collect(),
        dimensions: question.dimensions.iter().map(|dimension| values(*dimension)).collect(),
    }
}

/// All selected clicks, in the order of their ids.
pub(crate) fn exported(rows: &[Row], selection: &ClickSelection) -> Vec<ExportedClick> {
    let mut ours: Vec<&Row> = rows
        .iter()
        .filter(|row| row.account == selection.account && row.kind != RecordedKind::Widget)
        .collect();
    ours.sort_by(|one, other| {
        let key = |row: &Row| (row.at, row.link, row.kind, row.values.clone());
        key(one).cmp(&key(other))
    });
    let mut places: BTreeMap<(Timestamp, LinkId), u32> = BTreeMap::new();
    let mut found = Vec::new();
    for row in ours {
        let next = places.entry((row.at, row.link)).or_default();
        let place = *next;
        *next += 1;
        if selected(selection, row) {
            let id = ClickId { at: row.at, link: row.link, place };
            found.push(ExportedClick { id, kind: row.kind, values: row.values.clone() });
        }
    }
    found
}

/// The recent clicks of links.
pub(crate) fn recent(
    rows: &[Row],
    account: AccountId,
    links: &[LinkId],
    since: Timestamp,
) -> Vec<RecentClicks> {
    let of = |link: LinkId| {
        let at: BTreeSet<(Timestamp, usize)> = rows
            .iter()
            .enumerate()
            .filter(|(_, row)| row.account == account && row.link == link && row.kind == RecordedKind::Click)
            .map(|(place, row)| (row.at, place))
            .collect();
        let clicks = at.iter().filter(|(at, _)| *at >= since).count();
        RecentClicks { link, clicks: u64::try_from(clicks).unwrap(), last: at.last().map(|(at, _)| *at) }
    };
    links.iter().map(|link| of(*link)).collect()
}
