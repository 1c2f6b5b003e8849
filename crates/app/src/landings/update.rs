//! Updating a landing page (D22, D28, D33).

use signpost_domain::id::LandingKind;
use signpost_domain::{IdReference, Landing, LandingPatch, Link, Refusal};

use crate::app_error::AppError;
use crate::application::Application;
use crate::caller::Caller;
use crate::unit_of_work::{Attempts, write_over};

/// Updates a landing page and returns it as it is then. A patch that changes nothing writes nothing.
///
/// # Errors
/// [`Refusal::LandingNotFound`]; then the first that applies of: no such domain, the domain is not active, a slug is
/// required, the slug is reserved, no such group, the address is taken.
pub async fn update(
    app: &Application,
    caller: &Caller,
    id: IdReference<LandingKind>,
    patch: LandingPatch,
) -> Result<Landing, AppError> {
    let id = id.id().ok_or(Refusal::LandingNotFound)?;
    let account = caller.account_id();
    let blocklist = app.target_blocklist.current();
    let attempts = Attempts::at(app);
    attempts
        .run(|| async {
            let context = app.link_context(caller.plan().features, &blocklist, app.clock.now());
            let mut work = attempts.begin().await?;
            let Some(Link::Landing(before)) = work.lock_link(account, id.into()).await? else {
                return Err(Refusal::LandingNotFound.into());
            };
            let after = before.apply(patch.clone(), &context)?;
            if after != before {
                write_over(app, work, account, before, after.clone()).await?;
            }
            Ok(after)
        })
        .await
}
