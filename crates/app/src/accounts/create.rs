//! Creating an account.

use signpost_domain::{Account, Email, Name, Plan, PlanName};

use super::operator_error::OperatorError;
use crate::application::Application;
use crate::ports::InsertAccountError;
use crate::unit_of_work::{Attempts, commit};

/// What a new account is like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateAccount {
    /// Its owner's address; one account per address, without regard to case.
    pub email: Email,
    /// Its name.
    pub name: Option<Name>,
    /// Its plan, which the configuration must have.
    pub plan: PlanName,
}

/// Creates an account.
pub async fn create(app: &Application, command: CreateAccount) -> Result<Account, OperatorError> {
    let account = new_account(app, command)?;
    let attempts = Attempts::at(app);
    attempts
        .run(|| async {
            let mut work = attempts.begin().await?;
            match work.insert_account(&account).await {
                Ok(()) => {}
                Err(InsertAccountError::EmailTaken) => {
                    return Err(OperatorError::EmailTaken(account.email.as_str().to_owned()));
                }
                Err(InsertAccountError::Store(error)) => return Err(error.into()),
            }
            Ok(commit(app, work).await?)
        })
        .await?;
    Ok(account)
}

pub(super) fn new_account(app: &Application, command: CreateAccount) -> Result<Account, OperatorError> {
    let CreateAccount { email, name, plan } = command;
    require_plan(app, &plan)?;
    Ok(Account { id: app.ids.next(), email, name, plan, suspended_at: None, created_at: app.clock.now() })
}

/// The plan of this name, which the configuration must have.
pub(crate) fn require_plan<'a>(app: &'a Application, plan: &PlanName) -> Result<&'a Plan, OperatorError> {
    if let Some(plan) = app.plans.get(plan) {
        return Ok(plan);
    }
    let known = app.plans.iter().map(|plan| plan.name.as_str()).collect::<Vec<_>>().join(", ");
    Err(OperatorError::NoSuchPlan { name: plan.clone(), known })
}
