//! Creating a landing page (D28).

use std::collections::BTreeSet;

use signpost_domain::{IncompleteLanding, Landing, LandingDraft, LandingPage, NamedDomains, PageContent};

use crate::app_error::AppError;
use crate::application::Application;
use crate::caller::Caller;
use crate::idempotency::Conclusion;
use crate::links::{LinkRules, create_one};

/// What the request asks for: a whole draft, or what can be read of one with violations in it.
pub type CreateLanding = Result<LandingDraft, Box<IncompleteLanding>>;

/// Creates a landing page.
///
/// # Errors
/// [`AppError::Invalid`] with every violation; [`AppError::Refused`] with the first that applies of: no such domain, the
/// domain is not active, a slug is required, the slug is reserved, no such group, the plan's limit, the address is taken.
pub async fn create(
    app: &Application,
    caller: &Caller,
    command: CreateLanding,
    conclusion: Conclusion<'_, LandingPage>,
) -> Result<LandingPage, AppError> {
    let blocklist = app.target_blocklist.current();
    let no_pixels = BTreeSet::new();
    let rules = LinkRules::of_request(app, caller, &blocklist, &no_pixels);
    let draft = command.map_err(|incomplete| {
        // What can be wrong with a page does not depend on where it is.
        AppError::Invalid(incomplete.all_violations(&rules.context(&NamedDomains::default())))
    })?;
    let page = PageContent::default().apply(draft.content.clone(), || app.ids.next());
    let whole = |landing: &Landing| LandingPage { landing: landing.clone(), content: page.clone() };
    let conclusion = conclusion.of_part(|landing| Some(whole(landing)));
    let landing = create_one(&rules, caller, draft, Some(&page), conclusion).await?;
    Ok(whole(&landing))
}
