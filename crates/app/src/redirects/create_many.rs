//! Creating redirects in bulk (D29, D30).

use signpost_domain::{Batch, Redirect, Rejection};

use super::create::CreateRedirect;
use super::with_pixels::named_pixels;
use crate::app_error::AppError;
use crate::application::Application;
use crate::caller::Caller;
use crate::idempotency::Conclusion;
use crate::links::{LinkRules, create_all};

/// Creates redirects as if one after another, each unless something stands against it, and commits them together. The
/// answer says of each, in the same order, what became of it: what [`create`](super::create) would have said, or
/// [`Refusal::DuplicateSlugInBatch`](signpost_domain::Refusal) where an earlier item has taken the address.
///
/// # Errors
/// Something broke, and nothing was created.
pub async fn create_many(
    app: &Application,
    caller: &Caller,
    commands: Batch<CreateRedirect>,
    conclusion: Conclusion<'_, Vec<Result<Redirect, Rejection>>>,
) -> Result<Vec<Result<Redirect, Rejection>>, AppError> {
    let named = commands.iter().flat_map(|command| match command {
        Ok(draft) => &draft.pixels,
        Err(incomplete) => &incomplete.pixels,
    });
    let pixels = named_pixels(app, caller.account_id(), named).await?;
    let known_pixels = pixels.keys().copied().collect();
    let blocklist = app.target_blocklist.current();
    let rules = LinkRules::of_request(app, caller, &blocklist, &known_pixels);
    let of_incomplete = commands.iter().filter_map(|command| command.as_ref().err()?.domain.as_ref());
    let named = rules.look_up(&rules.custom_hostnames(of_incomplete)).await?;
    let context = rules.context(&named);
    let drafts = commands
        .into_items()
        .into_iter()
        .map(|command| {
            command.map_err(|incomplete| Rejection::Invalid(incomplete.all_violations(&context).of_item()))
        })
        .collect();
    create_all(&rules, caller, drafts, conclusion).await
}
