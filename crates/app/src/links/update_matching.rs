//! Updates all redirects that match a filter, in units of work of bounded size (D124, ADR 80).

use std::collections::BTreeSet;

use signpost_domain::{
    AccountId, Change, LinkFilter, LinkId, LinkKind, NamedDomains, Page, PageLimit, PagePosition, Permission,
    PixelId, Redirect, RedirectContent, RedirectId, RedirectPatch, Refusal, Rejection, Rules,
};

use super::changed_links::{Changed, LockedLinks, Progress, contended_if_decided, lock_links};
use super::list::ListLinks;
use super::resource::stored_pixels;
use super::rules::LinkRules;
use crate::app_error::AppError;
use crate::application::Application;
use crate::caller::Caller;
use crate::groups;
use crate::idempotency::{Idempotency, Operation};
use crate::ports::StoreError;
use crate::unit_of_work::commit;

/// How many pages a call reads at most, so that it looks at ten thousand links.
const MOST_PAGES: usize = 10;

/// How many links a unit of work updates at most. It bounds how long others wait for the embedded store's writer, or for locks of links
/// (ADR 92).
const MOST_LINKS: usize = 100;

/// How many bytes of rules the links of a unit of work have at most, or a single link. Each may have 64 KiB.
const MOST_BYTES_OF_RULES: usize = 2 * 1024 * 1024;

/// How many refused links an outcome names; the others are only counted.
const MOST_FAILURES: usize = 100;

/// How many changed links a dry run shows.
const MOST_EXAMPLES: usize = 10;

/// The request to update the redirects that match a filter.
#[derive(Debug, Clone, Default)]
pub struct UpdateMatching {
    /// The filter, and the position at which an earlier call stopped. The limit does not count.
    pub links: ListLinks,
    /// The change.
    pub patch: RedirectPatch,
    /// Whether links only seem to change.
    pub is_dry_run: bool,
}

/// The outcome of a call. Each link that matched is updated, unchanged, or failed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MatchingUpdate {
    /// Whether nothing was written.
    pub is_dry_run: bool,
    /// How many links were updated.
    pub updated: usize,
    /// How many links are already as the patch makes them.
    pub unchanged: usize,
    /// The first links that were refused, newest first, each with the rejection of a single update.
    pub failed: Vec<(RedirectId, Rejection)>,
    /// How many other links were refused.
    pub failed_more: usize,
    /// The first links that a dry run would update, before and after.
    pub examples: Vec<(Redirect, Redirect)>,
    /// The position at which the next call continues; `None` after the last link.
    pub next: Option<PagePosition>,
}

impl MatchingUpdate {
    /// How many links matched.
    #[must_use]
    pub const fn matched(&self) -> usize {
        self.updated + self.unchanged + self.failed.len() + self.failed_more
    }

    /// Adds the outcomes of a unit of work about these links.
    fn add(&mut self, ids: &[RedirectId], progress: &Progress<RedirectContent>) {
        self.updated += progress.changed.len();
        if self.is_dry_run {
            let room = MOST_EXAMPLES.saturating_sub(self.examples.len());
            let changed = progress.changed.iter().take(room);
            self.examples.extend(changed.map(|change| (change.before.clone(), change.after.clone())));
        }
        for (id, outcome) in ids.iter().zip(&progress.outcomes) {
            match outcome {
                Some(Ok(_)) => self.unchanged += 1,
                Some(Err(rejection)) if self.failed.len() < MOST_FAILURES => {
                    self.failed.push((*id, rejection.clone()));
                }
                Some(Err(_)) => self.failed_more += 1,
                // Changed, or not a match any more.
                None => {}
            }
        }
    }
}

/// Updates up to ten thousand of the caller's redirects that match the filter, newest first, a hundred in each unit of work, or fewer if
/// they have long rules. A refused link is left alone, and the others still change. A link that no longer matches when it is locked is
/// left alone too.
///
/// A dry run does the same in units of work that it drops. It also needs the permission to read.
///
/// If something breaks, the links of earlier units of work stay changed. The same request can be sent again: a patch that was
/// applied changes nothing more. The answer is remembered together with the last unit of work (D12).
///
/// # Errors
/// [`AppError::Invalid`] if the patch names pixels that the account does not have, or asks for a life that no link can have.
/// [`Refusal::GroupNotFound`] if it names a group that the account does not have.
/// [`AppError::TooManySearches`] as for a list.
pub async fn update_matching(
    app: &Application,
    caller: &Caller,
    request: UpdateMatching,
    idempotency: Idempotency<'_, MatchingUpdate>,
) -> Result<MatchingUpdate, AppError> {
    caller.require(Permission::WriteLinks)?;
    let UpdateMatching { links, patch, is_dry_run } = request;
    // The examples of a dry run show links of which the caller names no id.
    if is_dry_run && !caller.may(Permission::Read) {
        return Err(Refusal::NotPermitted(Permission::Read).into());
    }
    let account = caller.account_id();
    let mut known_pixels = pixels_of(app, account, &patch).await?;
    let blocklist = app.target_blocklist.current();
    let rules = LinkRules::of_request(app, caller, &blocklist, &known_pixels);
    let without_link = patch.violations_without_link(&rules.context(&NamedDomains::default()));
    without_link.into_result(()).map_err(AppError::Invalid)?;
    let operation = Operation::new(app, caller, idempotency);
    if let Change::Set(group) = patch.group {
        operation.run(|| groups::find(app, caller, group)).await?;
    }
    let mut outcome = MatchingUpdate { is_dry_run, ..MatchingUpdate::default() };
    let mut after = links.after;
    // A link that starts or ends meanwhile does not change sides between the units.
    let Some(filter) = links.into_filter(app, app.clock.now()) else {
        operation.run(|| operation.finish(None, false, &outcome)).await?;
        return Ok(outcome);
    };
    // One for all pages, so that no call ends halfway because of other searches.
    let _search = if filter.is_search() { Some(caller.search()?) } else { None };
    'pages: for number in 1..=MOST_PAGES {
        // The page is bounded by its number of links alone: with the longest rules, a call holds a thousand times 64 KiB until it keeps
        // only their ids and sizes.
        let limit = PageLimit::OF_UNIT_OF_WORK;
        let page = app.store.links(account, LinkKind::Redirect, &filter, limit, after).await?;
        after = page.next;
        let page = page.map(|link| {
            let bytes = link.rules().map_or(0, Rules::size);
            (RedirectId::from_bytes(link.id.to_bytes()), bytes)
        });
        for unit in
            page.divided(MOST_LINKS, MOST_BYTES_OF_RULES, |(_, bytes)| *bytes, |(id, _)| id.to_bytes())
        {
            let unit = unit.map(|(id, _)| id);
            let is_last = unit.next.is_none() || (number == MOST_PAGES && unit.next == after);
            operation.renew();
            let rules = LinkRules::of_request(app, caller, &blocklist, &known_pixels);
            let run = Run { rules: &rules, caller, filter: &filter, patch: &patch, operation: &operation };
            outcome = operation.run(|| run.unit(&outcome, &unit, is_last)).await?;
            if is_last {
                break 'pages;
            }
            // Some may have been deleted meanwhile.
            known_pixels = pixels_of(app, account, &patch).await?;
        }
    }
    Ok(outcome)
}

/// The pixels that the patch names, as far as the account has them.
async fn pixels_of(
    app: &Application,
    account: AccountId,
    patch: &RedirectPatch,
) -> Result<BTreeSet<PixelId>, StoreError> {
    let named: Vec<PixelId> = patch.named_pixels().collect();
    Ok(stored_pixels(app, account, &named).await?.into_keys().collect())
}

/// What all units of work of a call share.
struct Run<'a> {
    rules: &'a LinkRules<'a>,
    caller: &'a Caller,
    filter: &'a LinkFilter,
    patch: &'a RedirectPatch,
    operation: &'a Operation<'a, MatchingUpdate>,
}

impl Run<'_> {
    /// An attempt to update the links of a page in a unit of work. Returns the outcome of the call so far.
    async fn unit(
        &self,
        so_far: &MatchingUpdate,
        page: &Page<RedirectId>,
        is_last: bool,
    ) -> Result<MatchingUpdate, AppError> {
        let Self { rules, caller, patch, operation, .. } = self;
        let account = rules.account;
        let mut outcome = MatchingUpdate { next: page.next, ..so_far.clone() };
        if page.items.is_empty() {
            if is_last {
                operation.finish(None, false, &outcome).await?;
            }
            return Ok(outcome);
        }
        let is_dry_run = outcome.is_dry_run;
        let has_answer = is_last && !is_dry_run;
        let mut work =
            if has_answer { operation.begin().await? } else { operation.begin_before_the_last().await? };
        if !patch.group.is_keep() {
            work.expect_move();
        }
        let ids: Vec<LinkId> = page.items.iter().copied().map(LinkId::from).collect();
        let locked = lock_links::<RedirectContent>(work.as_mut(), account, &ids).await?;
        let mut progress = self.apply(&ids, locked);
        let tags = progress.provide_tags(rules.app, caller, work.as_mut()).await?;
        progress.check_groups(account, work.as_mut()).await?;
        outcome.add(&page.items, &progress);
        if is_dry_run {
            // With the tags that it has created.
            drop(work);
            if is_last {
                operation.finish(None, false, &outcome).await?;
            }
            return Ok(outcome);
        }
        let has_changed = !progress.changed.is_empty();
        if has_changed {
            progress.write(account, work.as_mut()).await.map_err(contended_if_decided)?;
        }
        // Also without a change, because a remembered answer is committed.
        let kept = progress.changed.iter().map(|change| &change.after.tags);
        tags.withdraw_unused(work.as_mut(), account, kept).await?;
        if is_last {
            operation.finish(Some(work), has_changed, &outcome).await?;
        } else if has_changed {
            commit(rules.app, work).await?;
        }
        Ok(outcome)
    }

    /// Applies the patch to the links that still match.
    fn apply(&self, ids: &[LinkId], mut locked: LockedLinks<RedirectContent>) -> Progress<RedirectContent> {
        // A patch places no links.
        let named_domains = NamedDomains::default();
        let context = self.rules.context(&named_domains);
        let mut progress = Progress { outcomes: vec![None; ids.len()], changed: vec![] };
        for (index, id) in ids.iter().enumerate() {
            let Some((stored, before)) = locked.remove(id) else { continue };
            if !self.filter.matches(&stored) {
                continue;
            }
            match self.patch.apply(&before, &context) {
                Ok(after) if after != before => {
                    // A change by filter sets no password (D124).
                    let password = Change::Keep;
                    progress.changed.push(Changed { index, stored, before, after, password });
                }
                outcome => progress.settle(index, outcome),
            }
        }
        progress
    }
}
