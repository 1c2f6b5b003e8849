//! Updating a landing page (D22, D28, D33, D34).

use std::collections::BTreeSet;

use signpost_domain::id::LandingKind;
use signpost_domain::{IdReference, LandingPage, LandingPatch, Link, PlacementChange, Refusal, page_content};

use crate::app_error::AppError;
use crate::application::Application;
use crate::caller::Caller;
use crate::links::{LinkRules, LockedLink};
use crate::submitted::Submitted;
use crate::unit_of_work::{Attempts, write_over};

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
