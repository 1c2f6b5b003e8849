//! Analytics: reports and the export of clicks (D45 to D51, D66).

pub(crate) mod click_lines;
pub(crate) mod clicks;
mod query;
pub(crate) mod report;

use std::future::Future;
use std::time::Instant;

use signpost_app::AppError;

use crate::api_error::ApiError;

/// The path of the account's report.
pub(crate) const PATH: &str = "/v1/analytics";

/// Runs a use case until a deadline. A question that still waits for its turn then fails (D51).
pub(crate) async fn until<T>(
    deadline: Instant,
    work: impl Future<Output = Result<T, AppError>>,
) -> Result<T, ApiError> {
    match tokio::time::timeout_at(deadline.into(), work).await {
        Ok(done) => Ok(done?),
        Err(_) => Err(AppError::AnalyticsBusy.into()),
    }
}
