//! What callers do with redirects (D22, D27–D30, D33). What they share with landing pages is in [`links`](crate::links).

use std::collections::{BTreeMap, BTreeSet};

use signpost_domain::id::{PixelKind, RedirectKind};
use signpost_domain::{
    AccountId, Batch, Change, IdReference, IncompleteRedirect, Link, Pixel, PixelId, PlacementChange,
    Redirect, RedirectDraft, RedirectPatch, Refusal, Rejection, Violations,
};

use crate::app_error::AppError;
use crate::application::Application;
use crate::caller::Caller;
use crate::idempotency::Conclusion;
use crate::links::{LinkRules, LockedLink, create_all, create_one};
use crate::ports::{StoreError, UnitOfWork};
use crate::submitted::Submitted;
use crate::unit_of_work::{Attempts, write_over};

/// A redirect and those of its pixels that still exist, in its order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedirectWithPixels {
    /// The redirect.
    pub redirect: Redirect,
    /// Its pixels.
    pub pixels: Vec<Pixel>,
}

impl RedirectWithPixels {
    /// A redirect with those of its pixels that are among `pixels`.
    fn with(redirect: Redirect, pixels: &BTreeMap<PixelId, Pixel>) -> Self {
        let ids = redirect.pixel_ids.as_slice();
        let pixels = ids.iter().filter_map(|id| pixels.get(id).cloned()).collect();
        Self { redirect, pixels }
    }

    /// The redirect as it is shown, without the pixels that were deleted; and its pixels.
    fn into_shown(self) -> (Redirect, BTreeMap<PixelId, Pixel>) {
        let Self { mut redirect, pixels } = self;
        let pixels = by_id(pixels);
        redirect.pixel_ids = redirect.pixel_ids.filtered(|id| pixels.contains_key(&id));
        (redirect, pixels)
    }

    /// A redirect with its pixels.
    async fn read(app: &Application, account: AccountId, redirect: Redirect) -> Result<Self, StoreError> {
        let pixels = pixels_with_ids(app, account, redirect.pixel_ids.as_slice()).await?;
        Ok(Self::with(redirect, &pixels))
    }

    /// The same for a redirect that a unit of work holds.
    async fn read_in(
        work: &mut dyn UnitOfWork,
        account: AccountId,
        redirect: Redirect,
    ) -> Result<Self, StoreError> {
        let ids = redirect.pixel_ids.as_slice();
        let pixels = if ids.is_empty() { vec![] } else { work.pixels_with_ids(account, ids).await? };
        Ok(Self::with(redirect, &by_id(pixels)))
    }
}

/// The account's pixels among those that a request names.
async fn named_pixels(
    app: &Application,
    account: AccountId,
    named: impl IntoIterator<Item = &IdReference<PixelKind>>,
) -> Result<BTreeMap<PixelId, Pixel>, StoreError> {
    let ids: BTreeSet<PixelId> = named.into_iter().filter_map(|pixel| pixel.id()).collect();
    pixels_with_ids(app, account, &ids.into_iter().collect::<Vec<_>>()).await
}

/// The account's pixels with these ids; asks the store only if there are some.
async fn pixels_with_ids(
    app: &Application,
    account: AccountId,
    ids: &[PixelId],
) -> Result<BTreeMap<PixelId, Pixel>, StoreError> {
    let pixels = if ids.is_empty() { vec![] } else { app.store.pixels_with_ids(account, ids).await? };
    Ok(by_id(pixels))
}

fn by_id(pixels: Vec<Pixel>) -> BTreeMap<PixelId, Pixel> {
    pixels.into_iter().map(|pixel| (pixel.id, pixel)).collect()
}

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

/// The caller's redirect with this id, and its pixels.
///
/// # Errors
/// [`Refusal::RedirectNotFound`], alike for a malformed id, an unknown one, and another account's (D2).
pub async fn get(
    app: &Application,
    caller: &Caller,
    id: IdReference<RedirectKind>,
) -> Result<RedirectWithPixels, AppError> {
    let id = id.id().ok_or(Refusal::RedirectNotFound)?;
    let account = caller.account_id();
    let Some(Link::Redirect(redirect)) = caller.link(app, id.into()).await? else {
        return Err(Refusal::RedirectNotFound.into());
    };
    Ok(RedirectWithPixels::read(app, account, redirect).await?)
}

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
