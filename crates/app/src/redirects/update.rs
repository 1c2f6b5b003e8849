//! Updating a redirect (contract "PATCH /v1/redirects/{id}", D22, D33).

use signpost_domain::id::{PixelKind, RedirectKind};
use signpost_domain::{Change, IdReference, Link, RedirectPatch, Refusal, Rejection};

use super::with_pixels::{RedirectWithPixels, named_pixels};
use crate::app_error::AppError;
use crate::application::Application;
use crate::caller::Caller;
use crate::submitted::Submitted;
use crate::unit_of_work::{Attempts, write_over};

/// Updates a redirect and returns it as it is then. A patch that changes nothing writes nothing.
///
/// # Errors
/// [`AppError::Invalid`] with every violation, those of single fields also when the redirect does not exist; then
/// [`Refusal::RedirectNotFound`]; then the first that applies of: no such domain, the domain is not active,
/// a slug is required, the slug is reserved, a feature that the plan lacks, no such group, the address is taken.
pub async fn update(
    app: &Application,
    caller: &Caller,
    id: IdReference<RedirectKind>,
    command: Submitted<RedirectPatch>,
) -> Result<RedirectWithPixels, AppError> {
    if !command.violations.is_empty() {
        return Err(refuse(app, caller, id, command).await);
    }
    let patch = command.value;
    let id = id.id().ok_or(Refusal::RedirectNotFound)?;
    let account = caller.account_id();
    let pixels = named_pixels(app, account, pixels_of(&patch)).await?;
    let known_pixels = pixels.into_keys().collect();
    let blocklist = app.target_blocklist.current();
    let attempts = Attempts::at(app);
    attempts
        .run(|| async {
            let context =
                app.link_context(caller.plan().features, &blocklist, &known_pixels, app.clock.now());
            let mut work = attempts.begin().await?;
            let Some(Link::Redirect(before)) = work.lock_link(account, id.into()).await? else {
                return Err(Refusal::RedirectNotFound.into());
            };
            let after = before.apply(patch.clone(), &context)?;
            // Before the commit: what was changed must not end in an answer that says it failed.
            let answer = RedirectWithPixels::read(app, account, after.clone()).await?;
            if after != before {
                write_over(app, work, account, before, after).await?;
            }
            Ok(answer)
        })
        .await
}

fn pixels_of(patch: &RedirectPatch) -> &[IdReference<PixelKind>] {
    match &patch.pixels {
        Change::Set(pixels) => pixels,
        Change::Keep | Change::Clear => &[],
    }
}

/// The answer to a request that is invalid already: what is wrong with the fields, and what the valid ones among
/// them would do wrong to the redirect as it is.
async fn refuse(
    app: &Application,
    caller: &Caller,
    id: IdReference<RedirectKind>,
    command: Submitted<RedirectPatch>,
) -> AppError {
    let Submitted { value: patch, mut violations } = command;
    let link = match id.id() {
        None => None,
        Some(id) => match app.store.link(caller.account_id(), id.into()).await {
            Ok(link) => link,
            Err(error) => return error.into(),
        },
    };
    if let Some(Link::Redirect(redirect)) = link {
        let known_pixels = match named_pixels(app, caller.account_id(), pixels_of(&patch)).await {
            Ok(pixels) => pixels.into_keys().collect(),
            Err(error) => return error.into(),
        };
        let blocklist = app.target_blocklist.current();
        let context = app.link_context(caller.plan().features, &blocklist, &known_pixels, app.clock.now());
        if let Err(Rejection::Invalid(more)) = redirect.apply(patch, &context) {
            violations.append_about_others(more);
        }
    }
    AppError::Invalid(violations)
}
