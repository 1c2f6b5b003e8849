//! Retrieving a custom domain.

use signpost_domain::id::DomainKind;
use signpost_domain::{IdReference, Refusal};

use super::with_instructions::DomainWithInstructions;
use crate::app_error::AppError;
use crate::application::Application;
use crate::caller::Caller;

/// The caller's domain with this id, as it reads now (D39). The plan need not have custom domains any more: only connecting
/// takes the feature (D15).
///
/// # Errors
/// [`Refusal::DomainNotFound`] (D2).
pub async fn get(
    app: &Application,
    caller: &Caller,
    id: IdReference<DomainKind>,
) -> Result<DomainWithInstructions, AppError> {
    let id = id.id().ok_or(Refusal::DomainNotFound)?;
    let domain = app.store.custom_domain(caller.account_id(), id).await?.ok_or(Refusal::DomainNotFound)?;
    Ok(DomainWithInstructions::at(app, &domain, app.clock.now()))
}
