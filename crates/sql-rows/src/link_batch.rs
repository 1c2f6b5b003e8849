//! Checks and decisions about a batch of new links that both stores share (D30, D121).

use std::collections::BTreeSet;

use diesel::prelude::*;
use signpost_app::ports::Insertion;
use signpost_domain::{ExternalId, Link, LinkId};

use crate::columns::{IdBytes, StoredId};
use crate::link::address_texts;

/// Two links of a batch have this id, which is a defect of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("two links of one batch have the id {0}")]
pub struct RepeatedId(pub LinkId);

/// A stored link that has an id of the batch. A statement selects its id, host and slug, in this order.
#[derive(Debug, Queryable)]
pub struct ExistingLink {
    id: StoredId,
    host: Option<String>,
    slug: String,
}

impl ExistingLink {
    /// Whether this link has the id of `link`, and another address.
    fn is_other_than(&self, link: &Link) -> bool {
        let has_address = || {
            link.placement.address().is_some_and(|address| {
                let (host, slug) = address_texts(&address);
                self.host.as_deref() == Some(host) && self.slug == slug
            })
        };
        self.id == StoredId::from(IdBytes::from(link.id())) && !has_address()
    }
}

/// Refuses two links with one id. If their addresses are equal too, a database would report the first link for both.
pub fn refuse_repeated_ids(links: &[Link]) -> Result<(), RepeatedId> {
    let mut seen = BTreeSet::new();
    match links.iter().find(|link| !seen.insert(link.id().to_bytes())) {
        None => Ok(()),
        Some(link) => Err(RepeatedId(link.id())),
    }
}

/// The links whose external ids earlier links of the batch name.
#[must_use]
pub fn repeated_external_ids(links: &[Link]) -> BTreeSet<LinkId> {
    let mut named = BTreeSet::new();
    let ids = links.iter().map(|link| (link.id(), link.external_id.as_ref()));
    ids.filter(|(_, external_id)| external_id.is_some_and(|external_id| !named.insert(external_id)))
        .map(|(id, _)| id)
        .collect()
}

/// What other links have of the links that a statement skipped.
#[derive(Debug)]
pub struct Taken<'a> {
    repeated: &'a BTreeSet<LinkId>,
    external_ids: BTreeSet<ExternalId>,
    ids: BTreeSet<LinkId>,
}

impl<'a> Taken<'a> {
    /// `repeated` are the [`repeated_external_ids`] of the batch. `existing` are the links of any account with the ids of `skipped`
    /// links, and `named` those of the account with their external ids.
    #[must_use]
    pub fn of(
        repeated: &'a BTreeSet<LinkId>,
        skipped: &[&Link],
        existing: &[ExistingLink],
        named: Vec<(ExternalId, LinkId)>,
    ) -> Self {
        let external_ids = named.into_iter().map(|(external_id, _)| external_id).collect();
        Self { repeated, external_ids, ids: ids_of_others(skipped, existing) }
    }

    /// The decision against a link that was not inserted although its group exists and the account has room: the first in the order of
    /// [`Insertion`].
    #[must_use]
    pub fn decision(&self, link: &Link) -> Insertion {
        let has_taken_external_id = self.repeated.contains(&link.id())
            || link.external_id.as_ref().is_some_and(|id| self.external_ids.contains(id));
        if has_taken_external_id {
            Insertion::ExternalIdTaken
        } else if self.ids.contains(&link.id()) {
            Insertion::IdTaken
        } else {
            Insertion::AddressTaken
        }
    }
}

/// Those of the ids of links that were not inserted that `existing` links have. An existing link with the same address does not
/// count, because another request may have inserted the same link.
fn ids_of_others(skipped: &[&Link], existing: &[ExistingLink]) -> BTreeSet<LinkId> {
    let taken = skipped.iter().filter(|link| existing.iter().any(|one| one.is_other_than(link)));
    taken.map(|link| link.id()).collect()
}

#[cfg(test)]
mod tests {
    use signpost_domain::{Id, Landing};
    use signpost_port_contracts::samples;

    use super::*;

    /// With equal addresses, the second link would be skipped silently because of the first.
    #[test]
    fn batch_with_a_repeated_id_is_refused_whatever_the_addresses() {
        let redirect = samples::redirect("a");
        let id = Id::from_bytes(redirect.id.to_bytes());
        let same_id = Landing { id, ..samples::landing("b") };
        for repeated in [redirect.clone().into_any(), same_id.into_any()] {
            let links = [redirect.clone().into_any(), samples::landing("c").into(), repeated];
            assert_eq!(refuse_repeated_ids(&links), Err(RepeatedId(links[2].id())));
            assert_eq!(refuse_repeated_ids(&links[..2]), Ok(()));
        }
    }

    fn link(slug: &str, external_id: Option<&str>) -> Link {
        let external_id = external_id.map(|id| ExternalId::parse(id).unwrap());
        Link { external_id, ..samples::redirect(slug).into_any() }
    }

    /// The row of a link with the id of `link`.
    fn row(link: &Link, host: Option<&str>, slug: &str) -> ExistingLink {
        let id = StoredId::from(IdBytes::from(link.id()));
        ExistingLink { id, host: host.map(str::to_owned), slug: slug.to_owned() }
    }

    #[test]
    fn an_external_id_is_decided_before_an_id_and_an_address() {
        let [stored, first, again] = [link("a", Some("1")), link("b", Some("2")), link("c", Some("2"))];
        let [other_id, free] = [link("d", Some("3")), link("e", None)];
        let batch = [&stored, &first, &again, &other_id, &free].map(Link::clone);
        let repeated = repeated_external_ids(&batch);
        let skipped: Vec<&Link> = batch.iter().collect();
        let existing = [&stored, &again, &other_id].map(|link| row(link, Some(""), "elsewhere"));
        let named = vec![(stored.external_id.clone().unwrap(), samples::redirect("x").into_any().id())];
        let taken = Taken::of(&repeated, &skipped, &existing, named);
        let decisions = [&stored, &first, &again, &other_id, &free].map(|link| taken.decision(link));
        assert_eq!(
            decisions,
            [
                Insertion::ExternalIdTaken,
                Insertion::AddressTaken,
                Insertion::ExternalIdTaken,
                Insertion::IdTaken,
                Insertion::AddressTaken,
            ]
        );
    }

    /// Another request may have inserted the same link, and its address is what the caller can find it by. A lost link has no address.
    #[test]
    fn an_id_is_taken_only_by_a_link_at_another_address() {
        let (repeated, placed) = (BTreeSet::new(), link("a", None));
        let lost = Link { placement: samples::lost(Some("a")), ..placed.clone() };
        for (link, host, slug, decision) in [
            (&placed, Some(""), "a", Insertion::AddressTaken),
            (&placed, Some(""), "b", Insertion::IdTaken),
            (&placed, Some("links.example.net"), "a", Insertion::IdTaken),
            (&placed, None, "a", Insertion::IdTaken),
            (&lost, None, "a", Insertion::IdTaken),
        ] {
            let existing = [row(link, host, slug)];
            let taken = Taken::of(&repeated, &[link], &existing, Vec::new());
            assert_eq!(taken.decision(link), decision, "{:?} and {existing:?}", link.placement);
        }
    }
}
