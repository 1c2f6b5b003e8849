//! What was clicked lately, beside each link of a list (D66).

use std::time::Duration;

use signpost_domain::Link;
use signpost_domain::analytics::RecentClicks;

use super::unavailable;
use crate::app_error::AppError;
use crate::application::Application;
use crate::caller::Caller;

/// The time before now in which clicks are recent.
const RECENT: Duration = Duration::from_hours(7 * 24);

/// One entry for each of these links of the caller, in their order.
///
/// # Errors
/// [`AppError::AnalyticsUnavailable`] (D51).
pub async fn recent_clicks(
    app: &Application,
    caller: &Caller,
    links: &[Link],
) -> Result<Vec<RecentClicks>, AppError> {
    if links.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<_> = links.iter().map(Link::id).collect();
    let since = app.clock.now().minus(RECENT);
    app.click_store.recent_clicks(caller.account_id(), &ids, since).await.map_err(unavailable)
}
