//! The queries of the benchmark.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result, ensure};
use signpost_domain::analytics::{
    Buckets, ClickSelection, Dimension, DimensionFilter, LinkScope, Period, Question, Report, UtcDay,
};
use signpost_port_contracts::SyntheticClicks;

use crate::Scenery;

/// A query of the click store, and the same query as SQL on rows.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) question: Question,
    /// The goal: the share of the rows' time that the query may take.
    pub(crate) goal: Option<f64>,
}

/// The result from the rows: clicks and visitors of the whole period, and of the values of each dimension.
pub(crate) struct Expected {
    pub(crate) totals: (u64, u64),
    /// For each dimension, the clicks and visitors of its most frequent value.
    pub(crate) dimensions: Vec<(u64, u64)>,
}

pub(crate) fn all(scenery: &Scenery) -> Result<Vec<Case>> {
    let Scenery { hot, tail } = scenery;
    let two = vec![Dimension::Country, Dimension::Browser];
    let by_day =
        |name, clicks: &SyntheticClicks, scope: LinkScope, dimensions, filters, goal| -> Result<Case> {
            let selection =
                ClickSelection { account: clicks.account, scope, period: period(clicks)?, filters };
            let question = Question { buckets: days(clicks)?, selection, dimensions, limit: 100 };
            Ok(Case { name, question, goal })
        };
    let filter = |dimension, value: &str, excludes| {
        vec![DimensionFilter { dimension, values: BTreeSet::from([value.to_owned()]), excludes }]
    };
    let hot_link = LinkScope::One(hot.link(0));
    Ok(vec![
        by_day(
            "a link's year by day and two dimensions",
            hot,
            hot_link.clone(),
            two.clone(),
            vec![],
            Some(0.001),
        )?,
        // No click has this channel, so the filter keeps all clicks but must check each one.
        by_day(
            "the same without digests",
            hot,
            hot_link.clone(),
            two.clone(),
            filter(Dimension::Channel, "none of these", true),
            Some(0.03),
        )?,
        by_day(
            "a link's year of one country by browser",
            hot,
            hot_link,
            vec![Dimension::Browser],
            filter(Dimension::Country, "AA", false),
            Some(0.2),
        )?,
        by_day(
            "an account's month by day and two dimensions",
            tail,
            LinkScope::All,
            two,
            vec![],
            Some(0.005),
        )?,
        by_day(
            "an account's month by link",
            tail,
            LinkScope::All,
            vec![Dimension::Link],
            vec![],
            Some(0.08),
        )?,
        by_day(
            "a rare link's month",
            tail,
            LinkScope::One(tail.link(60_000.min(tail.links - 1))),
            vec![],
            vec![],
            None,
        )?,
    ])
}

fn period(clicks: &SyntheticClicks) -> Result<Period> {
    let last = UtcDay::of(clicks.first).plus(clicks.days - 1).last();
    Period::new(clicks.first, last).context("a period")
}

fn days(clicks: &SyntheticClicks) -> Result<Buckets> {
    Buckets::new(period(clicks)?.days().map(UtcDay::first).collect()).context("days")
}

/// Checks that the report equals the result from the rows.
pub(crate) fn compare(case: &Case, report: &Report, expected: &Expected) -> Result<()> {
    let name = case.name;
    let totals = (report.totals.clicks, report.totals.visitors);
    ensure!(totals == expected.totals, "{name}: {totals:?} is not {:?}", expected.totals);
    let in_days: u64 = report.series.iter().map(|counts| counts.clicks).sum();
    ensure!(in_days == totals.0, "{name}: the days have {in_days} of {} clicks", totals.0);
    ensure!(report.dimensions.len() == expected.dimensions.len(), "{name}: not all dimensions");
    for (values, expected) in report.dimensions.iter().zip(&expected.dimensions) {
        let first = values.first().map(|value| (value.clicks, value.visitors));
        ensure!(first == Some(*expected), "{name}: {first:?} is not {expected:?}");
    }
    Ok(())
}
