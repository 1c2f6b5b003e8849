//! Exporting single clicks (D66).

use std::time::Instant;

use signpost_domain::analytics::{
    ClickId, ClickSelection, DimensionFilter, ExportedClick, LinkScope, Period, TimeZone,
};
use signpost_domain::{IdReference, LinkIdKind, Permission};

use super::export_permits::{ExportPermit, NoExport};
use super::links_asked::{LinkChoice, check_range, recorded_link};
use super::turns::Turn;
use super::unavailable;
use crate::app_error::AppError;
use crate::application::Application;
use crate::caller::Caller;

/// The number of clicks in a page, about 15 MB. A store decodes a whole day for each page, so small pages would be slow.
const PAGE: usize = 20_000;

/// The clicks to export, without their links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskedClicks {
    /// The period of the clicks.
    pub period: Period,
    /// The time zone that defines days.
    pub zone: TimeZone,
    /// The filters on dimensions.
    pub filters: Vec<DimensionFilter>,
    /// The click after which the export starts.
    pub after: Option<ClickId>,
}

/// A running export. It counts as the account's until it is dropped.
#[derive(Debug)]
pub struct Export {
    selection: ClickSelection,
    after: Option<ClickId>,
    is_over: bool,
    _permit: ExportPermit,
    _large_scope_turn: Option<Turn<()>>,
}

/// Begins an export of the clicks of the caller's link with this id.
///
/// # Errors
/// Those of [`of_link`](super::of_link); [`AppError::TooManyExports`] if the account began one less than a minute ago, or
/// one is still running.
pub async fn export_of_link<K: LinkIdKind>(
    app: &Application,
    caller: &Caller,
    id: IdReference<K>,
    asked: AskedClicks,
) -> Result<Export, AppError> {
    caller.require(Permission::ReadAnalytics)?;
    let link = recorded_link(app, caller, id).await?;
    begin(app, caller, asked, async || Ok((LinkScope::One(link), None))).await
}

/// Begins an export of the clicks of the caller's links that `links` selects now. If these are very many, it waits for other such
/// exports, without a time limit; see [`deadline`](super::Analytics::deadline).
///
/// # Errors
/// Those of [`of_account`](super::of_account); [`AppError::TooManyExports`] if the account began one less than a minute
/// ago, or one is still running.
pub async fn export_of_account(
    app: &Application,
    caller: &Caller,
    links: LinkChoice,
    asked: AskedClicks,
) -> Result<Export, AppError> {
    caller.require(Permission::ReadAnalytics)?;
    let turns = &app.analytics.large_export_turns;
    begin(app, caller, asked, async || links.scope_in_turn(app, caller, turns).await).await
}

/// Checks what [`export_of_link`] checks, but begins no export.
///
/// # Errors
/// Those of [`of_link`](super::of_link).
pub async fn check_export_of_link<K: LinkIdKind>(
    app: &Application,
    caller: &Caller,
    id: IdReference<K>,
    asked: &AskedClicks,
) -> Result<(), AppError> {
    caller.require(Permission::ReadAnalytics)?;
    recorded_link(app, caller, id).await?;
    check_range(caller, asked.period, &asked.zone)
}

/// Checks what [`export_of_account`] checks, but begins no export.
///
/// # Errors
/// Those of [`of_account`](super::of_account).
pub async fn check_export_of_account(
    app: &Application,
    caller: &Caller,
    links: LinkChoice,
    asked: &AskedClicks,
) -> Result<(), AppError> {
    caller.require(Permission::ReadAnalytics)?;
    check_range(caller, asked.period, &asked.zone)?;
    links.scope_in_turn(app, caller, &app.analytics.large_scope_turns).await.map(drop)
}

async fn begin(
    app: &Application,
    caller: &Caller,
    asked: AskedClicks,
    scope: impl AsyncFnOnce() -> Result<(LinkScope, Option<Turn<()>>), AppError>,
) -> Result<Export, AppError> {
    let AskedClicks { period, zone, filters, after } = asked;
    check_range(caller, period, &zone)?;
    let account = caller.account_id();
    let permit = app.analytics.exports.begin(account, Instant::now()).map_err(|refused| match refused {
        NoExport::OfAccount { retry_after_seconds } => AppError::TooManyExports { retry_after_seconds },
        NoExport::OfNode => AppError::AnalyticsBusy,
    })?;
    let (scope, large_scope_turn) = match scope().await {
        Ok(scope) => scope,
        Err(error) => {
            permit.give_back();
            return Err(error);
        }
    };
    let selection = ClickSelection { account, scope, period, filters };
    Ok(Export { selection, after, is_over: false, _permit: permit, _large_scope_turn: large_scope_turn })
}

impl Export {
    /// The next clicks in the order of their ids; empty at the end. A page waits for a turn like a question.
    ///
    /// # Errors
    /// [`AppError::AnalyticsUnavailable`]. The export cannot continue then.
    pub async fn next(
        &mut self,
        app: &Application,
        deadline: Instant,
    ) -> Result<Vec<ExportedClick>, AppError> {
        if self.is_over {
            return Ok(Vec::new());
        }
        let _turn = app.analytics.turns.turn(self.selection.account).await;
        let page =
            app.click_store.clicks(&self.selection, self.after, PAGE, deadline).await.map_err(unavailable)?;
        self.is_over = page.len() < PAGE;
        if let Some(last) = page.last() {
            self.after = Some(last.id);
        }
        Ok(page)
    }
}
