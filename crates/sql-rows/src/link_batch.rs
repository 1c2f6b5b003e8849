//! Checks of a batch of new links that both stores share (D30, D121).

use std::collections::BTreeSet;

use diesel::prelude::*;
use signpost_domain::{Link, LinkId};

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

/// Those of the ids of links that were not inserted that `existing` links have. An existing link with the same address does not
/// count, because another request may have inserted the same link.
#[must_use]
pub fn ids_of_others(skipped: &[&Link], existing: &[ExistingLink]) -> BTreeSet<LinkId> {
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
}
