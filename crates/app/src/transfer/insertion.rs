//! Inserting what is new, many at once, without letting one that the store cannot take stop the others.

use std::collections::BTreeSet;
use std::slice;

use signpost_domain::{AccountId, Group, Hostname, Link, NamedDomain, NamedDomains, Placement};

use crate::accounts::OperatorError;
use crate::app_error::AppError;
use crate::application::Application;
use crate::links::LinkRules;
use crate::ports::{InsertGroupError, InsertLinksError, Insertion, StoreError};
use crate::unit_of_work::{Attempts, commit};

/// What became of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GroupInsertion {
    LimitReached,
    Done,
}

/// What became of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LinkInsertion {
    /// Its custom domain was removed since it was looked up.
    DomainGone,
    /// Its custom domain has ceased to serve links since it was looked up.
    DomainNotActive,
    /// The store has judged it.
    Judged(Insertion),
}

/// Inserts links together and commits them. Says of each, in the same order, what became of it; `None` of one that the
/// store cannot take, such as one whose id something of another account has.
///
/// # Errors
/// Something broke, and what was not reported before was not inserted or will be found by another import.
pub(super) async fn insert_links(
    rules: &LinkRules<'_>,
    links: &[Link],
    limit: u64,
) -> Result<Vec<Option<LinkInsertion>>, OperatorError> {
    let LinkRules { app, account, .. } = *rules;
    let insert = async |links: &[Link]| {
        let attempts = Attempts::at(app);
        let attempt = async || {
            let mut work = attempts.begin().await?;
            let hostnames: BTreeSet<Hostname> = links.iter().filter_map(custom_hostname).cloned().collect();
            let hostnames: Vec<Hostname> = hostnames.into_iter().collect();
            let named_domains = rules.hold(work.as_mut(), &hostnames).await?;
            let refusals: Vec<_> = links.iter().map(|link| refused_by_domain(link, &named_domains)).collect();
            let placed = links.iter().zip(&refusals).filter(|(_, refusal)| refusal.is_none());
            let placed: Vec<Link> = placed.map(|(link, _)| link.clone()).collect();
            let insertions = match work.insert_links(account, &placed, limit).await {
                Ok(insertions) => insertions,
                Err(InsertLinksError::AccountMissing) => return Err(OperatorError::NoSuchAccount(account)),
                Err(InsertLinksError::Store(error)) => return Err(error.into()),
            };
            if insertions.contains(&Insertion::Done) {
                commit(app, work).await?;
            }
            let mut judged = insertions.into_iter().map(LinkInsertion::Judged);
            Ok(refusals.into_iter().filter_map(|refusal| refusal.or_else(|| judged.next())).collect())
        };
        attempts.run(attempt).await
    };
    let is_there = async |link: &Link| {
        let kept = app.store.link(account, link.id()).await?;
        Ok((kept.as_ref() == Some(link)).then_some(LinkInsertion::Judged(Insertion::Done)))
    };
    together_or_apart(app, links, insert, is_there).await
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
/// Something broke, and what was not reported before was not inserted or will be found by another import.
pub(super) async fn insert_groups(
    app: &Application,
    account: AccountId,
    groups: &[Group],
    limit: u64,
) -> Result<Vec<Option<GroupInsertion>>, OperatorError> {
    let insert = async |groups: &[Group]| {
        let attempts = Attempts::at(app);
        let attempt = async || {
            let mut work = attempts.begin().await?;
            let mut insertions = Vec::with_capacity(groups.len());
            for group in groups {
                insertions.push(match work.insert_group(account, group, limit).await {
                    Ok(()) => GroupInsertion::Done,
                    Err(InsertGroupError::LimitReached) => GroupInsertion::LimitReached,
                    Err(InsertGroupError::AccountMissing) => {
                        return Err(OperatorError::NoSuchAccount(account));
                    }
                    Err(InsertGroupError::Store(error)) => return Err(error.into()),
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
    together_or_apart(app, groups, insert, is_there).await
}

/// Inserts all together, or, if the store breaks at that and yet answers, one by one. `is_there` looks for what a commit
/// of unknown outcome has made after all.
async fn together_or_apart<T, O: Copy>(
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
        Err(error) if breaks_at_this(app, &error).await => error,
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
            Err(error) if breaks_at_this(app, &error).await => outcomes.push(None),
            Err(error) => return Err(error),
        }
    }
    // A store that takes nothing at all, because its disk is full perhaps, is broken; no row is to blame.
    let takes_something = items.len() == 1 || outcomes.iter().any(Option::is_some);
    if takes_something { Ok(outcomes) } else { Err(broken) }
}

/// Whether the store fails, but not because it is away.
async fn breaks_at_this(app: &Application, error: &OperatorError) -> bool {
    matches!(error, OperatorError::Broken(AppError::Store(StoreError::Unavailable(_))))
        && app.store.check().await.is_ok()
}
