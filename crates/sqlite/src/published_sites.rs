//! What visitors get of a custom domain besides its links (D127).

use diesel::dsl::{case_when, sql};
use diesel::prelude::*;
use diesel::sql_types::Bool;
use signpost_app::ports::{PublishedFile, PublishedSite};
use signpost_domain::{AppFileKind, Hostname};

use crate::failure::Failure;
use crate::schema::{accounts, custom_domains};
use signpost_sql_rows::custom_domain::ACTIVE;
use signpost_sql_rows::domain_settings::{SiteRow, published_file};

/// Written as a literal: only then SQLite recognizes the condition of the partial index, which skips failed domains.
const HOLDS: &str = "custom_domains.status <> 'failed'";

/// The site of the domain with this hostname that serves links.
pub(crate) fn find(
    connection: &mut SqliteConnection,
    hostname: &Hostname,
) -> Result<Option<PublishedSite>, Failure> {
    let found = custom_domains::table
        .inner_join(accounts::table.on(accounts::id.eq(custom_domains::account_id)))
        .filter(custom_domains::hostname.eq(hostname.as_str()))
        .filter(sql::<Bool>(HOLDS))
        .filter(custom_domains::status.eq(ACTIVE))
        .select((SiteRow::as_select(), accounts::suspended_at.is_not_null()))
        .first::<(SiteRow, bool)>(connection)
        .optional()?;
    Ok(found.map(|(row, is_suspended)| row.into_site(is_suspended)).transpose()?)
}

/// A file of the domain with this hostname that serves links.
pub(crate) fn find_file(
    connection: &mut SqliteConnection,
    hostname: &Hostname,
    kind: AppFileKind,
) -> Result<Option<PublishedFile>, Failure> {
    let serving = custom_domains::table
        .inner_join(accounts::table.on(accounts::id.eq(custom_domains::account_id)))
        .filter(custom_domains::hostname.eq(hostname.as_str()))
        .filter(sql::<Bool>(HOLDS))
        .filter(custom_domains::status.eq(ACTIVE));
    let (id, account) = (custom_domains::id, custom_domains::account_id);
    let is_open = accounts::suspended_at.is_null();
    let found = match kind {
        AppFileKind::AppleAppSiteAssociation => {
            let file = case_when(is_open, custom_domains::apple_app_site_association);
            serving.select((id, account, file)).first(connection).optional()?
        }
        AppFileKind::AssetLinks => {
            let file = case_when(is_open, custom_domains::asset_links);
            serving.select((id, account, file)).first(connection).optional()?
        }
    };
    Ok(found.map(published_file).transpose()?)
}
