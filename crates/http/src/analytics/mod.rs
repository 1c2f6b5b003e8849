//! Analytics: reports and the export of clicks (D45 to D51, D66).

mod click_lines;
mod clicks;
mod endpoints;
mod parameters;
mod query;
mod report;

use std::future::Future;
use std::time::Instant;

use signpost_app::AppError;

use crate::api_error::ApiError;
use crate::sections::Section;

/// The path of the account's report.
const PATH: &str = "/v1/analytics";

/// What the API says about analytics.
pub(crate) static SECTION: Section = Section {
    tag: "Analytics",
    description: "Reports and exports of clicks.",
    endpoints: endpoints::all,
    schemas: || [report::components(), click_lines::components(), parameters::schemas()].concat(),
    parameters: || parameters::all().collect(),
};

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
