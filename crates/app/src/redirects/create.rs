//! Creating a redirect (D28).

use signpost_domain::{IncompleteRedirect, Redirect, RedirectDraft};

use super::with_pixels::{RedirectWithPixels, named_pixels};
use crate::app_error::AppError;
use crate::application::Application;
use crate::caller::Caller;
use crate::idempotency::Conclusion;
use crate::links::{LinkRules, create_one};

/// What the request asks for: a whole draft, or what can be read of one with violations in it.
pub type CreateRedirect = Result<RedirectDraft, Box<IncompleteRedirect>>;

/// Creates a redirect.
///
/// # Errors
/// [`AppError::Invalid`] with every violation; [`AppError::Refused`] with the first that applies of: no such
/// domain, the domain is not active, a slug is required, the slug is reserved, a feature that the plan lacks, no such
/// group, the plan's limit, the address is taken.
pub async fn create(
    app: &Application,
    caller: &Caller,
    command: CreateRedirect,
    conclusion: Conclusion<'_, RedirectWithPixels>,
) -> Result<RedirectWithPixels, AppError> {
    let named = match &command {
        Ok(draft) => &draft.pixels,
        Err(incomplete) => &incomplete.pixels,
    };
    let pixels = named_pixels(app, caller.account_id(), named).await?;
    let known_pixels = pixels.keys().copied().collect();
    let blocklist = app.target_blocklist.current();
    let rules = LinkRules::of_request(app, caller, &blocklist, &known_pixels);
    let draft = match command {
        Ok(draft) => draft,
        Err(incomplete) => {
            let named = rules.look_up(&rules.custom_hostnames(&incomplete.domain)).await?;
            return Err(AppError::Invalid(incomplete.all_violations(&rules.context(&named))));
        }
    };
    let whole = |redirect: &Redirect| RedirectWithPixels::with(redirect.clone(), &pixels);
    let conclusion = conclusion.of_part(|redirect| Some(whole(redirect)));
    let redirect = create_one(&rules, caller, draft, None, conclusion).await?;
    Ok(whole(&redirect))
}
