//! Inserts many groups or links at once. An item that the store cannot store does not stop the others.

use std::collections::{BTreeMap, BTreeSet};
use std::slice;

use signpost_domain::{
    AccountId, Change, Group, GroupId, Hostname, Link, LinkId, LinkPassword, Name, NamedDomain, NamedDomains,
    Placement, PlanLimits, PlanResource,
};

use crate::app_error::{AppError, OperatorError};
use crate::application::Application;
use crate::links::passwords::{HashChange, HashWrites, hashes_of};
use crate::links::{LinkRules, ProvidedTags};
use crate::ports::{InsertGroupError, InsertLinksError, InsertResourceError, Insertion, StoreError};
use crate::unit_of_work::{Attempts, commit};

/// How many passwords are hashed in one call, which has a bound of time. An import takes as long as it takes.
const HASHES_AT_ONCE: usize = 10;

/// The outcome of inserting a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GroupInsertion {
    LimitReached,
    /// Another group, of any account, has its id.
    IdTaken,
    Done,
    /// Groups with its name exist already: this one, and so many others. Only for [`Names::New`].
    NameTaken(GroupId, usize),
}

/// Whether groups are inserted if others have their names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Names {
    Any,
    /// Another import or an API client may have created such a group meanwhile.
    New,
}

/// The outcome of inserting a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LinkInsertion {
    /// The custom domain was removed after it was looked up.
    DomainGone,
    /// The custom domain stopped serving links after it was looked up.
    DomainNotActive,
    /// The plan has no room for its tags.
    TagLimitReached,
    /// The store inserted or refused it.
    Decided(Insertion),
}

/// Inserts links together, those among them that get a password with its hash, and commits them. Returns an outcome for each, in
/// order: `None` for a link that the store cannot store.
///
/// # Errors
/// Something broke. The links were not inserted, or another import finds them.
pub(super) async fn insert_links(
    rules: &LinkRules<'_>,
    links: &[Link],
    passwords: &[(LinkId, LinkPassword)],
    limits: &PlanLimits,
) -> Result<Vec<Option<LinkInsertion>>, OperatorError> {
    let LinkRules { app, account, .. } = *rules;
    let limit = limits.of(PlanResource::Links);
    let mut hashes: BTreeMap<LinkId, HashChange> = BTreeMap::new();
    for part in passwords.chunks(HASHES_AT_ONCE) {
        let made = hashes_of(app, part.iter().map(|(_, password)| password)).await?;
        hashes.extend(part.iter().map(|(id, _)| *id).zip(made.into_iter().map(Change::Set)));
    }
    let insert = async |links: &[Link]| {
        let attempts = Attempts::at(app);
        let attempt = async || {
            let mut work = attempts.begin().await?;
            let hostnames: BTreeSet<Hostname> = links.iter().filter_map(custom_hostname).cloned().collect();
            let hostnames: Vec<Hostname> = hostnames.into_iter().collect();
            let named_domains = rules.hold_domains(work.as_mut(), &hostnames).await?;
            let mut refusals: Vec<_> =
                links.iter().map(|link| refused_by_domain(link, &named_domains)).collect();
            let placed = links.iter().zip(&refusals).filter(|(_, refusal)| refusal.is_none());
            let needed = placed.map(|(link, _)| &link.tags);
            let tags = ProvidedTags::of_links(app, work.as_mut(), account, limits, needed).await?;
            let mut placed: Vec<Link> = Vec::with_capacity(links.len());
            for (link, refusal) in links.iter().zip(&mut refusals).filter(|(_, refusal)| refusal.is_none()) {
                match tags.spell(&link.tags) {
                    Ok(tags) => placed.push(Link { tags, ..link.clone() }),
                    Err(_) => *refusal = Some(LinkInsertion::TagLimitReached),
                }
            }
            let insertions = match work.insert_links(account, &placed, limit).await {
                Ok(insertions) => insertions,
                Err(InsertLinksError::AccountMissing) => return Err(OperatorError::NoSuchAccount(account)),
                Err(InsertLinksError::Store(error)) => return Err(error.into()),
            };
            let inserted =
                placed.iter().zip(&insertions).filter(|(_, insertion)| **insertion == Insertion::Done);
            let inserted = inserted.map(|(link, _)| link);
            tags.withdraw_unused(work.as_mut(), account, inserted.clone().map(|link| &link.tags)).await?;
            let with_hash = inserted.filter_map(|link| Some((link.id(), hashes.get(&link.id())?)));
            HashWrites::of_created(with_hash).write(work.as_mut(), account).await?;
            if insertions.contains(&Insertion::Done) {
                commit(app, work).await?;
            }
            let mut decided = insertions.into_iter().map(LinkInsertion::Decided);
            Ok(refusals.into_iter().filter_map(|refusal| refusal.or_else(|| decided.next())).collect())
        };
        attempts.run(attempt).await
    };
    let is_there = async |link: &Link| {
        let Some(kept) = app.store.link(account, link.id()).await? else { return Ok(None) };
        let spelt = Link { tags: kept.tags.clone(), ..link.clone() };
        let is_same = kept.tags.same_as(&link.tags) && kept == spelt;
        Ok(is_same.then_some(LinkInsertion::Decided(Insertion::Done)))
    };
    let mut outcomes = Vec::with_capacity(links.len());
    for part in without_repeated_external_ids(links) {
        outcomes.extend(all_or_each(app, part, insert, is_there).await?);
    }
    Ok(outcomes)
}

/// The links in parts, in order. Within a part, no two links have one external id, because the store decides about a part as a
/// whole, and the second of two such links must be decided after the first.
fn without_repeated_external_ids(links: &[Link]) -> Vec<&[Link]> {
    let (mut parts, mut rest) = (Vec::new(), links);
    while !rest.is_empty() {
        let mut named = BTreeSet::new();
        let mut ids = rest.iter().map(|link| link.external_id.as_ref());
        let end = ids.position(|id| id.is_some_and(|id| !named.insert(id))).unwrap_or(rest.len());
        let (part, others) = rest.split_at(end);
        parts.push(part);
        rest = others;
    }
    parts
}

fn custom_hostname(link: &Link) -> Option<&Hostname> {
    match &link.placement {
        Placement::Custom { hostname, slug: _ } => Some(hostname),
        Placement::System { .. } | Placement::Lost { .. } => None,
    }
}

fn refused_by_domain(link: &Link, named_domains: &NamedDomains) -> Option<LinkInsertion> {
    match named_domains.of(custom_hostname(link)?) {
        NamedDomain::Unknown => Some(LinkInsertion::DomainGone),
        NamedDomain::NotActive => Some(LinkInsertion::DomainNotActive),
        NamedDomain::Active => None,
    }
}

/// Inserts groups as [`insert_links`] does links.
///
/// # Errors
/// Something broke. The groups were not inserted, or another import finds them.
pub(super) async fn insert_groups(
    app: &Application,
    account: AccountId,
    groups: &[Group],
    limit: u64,
    names: Names,
) -> Result<Vec<Option<GroupInsertion>>, OperatorError> {
    let insert = async |groups: &[Group]| {
        let attempts = Attempts::at(app);
        let attempt = async || {
            let mut work = attempts.begin().await?;
            let taken = match names {
                Names::Any => Vec::new(),
                Names::New => {
                    let names: Vec<Name> = groups.iter().map(|group| group.name.clone()).collect();
                    work.lock_groups_named(account, &names).await?
                }
            };
            let mut insertions = Vec::with_capacity(groups.len());
            for group in groups {
                let mut of_name = taken.iter().filter(|taken| taken.name == group.name);
                if let Some(taken) = of_name.next() {
                    insertions.push(GroupInsertion::NameTaken(taken.id, of_name.count()));
                    continue;
                }
                insertions.push(match work.insert_group(account, group, limit).await {
                    Ok(()) => GroupInsertion::Done,
                    Err(InsertGroupError::IdTaken) => GroupInsertion::IdTaken,
                    Err(InsertGroupError::Resource(InsertResourceError::LimitReached)) => {
                        GroupInsertion::LimitReached
                    }
                    Err(InsertGroupError::Resource(InsertResourceError::AccountMissing)) => {
                        return Err(OperatorError::NoSuchAccount(account));
                    }
                    Err(InsertGroupError::Resource(InsertResourceError::Store(error))) => {
                        return Err(error.into());
                    }
                });
            }
            if insertions.contains(&GroupInsertion::Done) {
                commit(app, work).await?;
            }
            Ok(insertions)
        };
        attempts.run(attempt).await
    };
    let is_there = async |group: &Group| {
        let kept = app.store.group(account, group.id).await?;
        Ok(kept.is_some().then_some(GroupInsertion::Done))
    };
    all_or_each(app, groups, insert, is_there).await
}

/// Inserts all items together. If the store fails and is still reachable, inserts them one by one. `is_there` finds the
/// items of a commit with an unknown outcome.
async fn all_or_each<T, O: Copy>(
    app: &Application,
    items: &[T],
    insert: impl AsyncFn(&[T]) -> Result<Vec<O>, OperatorError>,
    is_there: impl AsyncFn(&T) -> Result<Option<O>, OperatorError>,
) -> Result<Vec<Option<O>>, OperatorError> {
    if items.is_empty() {
        return Ok(vec![]);
    }
    let broken = match insert(items).await {
        Ok(outcomes) => return Ok(outcomes.into_iter().map(Some).collect()),
        Err(error) if rejects_items(app, &error).await => error,
        Err(error) => return Err(error),
    };
    let mut outcomes = Vec::with_capacity(items.len());
    for item in items {
        if let Some(outcome) = is_there(item).await? {
            outcomes.push(Some(outcome));
            continue;
        }
        match insert(slice::from_ref(item)).await {
            Ok(one) => outcomes.extend(one.into_iter().map(Some)),
            Err(error) if rejects_items(app, &error).await => outcomes.push(None),
            Err(error) => return Err(error),
        }
    }
    // If the store stores nothing, for example on a full disk, the store is broken and not the rows.
    let stores_some = items.len() == 1 || outcomes.iter().any(Option::is_some);
    if stores_some { Ok(outcomes) } else { Err(broken) }
}

/// Whether the store failed because of the items: it is still reachable.
async fn rejects_items(app: &Application, error: &OperatorError) -> bool {
    matches!(error, OperatorError::Broken(AppError::Store(StoreError::Unavailable(_))))
        && app.store.check().await.is_ok()
}
