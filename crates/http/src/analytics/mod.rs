//! Analytics: the questions, and the export of clicks (D45 to D51, D66).

pub(crate) mod click_lines;
pub(crate) mod clicks;
mod query;
pub(crate) mod report;

use std::future::Future;
use std::time::Instant;

use signpost_app::AppError;

use crate::api_error::ApiError;

/// Where the whole account is asked about.
pub(crate) const PATH: &str = "/v1/analytics";

/// What a use case says by a deadline; a question that still waits for its turn then is given up (D51).
async fn by<T>(deadline: Instant, work: impl Future<Output = Result<T, AppError>>) -> Result<T, ApiError> {
    match tokio::time::timeout_at(deadline.into(), work).await {
        Ok(done) => Ok(done?),
        Err(_) => Err(AppError::AnalyticsBusy.into()),
    }
}
