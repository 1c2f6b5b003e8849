//! External ids of links, in rows and in batches (D121).

use std::collections::BTreeSet;

use signpost_domain::{ExternalId, Link, LinkId};

use crate::Corrupt;
use crate::cell::RowName;

/// The external id of a link, from its column.
pub fn external_id_from(row: &RowName, external_id: Option<String>) -> Result<Option<ExternalId>, Corrupt> {
    external_id.map(|id| row.cell("external_id", ExternalId::from_stored(id))).transpose()
}

/// The links whose external ids earlier links of a batch name (D121).
#[must_use]
pub fn repeated_external_ids(links: &[Link]) -> BTreeSet<LinkId> {
    let mut named = BTreeSet::new();
    let ids = links.iter().map(|link| (link.id(), link.external_id.as_ref()));
    ids.filter(|(_, external_id)| external_id.is_some_and(|external_id| !named.insert(external_id)))
        .map(|(id, _)| id)
        .collect()
}
