//! An independent count of visits.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use jiff::tz::TimeZone;
use serde_json::{Value, json};
use signpost_domain::Timestamp;
use signpost_domain::analytics::RecordedKind;

use crate::local_time::begin_of;

/// The dimensions in the order of a row's values.
pub(crate) const DIMENSIONS: [&str; 12] = [
    "channel",
    "country",
    "device",
    "os",
    "browser",
    "language",
    "referrer",
    "utm_source",
    "utm_medium",
    "utm_campaign",
    "widget",
    "link",
];

/// A visit that must have been recorded.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) at: Timestamp,
    pub(crate) kind: RecordedKind,
    /// Address and agent.
    pub(crate) visitor: (String, &'static str),
    /// The values of [`DIMENSIONS`].
    pub(crate) values: Vec<String>,
}

/// A filter by values of a dimension.
#[derive(Debug, Clone)]
pub(crate) struct Filter {
    pub(crate) dimension: usize,
    pub(crate) values: BTreeSet<String>,
    pub(crate) excludes: bool,
}

/// A question, as the model understands it.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    /// The link; `None` for the whole account.
    pub(crate) link: Option<String>,
    pub(crate) first: i64,
    pub(crate) last: i64,
    pub(crate) zone: &'static str,
    pub(crate) interval: &'static str,
    pub(crate) dimensions: Vec<usize>,
    pub(crate) filters: Vec<Filter>,
    pub(crate) limit: usize,
}

const LINK: usize = 11;
const WIDGET: usize = 10;

impl Asked {
    /// Whether the question selects a row.
    pub(crate) fn takes(&self, row: &Row) -> bool {
        let at = row.at.unix_millis();
        (self.first..=self.last).contains(&at)
            && self.link.as_ref().is_none_or(|link| row.values[LINK] == *link)
            && self
                .filters
                .iter()
                .all(|filter| filter.values.contains(&row.values[filter.dimension]) != filter.excludes)
    }

    /// The answer (D46), computed only from the rows.
    pub(crate) fn answer(&self, rows: &[Row]) -> Value {
        let zone = TimeZone::get(self.zone).unwrap();
        let rows: Vec<&Row> = rows.iter().filter(|row| self.takes(row)).collect();
        let mut series: BTreeMap<Timestamp, Vec<&Row>> = BTreeMap::new();
        // Finds every bucket of the period by walking through it.
        let instant = |millis| Timestamp::from_unix_millis(millis).unwrap();
        let mut at = self.first;
        while at <= self.last {
            series.entry(begin_of(instant(at), &zone, self.interval)).or_default();
            at += 15 * 60_000;
        }
        series.entry(begin_of(instant(self.last), &zone, self.interval)).or_default();
        for row in &rows {
            series.entry(begin_of(row.at, &zone, self.interval)).or_default().push(row);
        }
        let series: Vec<Value> = series
            .into_iter()
            .map(|(start, rows)| {
                let mut counts = counts(&rows);
                counts["start"] = json!(start.to_string());
                counts
            })
            .collect();
        let dimensions: serde_json::Map<String, Value> = self
            .dimensions
            .iter()
            .map(|dimension| (DIMENSIONS[*dimension].to_owned(), self.values_of(*dimension, &rows)))
            .collect();
        json!({
            "object": "analytics",
            "start_date": instant(self.first).to_string(),
            "end_date": instant(self.last).to_string(),
            "timezone": self.zone,
            "interval": self.interval,
            "totals": counts(&rows),
            "series": series,
            "dimensions": dimensions,
        })
    }

    fn values_of(&self, dimension: usize, rows: &[&Row]) -> Value {
        let kind = if dimension == WIDGET { RecordedKind::Widget } else { RecordedKind::Click };
        let mut by_value: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
        for row in rows.iter().filter(|row| row.kind == kind) {
            by_value.entry(&row.values[dimension]).or_default().push(row);
        }
        let mut values: Vec<(&str, usize, usize)> =
            by_value.into_iter().map(|(value, rows)| (value, rows.len(), visitors(&rows))).collect();
        values.sort_by(|one, other| other.1.cmp(&one.1).then(one.0.cmp(other.0)));
        values.truncate(self.limit);
        let shown = values
            .into_iter()
            .map(|(value, clicks, visitors)| json!({"value": value, "clicks": clicks, "visitors": visitors}));
        shown.collect()
    }
}

/// A visitor counts once on each UTC day (D48).
fn visitors(rows: &[&Row]) -> usize {
    let day = |row: &Row| row.at.unix_millis() / 86_400_000;
    rows.iter().map(|row| (day(row), &row.visitor)).collect::<HashSet<_>>().len()
}

fn counts(rows: &[&Row]) -> Value {
    let of = |kind| rows.iter().copied().filter(|row| row.kind == kind).collect::<Vec<_>>();
    let clicks = of(RecordedKind::Click);
    json!({
        "clicks": clicks.len(),
        "visitors": visitors(&clicks),
        "bots": of(RecordedKind::Bot).len(),
        "blocked": of(RecordedKind::Blocked).len(),
    })
}
