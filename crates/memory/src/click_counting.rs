//! Counting clicks one by one: the model that stores are compared with.
//!
//! It shares only the decoder with `signpost-clicks`, so that a mistake in either one shows as a difference.

use std::collections::{BTreeMap, HashSet};

use signpost_domain::analytics::{
    Buckets, ClickId, ClickSelection, Counts, Dimension, ExportedClick, Question, RecentClicks,
    RecordedClick, RecordedKind, Report, UtcDay, ValueCounts, Values, VisitorHash,
};
use signpost_domain::{AccountId, LinkId, Timestamp};

/// A recorded click with owned texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeptRow {
    pub(crate) at: Timestamp,
    pub(crate) account: AccountId,
    link: LinkId,
    kind: RecordedKind,
    visitor: VisitorHash,
    values: [String; Dimension::RECORDED.len()],
}

impl From<&RecordedClick<'_>> for KeptRow {
    fn from(click: &RecordedClick<'_>) -> Self {
        let RecordedClick { at, account, link, kind, visitor, values: Values(values) } = *click;
        Self { at, account, link, kind, visitor, values: values.map(str::to_owned) }
    }
}

impl KeptRow {
    fn value(&self, dimension: Dimension) -> String {
        match dimension {
            Dimension::Link => self.link.to_string(),
            recorded => {
                let place = recorded.recorded_place();
                place.and_then(|place| self.values.get(place)).cloned().unwrap_or_default()
            }
        }
    }

    fn is_selected(&self, selection: &ClickSelection) -> bool {
        let ClickSelection { account, scope, period, filters } = selection;
        self.account == *account
            && scope.contains(self.link)
            && period.contains(self.at)
            && filters.iter().all(|filter| filter.takes(&self.value(filter.dimension)))
    }
}

/// Clicks of one kind, and their visitors.
#[derive(Debug, Default)]
struct Counted {
    clicks: u64,
    visitors: HashSet<(UtcDay, VisitorHash)>,
}

impl Counted {
    fn count(&mut self, row: &KeptRow) {
        self.clicks += 1;
        self.visitors.insert((UtcDay::of(row.at), row.visitor));
    }

    fn distinct(&self) -> u64 {
        self.visitors.len().try_into().unwrap_or(u64::MAX)
    }
}

/// The answer to a question about these rows.
pub(crate) fn answer(rows: &[KeptRow], question: &Question) -> Report {
    let Question { selection, buckets, dimensions, limit } = question;
    let selected: Vec<&KeptRow> = rows.iter().filter(|row| row.is_selected(selection)).collect();
    Report {
        totals: counts(&selected),
        series: series(&selected, buckets),
        dimensions: dimensions
            .iter()
            .map(|dimension| values_of(&selected, *dimension).into_iter().take(*limit).collect())
            .collect(),
    }
}

fn counts(rows: &[&KeptRow]) -> Counts {
    let mut clicks = Counted::default();
    let (mut bots, mut blocked) = (0, 0);
    for row in rows {
        match row.kind {
            RecordedKind::Click => clicks.count(row),
            RecordedKind::Bot => bots += 1,
            RecordedKind::Blocked => blocked += 1,
            RecordedKind::Widget => {}
        }
    }
    Counts { clicks: clicks.clicks, visitors: clicks.distinct(), bots, blocked }
}

fn series(rows: &[&KeptRow], buckets: &Buckets) -> Vec<Counts> {
    let mut of_bucket: BTreeMap<Timestamp, Vec<&KeptRow>> =
        buckets.starts().iter().map(|start| (*start, Vec::new())).collect();
    for row in rows {
        if let Some((_, rows)) = of_bucket.range_mut(..=row.at).next_back() {
            rows.push(row);
        }
    }
    of_bucket.values().map(|rows| counts(rows)).collect()
}

fn values_of(rows: &[&KeptRow], dimension: Dimension) -> Vec<ValueCounts> {
    let counting = match dimension {
        Dimension::Widget => RecordedKind::Widget,
        _ => RecordedKind::Click,
    };
    let mut by_value: BTreeMap<String, Counted> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.kind == counting) {
        by_value.entry(row.value(dimension)).or_default().count(row);
    }
    let mut values: Vec<_> = by_value
        .into_iter()
        .map(|(value, counted)| ValueCounts { value, clicks: counted.clicks, visitors: counted.distinct() })
        .collect();
    // The sort is stable, so values with equal counts keep their order.
    values.sort_by_key(|counts| std::cmp::Reverse(counts.clicks));
    values
}

/// The selected clicks after `after`, in the order of their ids.
pub(crate) fn exported(
    rows: &[KeptRow],
    selection: &ClickSelection,
    after: Option<ClickId>,
    at_most: usize,
) -> Vec<ExportedClick> {
    let mut of_account: Vec<&KeptRow> = rows
        .iter()
        .filter(|row| row.account == selection.account && row.kind != RecordedKind::Widget)
        .collect();
    of_account.sort_by_key(|row| (row.at, row.link, row.kind, &row.values));
    let mut clicks = Vec::new();
    let mut latest: Option<ClickId> = None;
    for row in of_account {
        // The position is among all clicks of the link in that millisecond, so that an id means the same under every filter.
        let place = match latest {
            Some(ClickId { at, link, place }) if (at, link) == (row.at, row.link) => place + 1,
            _ => 0,
        };
        let id = ClickId { at: row.at, link: row.link, place };
        latest = Some(id);
        if row.is_selected(selection) && after.is_none_or(|after| id > after) {
            clicks.push(ExportedClick { id, kind: row.kind, values: row.values.clone() });
        }
    }
    clicks.truncate(at_most);
    clicks
}

/// The clicks of each of these links since an instant, and the time of each link's last click.
pub(crate) fn recent(
    rows: &[KeptRow],
    account: AccountId,
    links: &[LinkId],
    since: Timestamp,
) -> Vec<RecentClicks> {
    let clicks_of = |link| {
        rows.iter()
            .filter(move |row| row.account == account && row.link == link && row.kind == RecordedKind::Click)
            .map(|row| row.at)
    };
    let recent = |link: &LinkId| RecentClicks {
        link: *link,
        clicks: clicks_of(*link).filter(|at| *at >= since).count().try_into().unwrap_or(u64::MAX),
        last: clicks_of(*link).max(),
    };
    links.iter().map(recent).collect()
}
