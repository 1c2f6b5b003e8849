//! Updates a link.

use signpost_domain::{
    AccountId, ExternalId, IdReference, Link, LinkIdKind, LinkRequest, Permission, Precondition, Refusal,
    Submitted,
};

use super::passwords::{HashChange, HashWrites, hash_changes};
use super::resource::{LinkResource, named_pixels};
use super::rules::{LinkRules, LockedLink};
use super::tagging::ProvidedTags;
use crate::app_error::AppError;
use crate::application::Application;
use crate::caller::Caller;
use crate::ports::{UnitOfWork, UpdateLinkError};
use crate::unit_of_work::{Attempts, commit};

/// Updates a link and returns it. A request that changes nothing writes nothing.
///
/// # Errors
/// [`AppError::PasswordsBusy`]. [`AppError::Invalid`] with every violation; without the link, with those that do not depend on it. A valid request for an
/// unknown link gets the kind's `…NotFound`. A known link may still be refused. The first reason that applies is named:
///
/// - The link does not meet the precondition (D120). This comes even before violations.
/// - The domain does not exist, or is not active.
/// - A slug is required, or the slug is reserved.
/// - The plan lacks a feature.
/// - The plan's limit on tags is reached.
/// - The group does not exist.
/// - The address is taken.
///
/// A taken external id is a violation too (D121), which only the store finds, after the others.
pub async fn update<C: LinkResource>(
    app: &Application,
    caller: &Caller,
    id: IdReference<C::Kind>,
    request: Submitted<LinkRequest<C::Request>>,
    precondition: &Precondition,
) -> Result<C::Single, AppError> {
    caller.require(Permission::WriteLinks)?;
    let password = hash_changes(app, caller, [Some(&request)]).await?.pop().unwrap_or_default();
    let check = |link: &Link| Ok(precondition.check(link.revision)?);
    update_that::<C>(app, caller, id, request, password, check).await
}

/// Updates a link as [`update`] does, for callers that may write, with the hash of its password, unless `check` refuses the link as
/// it is stored.
///
/// # Errors
/// Those of [`update`], and those of `check`.
pub(super) async fn update_that<C: LinkResource>(
    app: &Application,
    caller: &Caller,
    id: IdReference<C::Kind>,
    mut request: Submitted<LinkRequest<C::Request>>,
    password: HashChange,
    check: impl Fn(&Link) -> Result<(), AppError> + Send + Sync,
) -> Result<C::Single, AppError> {
    let account = caller.account_id();
    let blocklist = app.target_blocklist.current();
    let without_link = C::violations_without_link(&request.value.content, &blocklist);
    request.violations.append_about_others(without_link);
    let not_found = || {
        if request.violations.is_empty() {
            AppError::Refused(C::Kind::LINK_KIND.not_found())
        } else {
            AppError::Invalid(request.violations.clone())
        }
    };
    let id = id.id().ok_or_else(not_found)?;
    let named = named_pixels::<C>(app, account, [&request.value.content]).await?;
    let known_pixels = named.keys().copied().collect();
    let rules = LinkRules::of_request(app, caller, &blocklist, &known_pixels);
    let change = request.value.placement();
    let attempts = Attempts::at(app);
    attempts
        .run(|| async {
            let locked = rules.lock_link(&attempts, id.into(), &change, &request.value.group).await?;
            let Some(LockedLink { mut work, link: stored, named_domains }) = locked else {
                return Err(not_found());
            };
            check(&stored)?;
            // Everything in the answer is read before the commit, so that no committed change is answered as failed.
            let mut pixels = named.clone();
            let links = vec![stored.clone()];
            let completed = C::complete(work.as_mut(), account, links, &mut pixels).await?;
            let before = completed.into_iter().next().ok_or_else(not_found)?;
            let mut after = before.apply(&request, &rules.context(&named_domains))?;
            if after != before {
                if after.tags != before.tags {
                    let (limits, needed) = (&caller.plan().limits, [&after.tags].into_iter());
                    let provided =
                        ProvidedTags::of_links(app, work.as_mut(), account, limits, needed).await?;
                    after.tags = provided.spell(&after.tags)?;
                }
                C::write_contents(work.as_mut(), account, &[(&before, &after)]).await?;
                let mut hashes = HashWrites::default();
                hashes.add(id.into(), before.has_password, &password);
                replace_link(app, work, account, (&stored, &after.clone().into_any()), &hashes).await?;
            }
            Ok(C::single(after, &pixels))
        })
        .await
}

/// Replaces `before`, which the unit of work has locked, with `after`, writes its hash, and commits. If the address is taken, names the
/// account's own link that has it (D20).
async fn replace_link(
    app: &Application,
    mut work: Box<dyn UnitOfWork>,
    account: AccountId,
    (before, after): (&Link, &Link),
    hashes: &HashWrites,
) -> Result<(), AppError> {
    let mut is_repeated = false;
    let existing = loop {
        match work.update_link(account, before, after).await {
            Ok(()) => {
                hashes.write(work.as_mut(), account).await?;
                return Ok(commit(app, work).await?);
            }
            Err(UpdateLinkError::AddressTaken) => {}
            Err(UpdateLinkError::ExternalIdTaken) => {
                let taken = work.links_with_external_ids(account, after.external_id.as_slice()).await?;
                let existing = taken.into_iter().map(|(_, id)| id).next();
                // Without one, the link that had it was deleted after the store had refused it.
                if existing.is_some() || std::mem::replace(&mut is_repeated, true) {
                    return Err(AppError::Invalid(ExternalId::taken_by(existing).into()));
                }
                continue;
            }
            Err(UpdateLinkError::GroupMissing) => return Err(Refusal::GroupNotFound.into()),
            Err(UpdateLinkError::Store(error)) => return Err(error.into()),
        }
        let addresses = after.placement.address();
        let found = work.links_at(account, addresses.as_slice()).await?;
        let existing = found.into_iter().map(|(_, id)| id).next();
        // Without one, another account has the address, or the link there was deleted after the store had refused the
        // address. The second attempt tells which.
        if existing.is_some() || std::mem::replace(&mut is_repeated, true) {
            break existing;
        }
    };
    Err(Refusal::AddressTaken { existing }.into())
}
