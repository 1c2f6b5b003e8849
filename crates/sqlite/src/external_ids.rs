//! The account's own links with some external ids (D121).

use diesel::prelude::*;
use signpost_domain::{AccountId, ExternalId, LinkId};

use crate::failure::Failure;
use crate::schema::links;
use signpost_sql_rows::columns::{IdBytes, StoredId};
use signpost_sql_rows::external_id::external_id_from;
use signpost_sql_rows::link::link_id;

/// The account's links that have one of `ids`, each with it.
pub(crate) fn find(
    connection: &mut SqliteConnection,
    account: AccountId,
    ids: &[ExternalId],
) -> Result<Vec<(ExternalId, LinkId)>, Failure> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let rows: Vec<(StoredId, i16, Option<String>)> = links::table
        .filter(links::account_id.eq(IdBytes::from(account)))
        .filter(links::external_id.eq_any(ids.iter().map(ExternalId::as_str)))
        .select((links::id, links::kind, links::external_id))
        .load(connection)?;
    let mut found = Vec::with_capacity(rows.len());
    for (id, kind, external_id) in rows {
        let (id, row) = link_id(kind, &id)?;
        found.extend(external_id_from(&row, external_id)?.map(|external_id| (external_id, id)));
    }
    Ok(found)
}
