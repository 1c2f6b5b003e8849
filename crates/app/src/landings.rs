//! What callers do with landing pages (D22, D27, D28, D33). What they share with redirects is in [`links`](crate::links).

use std::collections::BTreeSet;

use signpost_domain::id::LandingKind;
use signpost_domain::{
    IdReference, IncompleteLanding, Landing, LandingDraft, LandingPage, LandingPatch, Link, NamedDomains,
    PageContent, PlacementChange, Refusal, page_content,
};

use crate::app_error::AppError;
use crate::application::Application;
use crate::caller::Caller;
use crate::idempotency::Conclusion;
use crate::links::{LinkRules, LockedLink, create_one};
use crate::submitted::Submitted;
use crate::unit_of_work::{Attempts, write_over};

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

/// The caller's landing page with this id, and what is on it.
///
/// # Errors
/// [`Refusal::LandingNotFound`], alike for a malformed id, an unknown one, and another account's (D2).
pub async fn get(
    app: &Application,
    caller: &Caller,
    id: IdReference<LandingKind>,
) -> Result<LandingPage, AppError> {
    let id = id.id().ok_or(Refusal::LandingNotFound)?;
    let page = app.store.landing_page(caller.account_id(), id).await?;
    Ok(page.ok_or(Refusal::LandingNotFound)?)
}

/// Updates a landing page and returns it as it is then. A patch that changes nothing writes nothing.
///
/// # Errors
/// [`AppError::Invalid`] with every violation, also when the page does not exist; then [`Refusal::LandingNotFound`]; then
/// the first that applies of: no such domain, the domain is not active, a slug is required, the slug is reserved, no such
/// group, the address is taken.
pub async fn update(
    app: &Application,
    caller: &Caller,
    id: IdReference<LandingKind>,
    command: Submitted<LandingPatch>,
) -> Result<LandingPage, AppError> {
    let Submitted { value: patch, mut violations } = command;
    let blocklist = app.target_blocklist.current();
    violations.append(page_content::violations_of(&patch.content, &blocklist));
    violations.into_result(()).map_err(AppError::Invalid)?;
    let id = id.id().ok_or(Refusal::LandingNotFound)?;
    let account = caller.account_id();
    let no_pixels = BTreeSet::new();
    let rules = LinkRules::of_request(app, caller, &blocklist, &no_pixels);
    let change = PlacementChange { domain: patch.domain.clone(), slug: patch.slug.clone() };
    let attempts = Attempts::at(app);
    attempts
        .run(|| async {
            let locked = rules.lock_link(&attempts, id.into(), &change, &patch.group).await?;
            let Some(LockedLink { mut work, link: Link::Landing(landing), named_domains }) = locked else {
                return Err(Refusal::LandingNotFound.into());
            };
            let context = rules.context(&named_domains);
            // What is on the page is read and written only by who asks for it, and always shown.
            let before = LandingPage { landing, content: work.page_content(account, id).await? };
            let after = before.apply(patch.clone(), &context, || app.ids.next())?;
            if after.content != before.content {
                work.write_page_content(account, id, &after.content).await?;
            }
            if after != before {
                write_over(app, work, account, before.landing, after.landing.clone()).await?;
            }
            Ok(after)
        })
        .await
}
