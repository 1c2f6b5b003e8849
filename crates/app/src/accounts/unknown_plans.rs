//! Accounts that the configuration has no plan for.

use signpost_domain::PlanName;

use crate::application::Application;
use crate::ports::StoreError;

/// The plans that accounts have and that this node does not know, each with the number of its accounts.
///
/// # Errors
/// The store broke.
pub async fn unknown_plans(app: &Application) -> Result<Vec<(PlanName, u64)>, StoreError> {
    let mut plans = app.store.plans_in_use().await?;
    plans.retain(|(plan, _)| app.plans.get(plan).is_none());
    Ok(plans)
}
