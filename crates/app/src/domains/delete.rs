//! Removing a custom domain (D43).

use signpost_domain::id::DomainKind;
use signpost_domain::{AccountId, CustomDomain, CustomDomainStatus, DomainId, IdReference, Refusal};

use super::handover::{Losses, NO_CHECKS, lose_links, write};
use crate::app_error::AppError;
use crate::application::Application;
use crate::caller::Caller;
use crate::ports::LinksOf;
use crate::unit_of_work::{Attempts, commit};

/// Deletes a domain. Its links lose their addresses in the same unit of work (D22), and the hostname is free at once. The
/// plan need not have custom domains any more: only connecting takes the feature.
///
/// More than ten thousand links take several units of work (ADR 10): the first stores the domain as failed, so that it
/// serves nobody and holds nothing from then on, and the domain itself goes with the last. What is interrupted on
/// the way leaves a failed domain, which can be deleted again.
///
/// # Errors
/// [`Refusal::DomainNotFound`] (D2).
pub async fn delete(
    app: &Application,
    caller: &Caller,
    id: IdReference<DomainKind>,
) -> Result<DomainId, AppError> {
    let id = id.id().ok_or(Refusal::DomainNotFound)?;
    while delete_or_shrink(app, caller.account_id(), id).await? == Losses::SomeRemain {}
    Ok(id)
}

/// Deletes the domain if no links are left on it in the end, and takes it out of service otherwise.
async fn delete_or_shrink(app: &Application, account: AccountId, id: DomainId) -> Result<Losses, AppError> {
    let attempts = Attempts::at(app);
    attempts
        .run(|| async {
            let mut work = attempts.begin().await?;
            let domain = work.lock_custom_domain(account, id).await?.ok_or(Refusal::DomainNotFound)?;
            let now = app.clock.now();
            let losses = lose_links(work.as_mut(), LinksOf::Account(account), &domain.hostname, now).await?;
            match losses {
                Losses::Complete => {
                    work.delete_custom_domain(account, id).await?;
                }
                Losses::SomeRemain => {
                    let failed = CustomDomain { status: CustomDomainStatus::Failed, ..domain };
                    write(work.as_mut(), &failed, NO_CHECKS).await?;
                }
            }
            commit(app, work).await?;
            Ok(losses)
        })
        .await
}
