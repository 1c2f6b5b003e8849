//! Updates several links, each in its own way, in one unit of work (D30, D123).

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::atomic::{AtomicU32, Ordering};

use signpost_domain::id::IdKind;
use signpost_domain::{
    Batch, Change, ExternalId, FieldError, Hostname, IdReference, Link, LinkId, LinkIdKind, LinkRequest,
    NamedDomains, Permission, PlacementChange, Refusal, Rejection, Revision, Submitted, ViolationCode,
    Violations,
};

use super::changed_links::{Changed, LockedLinks, Outcome, Progress, contended_if_decided, lock_links};
use super::passwords::{HashChange, hash_changes};
use super::resource::{LinkResource, named_pixels};
use super::rules::LinkRules;
use crate::app_error::AppError;
use crate::application::Application;
use crate::caller::Caller;
use crate::ports::{StoreError, UnitOfWork, UpdateLinkError};
use crate::unit_of_work::{Attempts, commit};

/// The field of an item that names the revision.
const IF_REVISION: &str = "if_revision";

/// After so many attempts in which another request was faster, the links that would take an address or an external id are refused.
const MOST_LOST_RACES: u32 = 3;

/// How an item of a batch names its link.
#[derive(Debug, Clone)]
pub enum NamedLink<K: IdKind> {
    /// By its id.
    Id(IdReference<K>),
    /// By its external id.
    ExternalId(ExternalId),
}

/// An item of a batch.
#[derive(Debug, Clone)]
pub struct LinkUpdate<C: LinkResource> {
    /// The link to update.
    pub link: NamedLink<C::Kind>,
    /// The change, as that of a single update.
    pub request: Submitted<LinkRequest<C::Request>>,
    /// The revision that the link must have.
    pub if_revision: Option<Revision>,
}

/// An item of a batch, or the violations of one without readable fields.
type Item<C> = Result<LinkUpdate<C>, Violations>;

/// Updates links, as [`update`](fn@super::update) does one. Refused items are skipped, and the rest commit in one unit of work (D30). An item
/// is `Err` if it has no readable fields, such as one that is not an object.
///
/// The answer has an outcome for each item, in the same order: the link as it is now, or a rejection of
/// [`update`](fn@super::update) with these differences:
///
/// - An item whose link an earlier item names gets [`Refusal::DuplicateIdInBatch`].
/// - Another revision than `if_revision` is a violation.
/// - An address or an external id that a link has before the request is taken, even if an item takes it away from that link. One
///   that an earlier item takes is [`Refusal::DuplicateSlugInBatch`], or a violation.
///
/// # Errors
/// [`AppError::PasswordsBusy`]. Or something broke. Nothing was changed.
pub async fn update_many<C: LinkResource>(
    app: &Application,
    caller: &Caller,
    updates: Batch<Item<C>>,
) -> Result<Vec<Outcome<C>>, AppError> {
    caller.require(Permission::WriteLinks)?;
    let account = caller.account_id();
    let requests = updates.iter().map(|update| update.as_ref().ok().map(|update| &update.request));
    let passwords = hash_changes(app, caller, requests).await?;
    let contents = updates.iter().flatten().map(|update| &update.request.value.content);
    let pixels = named_pixels::<C>(app, account, contents).await?;
    let known_pixels = pixels.into_keys().collect();
    let blocklist = app.target_blocklist.current();
    let rules = LinkRules::of_request(app, caller, &blocklist, &known_pixels);
    let named = updates.iter().flatten().filter_map(|update| match &update.link {
        NamedLink::ExternalId(id) => Some(id),
        NamedLink::Id(_) => None,
    });
    let named: BTreeSet<&ExternalId> = named.collect();
    let named: Vec<ExternalId> = named.into_iter().cloned().collect();
    let found =
        if named.is_empty() { vec![] } else { app.store.links_with_external_ids(account, &named).await? };
    let items = Items::new(&rules, caller, updates, passwords, &found.into_iter().collect());
    let attempts = Attempts::at(app);
    attempts.run(|| items.attempt(&attempts)).await
}

/// The items of a request, which all attempts share.
struct Items<'a, C: LinkResource> {
    rules: &'a LinkRules<'a>,
    caller: &'a Caller,
    /// The outcome of each item whose link is not looked at; `None` for the others.
    outcomes: Vec<Option<Outcome<C>>>,
    /// The items whose links are looked at, in order. Each link is named once.
    updates: Vec<Update<C>>,
    /// The attempts in which another request was faster.
    lost_races: AtomicU32,
}

/// An item and its link.
struct Update<C: LinkResource> {
    index: usize,
    id: LinkId,
    item: LinkUpdate<C>,
    placement: PlacementChange,
    password: HashChange,
}

impl<C: LinkResource> Update<C> {
    fn not_found(&self) -> Rejection {
        not_found(&self.item)
    }
}

/// The rejection of an item whose link does not exist. Violations come first, as in a single update.
fn not_found<C: LinkResource>(item: &LinkUpdate<C>) -> Rejection {
    let violations = &item.request.violations;
    if violations.is_empty() {
        C::Kind::LINK_KIND.not_found().into()
    } else {
        Rejection::Invalid(violations.clone())
    }
}

/// The links of an attempt, which it has locked.
struct Locked<C: LinkResource> {
    links: LockedLinks<C>,
    /// The states of the custom domains on which the items would place links.
    named_domains: NamedDomains,
}

impl<'a, C: LinkResource> Items<'a, C> {
    /// `found` has the links with the external ids that items name.
    fn new(
        rules: &'a LinkRules<'a>,
        caller: &'a Caller,
        items: Batch<Item<C>>,
        passwords: Vec<HashChange>,
        found: &HashMap<ExternalId, LinkId>,
    ) -> Self {
        let (mut outcomes, mut updates) = (Vec::with_capacity(items.len()), Vec::new());
        let (mut seen, mut seen_external_ids) = (HashSet::new(), HashSet::new());
        for (index, (item, password)) in items.into_items().into_iter().zip(passwords).enumerate() {
            let named = item.map_err(Rejection::Invalid).and_then(|mut item| {
                let about_content = C::violations_without_link(&item.request.value.content, rules.blocklist);
                item.request.violations.append_about_others(about_content);
                let id = match &item.link {
                    NamedLink::Id(reference) => reference.id().map(LinkId::from),
                    NamedLink::ExternalId(id) if !seen_external_ids.insert(id.clone()) => {
                        return Err(Refusal::DuplicateIdInBatch.into());
                    }
                    NamedLink::ExternalId(id) => {
                        found.get(id).copied().filter(|id| id.kind() == C::Kind::LINK_KIND)
                    }
                };
                let id = id.ok_or_else(|| not_found(&item))?;
                if !seen.insert(id) {
                    return Err(Refusal::DuplicateIdInBatch.into());
                }
                Ok((id, item))
            });
            outcomes.push(match named {
                Ok((id, item)) => {
                    let placement = item.request.value.placement();
                    updates.push(Update { index, id, item, placement, password });
                    None
                }
                Err(rejection) => Some(Err(rejection.of_item())),
            });
        }
        Self { rules, caller, outcomes, updates, lost_races: AtomicU32::new(0) }
    }

    async fn attempt(&self, attempts: &Attempts<'_>) -> Result<Vec<Outcome<C>>, AppError> {
        let mut progress = Progress { outcomes: self.outcomes.clone(), changed: Vec::new() };
        if self.updates.is_empty() {
            return progress.finish();
        }
        let hostnames = self.expected_hostnames().await?;
        let mut work = attempts.begin().await?;
        let locked = self.lock(work.as_mut(), hostnames).await?;
        self.apply(locked, &mut progress);
        let account = self.rules.account;
        let tags = progress.provide_tags(self.rules.app, self.caller, work.as_mut()).await?;
        progress.check_groups(account, work.as_mut()).await?;
        let gives_up = self.lost_races.load(Ordering::Relaxed) >= MOST_LOST_RACES;
        progress.check_unique(account, work.as_mut(), gives_up).await?;
        // Without a change, the unit of work is dropped, and so are tags that it has provided for refused links.
        if !progress.changed.is_empty() {
            self.write(work.as_mut(), &progress).await?;
            let kept = progress.changed.iter().map(|change| &change.after.tags);
            tags.withdraw_unused(work.as_mut(), account, kept).await?;
            commit(self.rules.app, work).await?;
        }
        progress.finish()
    }

    /// The custom domains on which the items would place links. If only the slug changes, the domain is that of the link, so the
    /// link is first read outside the unit of work, as [`LinkRules::lock_link`] does.
    async fn expected_hostnames(&self) -> Result<BTreeSet<Hostname>, StoreError> {
        let named = self.updates.iter().filter_map(|update| match &update.placement.domain {
            Change::Set(reference) => Some(reference),
            Change::Keep | Change::Clear => None,
        });
        let mut hostnames: BTreeSet<Hostname> = self.rules.custom_hostnames(named).into_iter().collect();
        let moved_by_slug =
            self.updates.iter().filter(|it| it.placement.domain.is_keep() && !it.placement.slug.is_keep());
        let moved_by_slug: HashMap<LinkId, &PlacementChange> =
            moved_by_slug.map(|update| (update.id, &update.placement)).collect();
        if !moved_by_slug.is_empty() {
            let ids: Vec<LinkId> = moved_by_slug.keys().copied().collect();
            let links = self.rules.app.store.links_with_ids(self.rules.account, &ids).await?;
            hostnames.extend(links.iter().filter_map(|link| {
                self.rules.domain_of_change(&link.placement, moved_by_slug.get(&link.id())?)
            }));
        }
        Ok(hostnames)
    }

    /// Holds the domains, then locks the links, as [`LinkRules::lock_link`] does.
    async fn lock(
        &self,
        work: &mut dyn UnitOfWork,
        expected: BTreeSet<Hostname>,
    ) -> Result<Locked<C>, StoreError> {
        let (rules, account) = (self.rules, self.rules.account);
        let hostnames: Vec<Hostname> = expected.iter().cloned().collect();
        let mut named_domains = rules.hold_domains(work, &hostnames).await?;
        if self.updates.iter().any(|update| !update.item.request.value.group.is_keep()) {
            work.expect_move();
        }
        let ids: Vec<LinkId> = self.updates.iter().map(|update| update.id).collect();
        let links = lock_links::<C>(work, account, &ids).await?;
        let actual = self.updates.iter().filter_map(|update| {
            let (stored, _) = links.get(&update.id)?;
            rules.domain_of_change(&stored.placement, &update.placement)
        });
        let actual: BTreeSet<Hostname> = actual.collect();
        if !actual.is_subset(&expected) {
            // A link was moved after it was read. Here the order is reversed; the store resolves a deadlock.
            let hostnames: Vec<Hostname> = actual.union(&expected).cloned().collect();
            named_domains = rules.hold_domains(work, &hostnames).await?;
        }
        Ok(Locked { links, named_domains })
    }

    /// Applies each item to its link. Items that are refused or change nothing get their outcomes.
    fn apply(&self, locked: Locked<C>, progress: &mut Progress<C>) {
        let Locked { mut links, named_domains } = locked;
        for update in &self.updates {
            let index = update.index;
            let Some((stored, before)) = links.remove(&update.id) else {
                progress.settle(index, Err(update.not_found()));
                continue;
            };
            match self.applied(update, &before, &named_domains) {
                Ok(after) if after != before => {
                    let password = update.password.clone();
                    progress.changed.push(Changed { index, stored, before, after, password });
                }
                outcome => progress.settle(index, outcome),
            }
        }
    }

    fn applied(&self, update: &Update<C>, before: &Link<C>, named_domains: &NamedDomains) -> Outcome<C> {
        let LinkUpdate { link, request, if_revision } = &update.item;
        if let NamedLink::ExternalId(id) = link
            && before.external_id.as_ref() != Some(id)
        {
            // It was given another one after the look.
            return Err(update.not_found());
        }
        if let Some(required) = *if_revision
            && required != before.revision
        {
            return Err(Rejection::Invalid(other_revision(before.revision)));
        }
        let removed = self.rules.removed_domain(&before.placement, &update.placement, named_domains);
        before.apply(request, &self.rules.context(removed.as_ref().unwrap_or(named_domains)))
    }

    async fn write(&self, work: &mut dyn UnitOfWork, progress: &Progress<C>) -> Result<(), StoreError> {
        progress.write(self.rules.account, work).await.map_err(|error| {
            if !matches!(error, UpdateLinkError::Store(_)) {
                self.lost_races.fetch_add(1, Ordering::Relaxed);
            }
            contended_if_decided(error)
        })
    }
}

/// The violation of an item that requires another revision than that of the link.
fn other_revision(actual: Revision) -> Violations {
    let message = format!("is not the revision of the link, which is {}", actual.get());
    FieldError::new(ViolationCode::InvalidValue, message).at(IF_REVISION).into()
}
