//! What visitors get of a custom domain besides its links (D127).

use diesel::dsl::AsSelect;
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::query_builder::QueryFragment;
use diesel::sql_types::{Bool, Nullable, Text};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use signpost_app::ports::{PublishedFile, PublishedSite};
use signpost_domain::{AppFileKind, Hostname};
use signpost_sql_rows::columns::StoredId;
use signpost_sql_rows::domain_settings::{SiteRow, published_file};
use signpost_sql_rows::sql_types::Identifier;

use crate::failure::Failure;
use crate::statement::statement;

statement! {
    /// The settings of the domain with a hostname that serves links, after whether its account is suspended.
    SiteAt<'a> -> (Bool, AsSelect<SiteRow, Pg>) {
        hostname: &'a str,
        columns: AsSelect<SiteRow, Pg>,
    } =
    "SELECT accounts.suspended_at IS NOT NULL, "
    { columns as QueryFragment::walk_ast } " FROM custom_domains JOIN accounts ON accounts.id = custom_domains.account_id \
     WHERE custom_domains.hostname = "
    { hostname: Text } " AND custom_domains.status <> 'failed' AND custom_domains.status = 'active'"
}

statement! {
    /// One of the two files of the domain with a hostname that serves links, unless its account is suspended. Only that
    /// file is read.
    FileAt<'a> -> (Identifier, Identifier, Nullable<Text>) {
        hostname: &'a str => Text,
        is_of_apple: bool => Bool,
    } =
    "SELECT d.id, d.account_id, CASE WHEN a.suspended_at IS NOT NULL THEN NULL WHEN $2 THEN d.apple_app_site_association \
     ELSE d.asset_links END FROM custom_domains AS d JOIN accounts AS a ON a.id = d.account_id WHERE d.hostname = $1 AND \
     d.status <> 'failed' AND d.status = 'active'"
}

/// The site of the domain with this hostname that serves links.
pub(crate) async fn find(
    connection: &mut &AsyncPgConnection,
    hostname: &Hostname,
) -> Result<Option<PublishedSite>, Failure> {
    let statement = SiteAt { hostname: hostname.as_str(), columns: SiteRow::as_select() };
    let found: Option<(bool, SiteRow)> = statement.get_result(connection).await.optional()?;
    Ok(found.map(|(is_suspended, row)| row.into_site(is_suspended)).transpose()?)
}

/// A file of the domain with this hostname that serves links.
pub(crate) async fn find_file(
    connection: &mut &AsyncPgConnection,
    hostname: &Hostname,
    kind: AppFileKind,
) -> Result<Option<PublishedFile>, Failure> {
    let is_of_apple = match kind {
        AppFileKind::AppleAppSiteAssociation => true,
        AppFileKind::AssetLinks => false,
    };
    let statement = FileAt { hostname: hostname.as_str(), is_of_apple };
    let found: Option<(StoredId, StoredId, Option<String>)> =
        statement.get_result(connection).await.optional()?;
    Ok(found.map(published_file).transpose()?)
}
