//! Questions about the clicks of a link or an account (D45, D46), and the recent clicks of listed links (D66).

use std::collections::{BTreeSet, HashMap};
use std::time::{Duration, Instant};

use signpost_domain::analytics::{
    Buckets, ClickSelection, Dimension, DimensionFilter, LinkScope, Period, Question, RecentClicks, Report,
    TimeZone,
};
use signpost_domain::{IdReference, Link, LinkId, LinkIdKind, Permission, QuotaWindow};

use super::links_asked::{LinkChoice, check_range, recorded_link};
use super::unavailable;
use crate::app_error::AppError;
use crate::application::Application;
use crate::caller::Caller;

/// A question about clicks, without its links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// The period of the clicks.
    pub period: Period,
    /// The time zone that defines days.
    pub zone: TimeZone,
    /// The buckets of the series.
    pub buckets: Buckets,
    /// The dimensions of the breakdowns, each once.
    pub dimensions: Vec<Dimension>,
    /// The maximum number of values for each dimension.
    pub limit: usize,
    /// The filters on dimensions.
    pub filters: Vec<DimensionFilter>,
}

/// The counts for the caller's link with this id.
///
/// # Errors
/// The kind's `…NotFound` (D2), [`Refusal::AnalyticsNotConfigured`](signpost_domain::Refusal) (D50),
/// [`Refusal::AnalyticsRangeTooLong`](signpost_domain::Refusal) (D49), [`AppError::AnalyticsUnavailable`] (D51).
pub async fn of_link<K: LinkIdKind>(
    app: &Application,
    caller: &Caller,
    id: IdReference<K>,
    asked: Asked,
    deadline: Instant,
) -> Result<Report, AppError> {
    caller.require(Permission::ReadAnalytics)?;
    let link = recorded_link(app, caller, id).await?;
    check_range(caller, asked.period, &asked.zone)?;
    let _turn = app.analytics.turns.turn(caller.account_id()).await;
    answer(app, caller, LinkScope::One(link), asked, deadline).await
}

/// The counts for the caller's links that `links` selects now.
///
/// # Errors
/// [`Refusal::AnalyticsRangeTooLong`](signpost_domain::Refusal) (D49), [`AppError::AnalyticsUnavailable`] (D51);
/// [`AppError::Invalid`] if the group or domain has more links than this node's bounds allow.
pub async fn of_account(
    app: &Application,
    caller: &Caller,
    links: LinkChoice,
    asked: Asked,
    deadline: Instant,
) -> Result<Report, AppError> {
    caller.require(Permission::ReadAnalytics)?;
    check_range(caller, asked.period, &asked.zone)?;
    let _turn = app.analytics.turns.turn(caller.account_id()).await;
    let (scope, _large_scope_turn) =
        links.scope_in_turn(app, caller, &app.analytics.large_scope_turns).await?;
    answer(app, caller, scope, asked, deadline).await
}

async fn answer(
    app: &Application,
    caller: &Caller,
    scope: LinkScope,
    asked: Asked,
    deadline: Instant,
) -> Result<Report, AppError> {
    let Asked { period, zone: _, buckets, dimensions, limit, filters } = asked;
    let selection = ClickSelection { account: caller.account_id(), scope, period, filters };
    let question = Question { selection, buckets, dimensions, limit };
    app.click_store.answer(&question, deadline).await.map_err(unavailable)
}

/// The period before now in which clicks are recent.
const RECENT: Duration = Duration::from_hours(7 * 24);

/// The recent clicks of these links of the caller: one entry for each, in the same order (D66). The wait for the account's turn
/// has no time limit; see [`deadline`](super::Analytics::deadline).
///
/// # Errors
/// [`AppError::AnalyticsUnavailable`] (D51).
pub async fn recent_clicks(
    app: &Application,
    caller: &Caller,
    links: &[Link],
) -> Result<Vec<RecentClicks>, AppError> {
    caller.require(Permission::ReadAnalytics)?;
    if links.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<_> = links.iter().map(Link::id).collect();
    let _turn = app.analytics.list_turns.turn(caller.account_id()).await;
    let since = app.clock.now().minus(RECENT);
    app.click_store.recent_clicks(caller.account_id(), &ids, since).await.map_err(unavailable)
}

/// How many days before today [`clicks_of`] counts.
const LISTED_BEFORE: Duration = Duration::from_hours(29 * 24);

/// The clicks of these links of the caller in the last 30 days (UTC, today included), by one question. Whole days are answered
/// from digests.
///
/// # Errors
/// [`AppError::AnalyticsUnavailable`] (D51).
pub async fn clicks_of(
    app: &Application,
    caller: &Caller,
    links: &[Link],
) -> Result<HashMap<LinkId, u64>, AppError> {
    caller.require(Permission::ReadAnalytics)?;
    let ids: BTreeSet<LinkId> = links.iter().map(Link::id).collect();
    let now = app.clock.now();
    let first = QuotaWindow::Day.start(now).minus(LISTED_BEFORE);
    let (Some(period), Some(buckets), false) =
        (Period::new(first, now), Buckets::new(vec![first]), ids.is_empty())
    else {
        return Ok(HashMap::new());
    };
    let mut clicks: HashMap<LinkId, u64> = ids.iter().map(|id| (*id, 0)).collect();
    let asked = Asked {
        period,
        zone: TimeZone::utc(),
        buckets,
        dimensions: vec![Dimension::Link],
        limit: ids.len(),
        filters: vec![],
    };
    let _turn = app.analytics.list_turns.turn(caller.account_id()).await;
    let deadline = app.analytics.deadline();
    let report = answer(app, caller, LinkScope::Some(ids), asked, deadline).await?;
    for counts in report.dimensions.into_iter().flatten() {
        if let Ok(id) = counts.value.parse() {
            clicks.insert(id, counts.clicks);
        }
    }
    Ok(clicks)
}
