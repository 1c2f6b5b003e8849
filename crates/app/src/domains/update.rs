//! Changing what a domain gives its visitors besides links (D127).

use signpost_domain::id::DomainKind;
use signpost_domain::{
    AuditAction, DomainRequest, IdReference, Permission, Precondition, Refusal, Submitted, Violations,
};

use super::{DomainWithInstructions, domain_named};
use crate::app_error::AppError;
use crate::application::Application;
use crate::audit::{Deed, record};
use crate::caller::Caller;
use crate::ports::ScheduledDomain;
use crate::unit_of_work::{Attempts, commit};

/// Changes the settings of a domain in any status, and returns the domain. A request that changes nothing writes nothing. The
/// plan need not include custom domains: only connecting needs the feature.
///
/// # Errors
/// [`AppError::Invalid`] with every violation; without the domain, with those that do not depend on it. A valid request for an
/// unknown domain gets [`Refusal::DomainNotFound`]. A known domain that does not meet the precondition gets
/// [`Refusal::PreconditionFailed`], even before violations (D120).
pub async fn update(
    app: &Application,
    caller: &Caller,
    id: IdReference<DomainKind>,
    request: Submitted<DomainRequest>,
    precondition: &Precondition,
) -> Result<DomainWithInstructions, AppError> {
    caller.require(Permission::WriteDomains)?;
    let account = caller.account_id();
    let Submitted { value: request, mut violations } = request;
    violations.append_about_others(request.violations(&app.system, &app.target_blocklist.current()));
    let not_found = || match violations.clone().into_result(Refusal::DomainNotFound) {
        Ok(refusal) => AppError::Refused(refusal),
        Err(violations) => AppError::Invalid(violations),
    };
    let id = id.id().ok_or_else(not_found)?;
    let attempts = Attempts::at(app);
    attempts
        .run(|| async {
            let mut work = attempts.begin().await?;
            let stored = work.lock_custom_domain(account, id).await?.ok_or_else(not_found)?;
            let now = app.clock.now();
            let before = stored.domain.at(now);
            precondition.check(before.revision)?;
            let mut found: Violations = violations.clone();
            found.append_about_others(request.violations_on(&before.hostname));
            found.into_result(()).map_err(AppError::Invalid)?;
            let files = stored.files.clone().unwrap_or_default();
            let (after, changed) = stored.domain.configured(&files, &request, now);
            let is_changed = after != stored.domain || changed != files;
            if is_changed {
                work.update_domain_settings(&after, &changed).await?;
                let deed = Deed::of(caller, AuditAction::DomainChanged, domain_named(&after));
                record(app, work.as_mut(), deed).await?;
            }
            let shown = ScheduledDomain { domain: after, files: Some(changed), ..stored };
            let shown = DomainWithInstructions::at(app, &shown, now);
            if is_changed {
                commit(app, work).await?;
            }
            Ok(shown)
        })
        .await
}
