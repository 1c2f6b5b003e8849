//! The account's own links with some external ids (D121).

use diesel::prelude::*;
use signpost_domain::{AccountId, ExternalId, LinkId};

use crate::failure::Failure;
use crate::schema::links;
use signpost_sql_rows::columns::IdBytes;
use signpost_sql_rows::external_id::links_with_external_ids;

/// The account's links that have one of `ids`, each with it.
pub(crate) fn find(
    connection: &mut SqliteConnection,
    account: AccountId,
    ids: &[ExternalId],
) -> Result<Vec<(ExternalId, LinkId)>, Failure> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let rows = links::table
        .filter(links::account_id.eq(IdBytes::from(account)))
        .filter(links::external_id.eq_any(ids.iter().map(ExternalId::as_str)))
        .select((links::id, links::kind, links::external_id))
        .load(connection)?;
    Ok(links_with_external_ids(rows)?)
}
