//! What owners set for their account (D69).

use signpost_domain::{AuditAction, Email, Name, Permission};

use super::OperatorError;
use crate::admission::SignedIn;
use crate::application::Application;
use crate::audit::record;
use crate::caller::Caller;
use crate::operator::Operator;
use crate::people::{Client, PersonError, second_factor};
use crate::ports::WriteAccountError;
use crate::unit_of_work::{Attempts, commit};

/// Gives the caller's account another contact address and another name. Its owner needs a confirmed password (D73).
///
/// # Errors
/// [`OperatorError::EmailTaken`], [`OperatorError::NoSuchAccount`], [`PersonError::NotConfirmed`].
pub async fn rename(
    app: &Application,
    caller: &Caller,
    signed_in: &SignedIn,
    email: &Email,
    name: Option<&Name>,
    client: &Client,
) -> Result<(), OperatorError> {
    caller.require(Permission::ManageAccount)?;
    let id = caller.account_id();
    let owner = Operator::owner(app, signed_in, client, id)?;
    let attempts = Attempts::at(app);
    attempts
        .run(|| async {
            let mut work = attempts.begin().await?;
            owner.require_live(work.as_mut()).await?;
            match work.rename_account(id, email, name).await {
                Ok(true) => {}
                Ok(false) => return Err(OperatorError::NoSuchAccount(id)),
                Err(WriteAccountError::EmailTaken) => {
                    return Err(OperatorError::EmailTaken(email.as_str().to_owned()));
                }
                Err(WriteAccountError::Store(error)) => return Err(error.into()),
            }
            let object = format!("{id} {email} {}", name.map_or("", Name::as_str));
            let deed = owner.deed(Some(id), AuditAction::AccountChanged, object.trim_end());
            record(app, work.as_mut(), deed).await?;
            Ok(commit(app, work).await?)
        })
        .await
}

/// Sets whether the members of the caller's account need a second factor beside their passwords. It holds for every request that
/// starts after this returns; members without one are led to set it up. The owner needs a confirmed password (D73), and a second
/// factor first.
///
/// # Errors
/// [`PersonError::OwnFactorFirst`], [`PersonError::NotConfirmed`], [`OperatorError::NoSuchAccount`].
pub async fn require_second_factor(
    app: &Application,
    caller: &Caller,
    signed_in: &SignedIn,
    is_required: bool,
    client: &Client,
) -> Result<(), OperatorError> {
    caller.require(Permission::ManageAccount)?;
    let id = caller.account_id();
    let owner = Operator::owner(app, signed_in, client, id)?;
    if is_required && second_factor::is_missing(app, signed_in.user()) {
        return Err(PersonError::OwnFactorFirst.into());
    }
    let action =
        if is_required { AuditAction::SecondFactorRequired } else { AuditAction::SecondFactorOptional };
    let attempts = Attempts::at(app);
    attempts
        .run(|| async {
            let mut work = attempts.begin().await?;
            owner.require_live(work.as_mut()).await?;
            if !work.require_second_factor(id, is_required).await? {
                return Err(OperatorError::NoSuchAccount(id));
            }
            record(app, work.as_mut(), owner.deed(Some(id), action, id.to_string())).await?;
            Ok(commit(app, work).await?)
        })
        .await
}
