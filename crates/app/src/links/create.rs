//! Creates links. Single and bulk creation of both kinds share this code. So an item of a batch gets the same
//! answer as a single request.

use std::collections::{BTreeSet, HashMap, HashSet};

use signpost_domain::{
    Address, Batch, Change, ExternalId, Hostname, Id, Link, LinkContext, LinkId, LinkRequest, NamedDomains,
    Permission, PlanResource, Refusal, Rejection, Slug, Submitted, Violations,
};

use super::passwords::{HashChange, HashWrites, hash_changes};
use super::resource::{LinkResource, named_pixels};
use super::rules::LinkRules;
use super::tagging::ProvidedTags;
use crate::app_error::AppError;
use crate::application::Application;
use crate::caller::Caller;
use crate::idempotency::{Idempotency, Operation};
use crate::ports::{InsertLinksError, Insertion, StoreError, UnitOfWork};

/// How many random slugs are tried for a link. With the seven characters of D21 and ten million links on the
/// system domain, one full batch in 1,600 needs a second slug. A third is practically never needed.
const SLUG_ATTEMPTS: u32 = 10;

/// The request of a creation.
type Request<C> = Submitted<LinkRequest<<C as signpost_domain::ContentRules>::Request>>;

/// An item of a batch, or the violations of one without readable fields.
type Item<C> = Result<Request<C>, Violations>;

/// The outcome of each item.
type Outcomes<C> = Vec<Result<Link<C>, Rejection>>;

/// Creates one link.
///
/// # Errors
/// [`AppError::PasswordsBusy`]. [`AppError::Invalid`] with every violation. Otherwise [`AppError::Refused`] with the first refusal
/// that applies, in this order:
///
/// - The domain does not exist, or is not active.
/// - A slug is required, or the slug is reserved.
/// - The plan lacks a feature.
/// - The plan's limit on tags is reached.
/// - The group does not exist.
/// - The plan's limit on links is reached.
/// - The address is taken.
pub async fn create<C: LinkResource>(
    app: &Application,
    caller: &Caller,
    request: Request<C>,
    idempotency: Idempotency<'_, C::Single>,
) -> Result<C::Single, AppError> {
    caller.require(Permission::WriteLinks)?;
    let password = hash_changes(app, caller, [Some(&request)]).await?.pop().unwrap_or_default();
    create_hashed::<C>(app, caller, request, password, idempotency).await
}

/// Creates a link as [`create`] does, for callers that may write, with the hash of its password.
///
/// # Errors
/// As [`create`].
pub(super) async fn create_hashed<C: LinkResource>(
    app: &Application,
    caller: &Caller,
    request: Request<C>,
    password: HashChange,
    idempotency: Idempotency<'_, C::Single>,
) -> Result<C::Single, AppError> {
    let pixels = named_pixels::<C>(app, caller.account_id(), [&request.value.content]).await?;
    let known_pixels = pixels.keys().copied().collect();
    let blocklist = app.target_blocklist.current();
    let rules = LinkRules::of_request(app, caller, &blocklist, &known_pixels);
    let single = |link: &Link<C>| C::single(link.clone(), &pixels);
    // The answer to a refusal is not made from an outcome: the operation remembers it separately.
    let idempotency =
        idempotency.for_outcome(|outcomes: &Outcomes<C>| outcomes.first()?.as_ref().ok().map(single));
    let operation = Operation::new(app, caller, idempotency);
    let items = Items::new(&rules, vec![Ok(request)], vec![password], |rejection| rejection);
    operation
        .run(|| async {
            let outcome = attempt(&operation, &rules, caller, &items).await?.pop();
            Ok(single(&outcome.ok_or(AppError::NoOutcome)??))
        })
        .await
}

/// Creates links as if they were created in order. Refused items are skipped, and the rest commit in one transaction (D30).
/// An item is `Err` if it has no readable fields, such as one that is not an object.
///
/// The answer has an outcome for each item, in the same order: that of [`create`], or [`Refusal::DuplicateSlugInBatch`] if
/// an earlier item has taken the address.
///
/// # Errors
/// Something broke, and nothing was created.
pub async fn create_many<C: LinkResource>(
    app: &Application,
    caller: &Caller,
    requests: Batch<Item<C>>,
    idempotency: Idempotency<'_, Vec<Result<Link<C>, Rejection>>>,
) -> Result<Vec<Result<Link<C>, Rejection>>, AppError> {
    caller.require(Permission::WriteLinks)?;
    let passwords = hash_changes(app, caller, requests.iter().map(|request| request.as_ref().ok())).await?;
    let contents = requests.iter().flatten().map(|request| &request.value.content);
    let pixels = named_pixels::<C>(app, caller.account_id(), contents).await?;
    let known_pixels = pixels.keys().copied().collect();
    let blocklist = app.target_blocklist.current();
    let rules = LinkRules::of_request(app, caller, &blocklist, &known_pixels);
    let operation = Operation::new(app, caller, idempotency);
    let items = Items::new(&rules, requests.into_items(), passwords, Rejection::of_item);
    operation.run(|| attempt(&operation, &rules, caller, &items)).await
}

/// The items of a creation, which all attempts share.
struct Items<C: LinkResource> {
    /// With the ids of their links. The ids follow the order of the batch (D29), and every attempt uses the same ones.
    requests: Vec<(Id<C::Kind>, Item<C>)>,
    /// What each does to the hash of its link.
    passwords: Vec<HashChange>,
    /// The hostnames that they name, each once, without those of the system domain.
    hostnames: Vec<Hostname>,
    /// Converts the rejection of an item for the answer.
    convert_rejection: fn(Rejection) -> Rejection,
}

impl<C: LinkResource> Items<C> {
    fn new(
        rules: &LinkRules<'_>,
        requests: Vec<Item<C>>,
        passwords: Vec<HashChange>,
        convert_rejection: fn(Rejection) -> Rejection,
    ) -> Self {
        let named = requests.iter().flatten().filter_map(|request| match &request.value.domain {
            Change::Set(domain) => Some(domain),
            Change::Keep | Change::Clear => None,
        });
        let hostnames = rules.custom_hostnames(named);
        let requests = requests.into_iter().map(|request| (rules.app.ids.next(), request)).collect();
        Self { requests, passwords, hostnames, convert_rejection }
    }
}

/// One attempt.
async fn attempt<C: LinkResource>(
    operation: &Operation<'_, Outcomes<C>>,
    rules: &LinkRules<'_>,
    caller: &Caller,
    items: &Items<C>,
) -> Result<Outcomes<C>, AppError> {
    let mut work = None;
    let named_domains = if items.hostnames.is_empty() {
        NamedDomains::default()
    } else {
        rules.hold_domains(work.insert(operation.begin().await?).as_mut(), &items.hostnames).await?
    };
    let context = rules.context(&named_domains);
    let mut creation = Creation::new(rules.app, caller, items, &context)?;
    if !creation.pending.is_empty() {
        let work = match &mut work {
            Some(work) => work,
            None => work.insert(operation.begin().await?),
        };
        creation.insert(work.as_mut()).await?;
    }
    let outcomes: Result<Outcomes<C>, AppError> =
        creation.outcomes.into_iter().map(|outcome| outcome.ok_or(AppError::NoOutcome)).collect();
    let outcomes = outcomes?;
    operation.finish(work, outcomes.iter().any(Result::is_ok), &outcomes).await?;
    Ok(outcomes)
}

/// One attempt to create links.
struct Creation<'a, C: LinkResource> {
    app: &'a Application,
    caller: &'a Caller,
    context: &'a LinkContext<'a>,
    items: &'a Items<C>,
    /// The outcome of each item; `None` while it is unknown.
    outcomes: Vec<Option<Result<Link<C>, Rejection>>>,
    /// The links to insert, with the positions of their items.
    pending: Vec<(usize, Link<C>)>,
    /// The addresses that items of this batch have taken, or would have taken if the plan had room for them.
    claimed: HashSet<Address>,
    /// The items whose addresses were taken before, with these addresses.
    taken: Vec<(usize, Address)>,
    /// The items whose external ids were taken, with these.
    taken_external_ids: Vec<(usize, ExternalId)>,
    /// Whether links with taken addresses were inserted again.
    is_repeated: bool,
    /// Whether links with taken external ids were inserted again.
    is_repeated_for_ids: bool,
}

impl<'a, C: LinkResource> Creation<'a, C> {
    fn new(
        app: &'a Application,
        caller: &'a Caller,
        items: &'a Items<C>,
        context: &'a LinkContext<'a>,
    ) -> Result<Self, AppError> {
        let outcomes = items.requests.iter().map(|_| None).collect();
        let mut creation = Self {
            app,
            caller,
            context,
            items,
            outcomes,
            pending: vec![],
            claimed: HashSet::new(),
            taken: vec![],
            taken_external_ids: vec![],
            is_repeated: false,
            is_repeated_for_ids: false,
        };
        for index in 0..items.requests.len() {
            creation.build(index)?;
        }
        Ok(creation)
    }

    /// Builds the link of an item. If the request has no slug, the link gets a random one.
    fn build(&mut self, index: usize) -> Result<(), AppError> {
        let Some((id, request)) = self.items.requests.get(index) else { return Ok(()) };
        let link = match request {
            Err(unreadable) => Err(Rejection::Invalid(unreadable.clone())),
            Ok(request) => {
                let needs_slug = request.value.slug.is_keep() && request.violations.is_empty();
                let random = if needs_slug { Some(random_slug(self.app)?) } else { None };
                Link::create(*id, request, random, self.context)
            }
        };
        match link {
            Ok(link) => self.pending.push((index, link)),
            Err(rejection) => self.settle(index, Err(rejection)),
        }
        Ok(())
    }

    fn has_random_slug(&self, index: usize) -> bool {
        let request = self.items.requests.get(index).and_then(|(_, request)| request.as_ref().ok());
        request.is_some_and(|request| request.value.slug.is_keep())
    }

    /// Inserts the links. A link whose random slug is taken gets another one and is inserted again.
    async fn insert(&mut self, work: &mut dyn UnitOfWork) -> Result<(), AppError> {
        let (account, limits) = (self.caller.account_id(), &self.caller.plan().limits);
        let limit = limits.of(PlanResource::Links);
        let needed = self.pending.iter().map(|(_, link)| &link.tags);
        let tags = ProvidedTags::of_links(self.app, work, account, limits, needed).await?;
        for _ in 0..SLUG_ATTEMPTS {
            let pending = self.tagged(&tags);
            let links: Vec<Link> = pending.iter().map(|(_, link)| link.clone().into_any()).collect();
            let insertions = match work.insert_links(account, &links, limit).await {
                Ok(insertions) => insertions,
                Err(InsertLinksError::AccountMissing) => return Err(AppError::AccountGone),
                Err(InsertLinksError::Store(error)) => return Err(error.into()),
            };
            for ((index, link), insertion) in pending.into_iter().zip(insertions) {
                let refusal = match insertion {
                    Insertion::Done => {
                        self.claimed.extend(link.placement.address());
                        self.settle(index, Ok(link));
                        continue;
                    }
                    Insertion::ExternalIdTaken => {
                        self.taken_external_ids.extend(link.external_id.map(|id| (index, id)));
                        continue;
                    }
                    Insertion::AddressTaken if self.has_random_slug(index) => {
                        self.build(index)?;
                        continue;
                    }
                    Insertion::AddressTaken => self.address_taken(index, &link),
                    Insertion::IdTaken => return Err(StoreError::unavailable("a new id is taken").into()),
                    Insertion::GroupMissing => Refusal::GroupNotFound,
                    Insertion::LimitReached => self.limit_reached(&link, limit),
                };
                self.settle(index, Err(refusal.into()));
            }
            if self.pending.is_empty() {
                self.name_external_ids(work).await?;
                self.name_existing(work).await?;
            }
            if self.pending.is_empty() {
                let created: Vec<_> = self.outcomes.iter().flatten().flatten().collect();
                tags.withdraw_unused(work, account, created.iter().map(|link| &link.tags)).await?;
                let decided = self.outcomes.iter().zip(&self.items.passwords);
                let new = decided.filter_map(|(outcome, change)| {
                    Some((outcome.as_ref()?.as_ref().ok()?.id.into(), change))
                });
                HashWrites::of_created(new).write(work, account).await?;
                return Ok(C::write_new_contents(work, account, &created).await?);
            }
        }
        Err(AppError::NoFreeSlug { attempts: SLUG_ATTEMPTS })
    }

    /// Takes the links to insert, with their tags as the account spells them. Refuses those for whose tags the plan has no room.
    fn tagged(&mut self, tags: &ProvidedTags) -> Vec<(usize, Link<C>)> {
        let mut tagged = Vec::with_capacity(self.pending.len());
        for (index, mut link) in std::mem::take(&mut self.pending) {
            match tags.spell(&link.tags) {
                Ok(spelt) => {
                    link.tags = spelt;
                    tagged.push((index, link));
                }
                Err(refusal) => self.settle(index, Err(refusal.into())),
            }
        }
        tagged
    }

    /// The refusal of an item whose address is taken: by an earlier item of the batch, or by a link that existed before. In
    /// the latter case, [`name_existing`](Self::name_existing) adds the link's id.
    fn address_taken(&mut self, index: usize, link: &Link<C>) -> Refusal {
        let Some(address) = link.placement.address() else {
            return Refusal::AddressTaken { existing: None };
        };
        if self.claimed.contains(&address) {
            return Refusal::DuplicateSlugInBatch;
        }
        self.taken.push((index, address));
        Refusal::AddressTaken { existing: None }
    }

    /// The refusal of an item for which the plan has no room. A repeated address is a defect of the item itself, which a larger
    /// plan would not mend (D29).
    fn limit_reached(&mut self, link: &Link<C>, limit: u64) -> Refusal {
        let is_repeated = link.placement.address().is_some_and(|address| !self.claimed.insert(address));
        if is_repeated {
            Refusal::DuplicateSlugInBatch
        } else {
            Refusal::PlanLimitReached { resource: PlanResource::Links, limit }
        }
    }

    /// Refuses the items whose external ids are taken, with the ids of the caller's links that have them (D121), with one query for the
    /// whole batch.
    ///
    /// Where the caller has none, the earlier item of the batch that names the external id was refused, or the link that had it was
    /// deleted meanwhile. These links are inserted again, once.
    async fn name_external_ids(&mut self, work: &mut dyn UnitOfWork) -> Result<(), AppError> {
        let taken = std::mem::take(&mut self.taken_external_ids);
        if taken.is_empty() {
            return Ok(());
        }
        let ids: BTreeSet<ExternalId> = taken.iter().map(|(_, id)| id.clone()).collect();
        let ids: Vec<ExternalId> = ids.into_iter().collect();
        let found = work.links_with_external_ids(self.caller.account_id(), &ids).await?;
        let found: HashMap<ExternalId, LinkId> = found.into_iter().collect();
        let repeats = !std::mem::replace(&mut self.is_repeated_for_ids, true);
        for (index, id) in taken {
            let existing = found.get(&id).copied();
            if existing.is_none() && repeats {
                self.build(index)?;
            } else {
                let violation = ExternalId::taken_by(existing).of_value(id.as_str());
                self.settle(index, Err(Rejection::Invalid(violation.into())));
            }
        }
        Ok(())
    }

    /// Adds the ids of the caller's own links at the taken addresses (D20), with one query for the whole batch.
    ///
    /// Where the caller has none, the address belongs to another account, or its link was deleted after the store had refused
    /// the address. These links are inserted again, once: the refusal could not name the deleted link.
    async fn name_existing(&mut self, work: &mut dyn UnitOfWork) -> Result<(), AppError> {
        let taken = std::mem::take(&mut self.taken);
        if taken.is_empty() {
            return Ok(());
        }
        let addresses: HashSet<&Address> = taken.iter().map(|(_, address)| address).collect();
        let addresses: Vec<Address> = addresses.into_iter().cloned().collect();
        let found = work.links_at(self.caller.account_id(), &addresses).await?;
        let found: HashMap<Address, LinkId> = found.into_iter().collect();
        let repeats = !std::mem::replace(&mut self.is_repeated, true);
        for (index, address) in taken {
            if let Some(id) = found.get(&address) {
                self.settle(index, Err(Refusal::AddressTaken { existing: Some(*id) }.into()));
            } else if repeats {
                self.build(index)?;
            }
        }
        Ok(())
    }

    fn settle(&mut self, index: usize, outcome: Result<Link<C>, Rejection>) {
        if let Some(settled) = self.outcomes.get_mut(index) {
            *settled = Some(outcome.map_err(self.items.convert_rejection));
        }
    }
}

fn random_slug(app: &Application) -> Result<Slug, AppError> {
    let mut bytes = [0; 16];
    app.randomness.fill(&mut bytes)?;
    Ok(Slug::from_random(bytes))
}
