//! The account's own links with some external ids (D121).

use diesel::sql_types::{Array, Nullable, SmallInt, Text};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use signpost_domain::{AccountId, ExternalId, LinkId};
use signpost_sql_rows::sql_types::Identifier;

use crate::failure::Failure;
use crate::statement::statement;
use signpost_sql_rows::columns::IdBytes;
use signpost_sql_rows::external_id::links_with_external_ids;

statement! {
    /// The account's links with some external ids: id, kind and external id.
    LinksWithExternalIds -> (Identifier, SmallInt, Nullable<Text>) {
        account: IdBytes => Identifier,
        external_ids: Vec<String> => Array<Text>,
    } =
    "SELECT l.id, l.kind, l.external_id FROM unnest($2) AS n (external_id) CROSS JOIN LATERAL (SELECT a.id, a.kind, \
     a.external_id FROM links AS a WHERE a.account_id = $1 AND a.external_id = n.external_id COLLATE \"C\" LIMIT 1) AS l"
}

/// The account's links that have one of `ids`, each with it. It sees rows that another transaction has just committed, because
/// each statement takes a new snapshot.
pub(crate) async fn find(
    connection: &mut &AsyncPgConnection,
    account: AccountId,
    ids: &[ExternalId],
) -> Result<Vec<(ExternalId, LinkId)>, Failure> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let external_ids = ids.iter().map(|id| id.as_str().to_owned()).collect();
    let statement = LinksWithExternalIds { account: account.into(), external_ids };
    Ok(links_with_external_ids(statement.load(connection).await?)?)
}
