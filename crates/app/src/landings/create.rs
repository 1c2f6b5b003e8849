//! Creating a landing page (D28).

use signpost_domain::{Landing, LandingDraft};

use crate::app_error::AppError;
use crate::application::Application;
use crate::caller::Caller;
use crate::links::create_one;

/// Creates a landing page.
///
/// # Errors
/// [`AppError::Refused`] with the first that applies of: no such domain, the domain is not active, a slug is required,
/// the slug is reserved, no such group, the plan's limit, the address is taken.
pub async fn create(app: &Application, caller: &Caller, draft: LandingDraft) -> Result<Landing, AppError> {
    let blocklist = app.target_blocklist.current();
    let context = app.link_context(caller.plan().features, &blocklist, app.clock.now());
    create_one(app, caller, draft, &context).await
}
