//! Links that wait for their insertion.

use std::collections::HashSet;

use signpost_domain::{
    Address, ExternalId, Link, LinkId, LinkPassword, NamedDomains, PlanLimits, PlanResource, Refusal,
    Violations,
};

use super::entry::{LinkToCreate, Refused, Run};
use super::existing_links::{Occupant, links_at};
use super::insertion::LinkInsertion;
use super::outcome::{Imported, ImportedRow};
use super::results::Results;
use crate::app_error::OperatorError;
use crate::links::LinkRules;
use crate::ports::Insertion;

/// A classified run. Its new links are inserted while the next run is classified.
pub(super) struct Pending {
    results: Results,
    named_domains: NamedDomains,
    entries: Vec<LinkToCreate>,
    /// The links of the entries, in the same order.
    links: Vec<Link>,
    refused: Vec<Refused>,
    ids: HashSet<LinkId>,
    addresses: HashSet<Address>,
}

impl Pending {
    pub(super) fn new(
        results: Results,
        named_domains: NamedDomains,
        new: Vec<(LinkToCreate, Link)>,
        refused: Vec<Refused>,
    ) -> Self {
        let ids = new.iter().map(|(_, link)| link.id()).collect();
        let addresses = new.iter().filter_map(|(_, link)| link.placement.address()).collect();
        let (entries, links) = new.into_iter().unzip();
        Self { results, named_domains, entries, links, refused, ids, addresses }
    }

    /// The links to insert.
    pub(super) fn links(&self) -> &[Link] {
        &self.links
    }

    /// The passwords of those that get one.
    pub(super) fn passwords(&self) -> Vec<(LinkId, LinkPassword)> {
        let entries = self.entries.iter().zip(&self.links);
        let password =
            |(entry, link): (&LinkToCreate, &Link)| Some((link.id(), entry.link.password()?.clone()));
        entries.filter_map(password).collect()
    }

    /// Whether the next run depends on the outcome of this one: it refers to one of these links, or creates a group.
    pub(super) fn affects(&self, run: &Run) -> bool {
        let is_affected = |entry: &LinkToCreate| {
            entry.link.id.is_some_and(|id| self.ids.contains(&id))
                || entry.address.as_ref().is_some_and(|address| self.addresses.contains(address))
        };
        !run.groups.is_empty() || run.links.iter().any(is_affected)
    }

    /// The outcome of each row, after the insertion.
    pub(super) async fn settle(
        self,
        rules: &LinkRules<'_>,
        insertions: Vec<Option<LinkInsertion>>,
        limits: &PlanLimits,
    ) -> Result<Vec<ImportedRow>, OperatorError> {
        let Self { mut results, named_domains, entries, links, mut refused, ids: _, addresses: _ } = self;
        let limit_reached =
            |resource| Imported::from(Refusal::PlanLimitReached { resource, limit: limits.of(resource) });
        for ((entry, link), insertion) in entries.into_iter().zip(links).zip(insertions) {
            let outcome = match insertion {
                Some(LinkInsertion::Decided(Insertion::Done)) => {
                    results.link(rules.app, entry.index, Imported::Created, &link);
                    continue;
                }
                Some(LinkInsertion::Decided(Insertion::GroupMissing)) => Refusal::GroupNotFound.into(),
                Some(LinkInsertion::Decided(Insertion::LimitReached)) => limit_reached(PlanResource::Links),
                Some(LinkInsertion::TagLimitReached) => limit_reached(PlanResource::Tags),
                Some(LinkInsertion::Decided(Insertion::ExternalIdTaken)) => {
                    Violations::from(ExternalId::taken_by(None)).into()
                }
                Some(LinkInsertion::Decided(Insertion::IdTaken)) => Imported::link_id_taken(&link),
                Some(LinkInsertion::Decided(Insertion::AddressTaken)) => {
                    Refusal::AddressTaken { existing: None }.into()
                }
                Some(LinkInsertion::DomainGone) => Refusal::DomainNotFound.into(),
                Some(LinkInsertion::DomainNotActive) => Refusal::DomainNotActive.into(),
                None => Imported::not_storable(),
            };
            refused.push(Refused { entry, address: link.placement.address(), outcome });
        }
        // Another request, or another of these rows, may have created the link that a refused row describes.
        let addresses: Vec<Address> = refused.iter().filter_map(|row| row.address.clone()).collect();
        let occupants = links_at(rules.app, rules.account, &addresses).await?;
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
