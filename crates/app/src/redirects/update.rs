//! Updating a redirect (contract "PATCH /v1/redirects/{id}", D22, D33).

use signpost_domain::id::{PixelKind, RedirectKind};
use signpost_domain::{
    Change, IdReference, Link, PlacementChange, RedirectPatch, Refusal, Rejection, Violations,
};

use super::with_pixels::{RedirectWithPixels, named_pixels};
use crate::app_error::AppError;
use crate::application::Application;
use crate::caller::Caller;
use crate::links::{LinkRules, LockedLink};
use crate::ports::StoreError;
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
        return Err(AppError::Invalid(all_violations(app, caller, id, command).await?));
    }
    let patch = command.value;
    let id = id.id().ok_or(Refusal::RedirectNotFound)?;
    let account = caller.account_id();
    let named = named_pixels(app, account, pixels_of(&patch)).await?;
    let known_pixels = named.keys().copied().collect();
    let blocklist = app.target_blocklist.current();
    let rules = LinkRules::of_request(app, caller, &blocklist, &known_pixels);
    let change = placement_change(&patch);
    let attempts = Attempts::at(app);
    attempts
        .run(|| async {
            let locked = rules.lock_link(&attempts, id.into(), &change, &patch.group).await?;
            let Some(LockedLink { mut work, link: Link::Redirect(before), named_domains }) = locked else {
                return Err(Refusal::RedirectNotFound.into());
            };
            let context = rules.context(&named_domains);
            // A pixel that was deleted is gone from the redirect, so leaving it out changes nothing (D33).
            // Read before the commit: what was changed must not end in an answer that says it failed.
            let read = RedirectWithPixels::read_in(work.as_mut(), account, before.clone()).await?;
            let (shown, mut pixels) = read.into_shown();
            pixels.extend(named.clone());
            let after = shown.apply(patch.clone(), &context)?;
            let answer = RedirectWithPixels::with(after.clone(), &pixels);
            if after != shown {
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

fn placement_change(patch: &RedirectPatch) -> PlacementChange {
    PlacementChange { domain: patch.domain.clone(), slug: patch.slug.clone() }
}

/// All that is wrong with a request that is invalid already: with its fields, and what the valid ones among them would do
/// wrong to the redirect as it is.
async fn all_violations(
    app: &Application,
    caller: &Caller,
    id: IdReference<RedirectKind>,
    command: Submitted<RedirectPatch>,
) -> Result<Violations, StoreError> {
    let Submitted { value: patch, mut violations } = command;
    let account = caller.account_id();
    let link = match id.id() {
        None => None,
        Some(id) => app.store.link(account, id.into()).await?,
    };
    let Some(Link::Redirect(redirect)) = link else { return Ok(violations) };
    let known_pixels = named_pixels(app, account, pixels_of(&patch)).await?.into_keys().collect();
    let blocklist = app.target_blocklist.current();
    let rules = LinkRules::of_request(app, caller, &blocklist, &known_pixels);
    let domain = rules.domain_of_change(&redirect.placement, &placement_change(&patch));
    let named_domains = rules.look_up(domain.as_slice()).await?;
    if let Err(Rejection::Invalid(more)) = redirect.apply(patch, &rules.context(&named_domains)) {
        violations.append_about_others(more);
    }
    Ok(violations)
}
