//! Links that are judged and wait to be inserted.

use std::collections::HashSet;

use signpost_domain::{Address, Link, LinkId, NamedDomains, PlanResource, Refusal};

use super::entry::{NewLink, Refused, Run};
use super::insertion::LinkInsertion;
use super::occupancy::{Occupant, occupants};
use super::outcome::{Imported, ImportedRow};
use super::results::Results;
use crate::accounts::OperatorError;
use crate::links::LinkRules;
use crate::ports::Insertion;

/// A run that is judged. Its new links are inserted while the next run is judged.
pub(super) struct Pending {
    results: Results,
    named_domains: NamedDomains,
    entries: Vec<NewLink>,
    /// What the entries describe, in the same order.
    links: Vec<Link>,
    refused: Vec<Refused>,
    ids: HashSet<LinkId>,
    addresses: HashSet<Address>,
}

impl Pending {
    pub(super) fn new(
        results: Results,
        named_domains: NamedDomains,
        new: Vec<(NewLink, Link)>,
        refused: Vec<Refused>,
    ) -> Self {
        let ids = new.iter().map(|(_, link)| link.id()).collect();
        let addresses = new.iter().filter_map(|(_, link)| link.placement.address()).collect();
        let (entries, links) = new.into_iter().unzip();
        Self { results, named_domains, entries, links, refused, ids, addresses }
    }

    /// The links to be inserted.
    pub(super) fn links(&self) -> &[Link] {
        &self.links
    }

    /// Whether the next run depends on what becomes of this one: a row is about one of these links, or a group is created.
    pub(super) fn concerns(&self, run: &Run) -> bool {
        let concerned = |entry: &NewLink| {
            entry.link.id.is_some_and(|id| self.ids.contains(&id))
                || entry.address.as_ref().is_some_and(|address| self.addresses.contains(address))
        };
        !run.groups.is_empty() || run.links.iter().any(concerned)
    }

    /// Says of each row what became of it, once the links are inserted.
    pub(super) async fn settle(
        self,
        rules: &LinkRules<'_>,
        insertions: Vec<Option<LinkInsertion>>,
        limit: u64,
    ) -> Result<Vec<ImportedRow>, OperatorError> {
        let Self { mut results, named_domains, entries, links, mut refused, ids: _, addresses: _ } = self;
        for ((entry, link), insertion) in entries.into_iter().zip(links).zip(insertions) {
            let outcome = match insertion {
                Some(LinkInsertion::Judged(Insertion::Done)) => {
                    results.link(rules.app, entry.index, Imported::Created, &link);
                    continue;
                }
                Some(LinkInsertion::Judged(Insertion::GroupMissing)) => Refusal::GroupNotFound.into(),
                Some(LinkInsertion::Judged(Insertion::LimitReached)) => {
                    Refusal::PlanLimitReached { resource: PlanResource::Links, limit }.into()
                }
                Some(LinkInsertion::Judged(Insertion::AddressTaken)) => {
                    Refusal::AddressTaken { existing: None }.into()
                }
                Some(LinkInsertion::DomainGone) => Refusal::DomainNotFound.into(),
                Some(LinkInsertion::DomainNotActive) => Refusal::DomainNotActive.into(),
                None => Imported::untakable(),
            };
            refused.push(Refused { entry, address: link.placement.address(), outcome });
        }
        // Meanwhile, or by another of these rows, what a row describes may have come to be.
        let addresses: Vec<Address> = refused.iter().filter_map(|row| row.address.clone()).collect();
        let occupants = occupants(rules.app, rules.account, &addresses).await?;
        let context = &rules.context(&named_domains);
        for Refused { entry, address, outcome } in refused {
            match address.and_then(|address| occupants.get(&address)) {
                Some(Occupant::Own(link)) => {
                    let outcome = Imported::compared(entry.link.differences(link, context));
                    results.link(rules.app, entry.index, outcome, link);
                }
                Some(Occupant::Foreign) | None => results.refuse(entry.index, outcome),
            }
        }
        Ok(results.all()?)
    }
}
