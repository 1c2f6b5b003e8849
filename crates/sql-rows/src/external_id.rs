//! External ids of links (D121).

use signpost_domain::{ExternalId, LinkId};

use crate::Corrupt;
use crate::cell::RowName;
use crate::columns::StoredId;
use crate::link::link_id;

/// The external id of a link, from its column.
pub fn external_id_from(row: &RowName, external_id: Option<String>) -> Result<Option<ExternalId>, Corrupt> {
    external_id.map(|id| row.cell("external_id", ExternalId::from_stored(id))).transpose()
}

/// The links of rows of id, kind and external id, each with its external id.
pub fn links_with_external_ids(
    rows: Vec<(StoredId, i16, Option<String>)>,
) -> Result<Vec<(ExternalId, LinkId)>, Corrupt> {
    let mut found = Vec::with_capacity(rows.len());
    for (id, kind, external_id) in rows {
        let (id, row) = link_id(kind, &id)?;
        found.extend(external_id_from(&row, external_id)?.map(|external_id| (external_id, id)));
    }
    Ok(found)
}
