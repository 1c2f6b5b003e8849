//! Asking about the clicks of a link or of an account (D45, D46).

use std::time::Instant;

use signpost_domain::analytics::{
    Buckets, ClickSelection, Dimension, DimensionFilter, LinkScope, Period, Question, Report, TimeZone,
};
use signpost_domain::{IdReference, LinkIdKind};

use super::links_asked::{LinkChoice, check_range, recorded_link};
use super::unavailable;
use crate::app_error::AppError;
use crate::application::Application;
use crate::caller::Caller;

/// What is asked, of whichever links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// When.
    pub period: Period,
    /// By whose clock days are counted.
    pub zone: TimeZone,
    /// The buckets of the series.
    pub buckets: Buckets,
    /// The dimensions by which clicks are counted, each once.
    pub dimensions: Vec<Dimension>,
    /// How many values of each.
    pub limit: usize,
    /// With which values.
    pub filters: Vec<DimensionFilter>,
}

/// What was counted of the caller's link with this id.
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
    let link = recorded_link(app, caller, id).await?;
    check_range(caller, asked.period, &asked.zone)?;
    let _turn = app.analytics.turns.turn(caller.account_id()).await;
    answer(app, caller, LinkScope::One(link), asked, deadline).await
}

/// What was counted of the chosen links of the caller, as they are now.
///
/// # Errors
/// [`Refusal::AnalyticsRangeTooLong`](signpost_domain::Refusal) (D49), [`AppError::AnalyticsUnavailable`] (D51), and a
/// violation of `group_id` or `domain` that has more links than the node's bounds allow.
pub async fn of_account(
    app: &Application,
    caller: &Caller,
    links: LinkChoice,
    asked: Asked,
    deadline: Instant,
) -> Result<Report, AppError> {
    check_range(caller, asked.period, &asked.zone)?;
    let _turn = app.analytics.turns.turn(caller.account_id()).await;
    let scope = links.scope(app, caller).await?;
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
