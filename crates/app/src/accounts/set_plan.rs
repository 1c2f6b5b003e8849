//! Putting an account on another plan.

use signpost_domain::{AccountId, PlanName};

use super::create::require_plan;
use super::operator_error::OperatorError;
use crate::application::Application;
use crate::unit_of_work::{Attempts, commit};

/// Puts an account on a plan. It holds for every request that starts after this returns (contract,
/// Authentication 6).
pub async fn set_plan(app: &Application, id: AccountId, plan: &PlanName) -> Result<(), OperatorError> {
    require_plan(app, plan)?;
    let attempts = Attempts::at(app);
    attempts
        .run(|| async {
            let mut work = attempts.begin().await?;
            if !work.set_plan(id, plan).await? {
                return Err(OperatorError::NoSuchAccount(id));
            }
            Ok(commit(app, work).await?)
        })
        .await
}
