//! Retrieving a group.

use signpost_domain::id::GroupKind;
use signpost_domain::{Group, IdReference, Refusal};

use crate::app_error::AppError;
use crate::application::Application;
use crate::caller::Caller;

/// The caller's group with this id.
///
/// # Errors
/// [`Refusal::GroupNotFound`], alike for a malformed id, an unknown one, and another account's (D2).
pub async fn get(app: &Application, caller: &Caller, id: IdReference<GroupKind>) -> Result<Group, AppError> {
    let id = id.id().ok_or(Refusal::GroupNotFound)?;
    let group = app.store.group(caller.account_id(), id).await?;
    Ok(group.ok_or(Refusal::GroupNotFound)?)
}
