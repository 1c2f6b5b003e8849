//! The settings of rows of `custom_domains`, as owners write them and visitors get them (D127).

use diesel::prelude::*;
use signpost_app::ports::{PublishedFile, PublishedSite};
use signpost_domain::id::DomainKind;
use signpost_domain::{AppFile, CustomDomain, DomainFiles, DomainUrls, TargetUrl};

use crate::Corrupt;
use crate::cell::{RowName, own_id};
use crate::columns::{Instant, StoredId, whole_number};
use crate::custom_domain::TABLE;
use crate::schema::custom_domains;

/// A URL of the settings.
pub(crate) fn url_from(
    row: &RowName,
    column: &'static str,
    url: Option<String>,
) -> Result<Option<TargetUrl>, Corrupt> {
    url.map(|url| row.cell(column, TargetUrl::from_stored(url))).transpose()
}

/// The columns of a domain that its owner changes (D127).
#[derive(Debug, AsChangeset)]
#[diesel(table_name = custom_domains, treat_none_as_null = true)]
#[expect(missing_docs, reason = "they are the columns of these names")]
pub struct SettingsColumns<'a> {
    pub updated_at: Option<Instant>,
    pub revision: i64,
    pub root_url: Option<&'a str>,
    pub not_found_url: Option<&'a str>,
    pub expired_url: Option<&'a str>,
    pub apple_app_site_association: Option<&'a str>,
    pub asset_links: Option<&'a str>,
}

impl<'a> SettingsColumns<'a> {
    /// The columns of a domain with these files.
    #[must_use]
    pub fn new(domain: &'a CustomDomain, files: &'a DomainFiles) -> Self {
        let CustomDomain { urls: DomainUrls { root_url, not_found_url, expired_url }, .. } = domain;
        let DomainFiles { apple_app_site_association, asset_links } = files;
        let url = |url: &'a Option<TargetUrl>| url.as_ref().map(TargetUrl::as_str);
        let file = |file: &'a Option<AppFile>| file.as_ref().map(AppFile::as_str);
        Self {
            updated_at: Some(domain.updated_at.into()),
            revision: whole_number(domain.revision.get()),
            root_url: url(root_url),
            not_found_url: url(not_found_url),
            expired_url: url(expired_url),
            apple_app_site_association: file(apple_app_site_association),
            asset_links: file(asset_links),
        }
    }
}

/// A file as visitors get it: the columns `id` and `account_id` of its domain, and its text. The text is absent if the account
/// is suspended.
pub fn published_file(
    (id, account_id, file): (StoredId, StoredId, Option<String>),
) -> Result<PublishedFile, Corrupt> {
    let (_, row) = own_id::<DomainKind>(TABLE, &id)?;
    Ok(PublishedFile { account: row.id("account_id", &account_id)?, file: file.map(AppFile::from_stored) })
}

/// What visitors get of a domain that serves links, besides its links (D127).
#[derive(Debug, Queryable, Selectable)]
#[diesel(table_name = custom_domains, check_for_backend(diesel::pg::Pg, diesel::sqlite::Sqlite))]
pub struct SiteRow {
    id: StoredId,
    account_id: StoredId,
    root_url: Option<String>,
    not_found_url: Option<String>,
    expired_url: Option<String>,
}

impl SiteRow {
    /// The site. The caller passes the suspension of its account.
    pub fn into_site(self, is_suspended: bool) -> Result<PublishedSite, Corrupt> {
        let Self { id, account_id, root_url, not_found_url, expired_url } = self;
        let (_, row) = own_id::<DomainKind>(TABLE, &id)?;
        let account = row.id("account_id", &account_id)?;
        if is_suspended {
            return Ok(PublishedSite { account, root_url: None, not_found_url: None, expired_url: None });
        }
        Ok(PublishedSite {
            account,
            root_url: url_from(&row, "root_url", root_url)?,
            not_found_url: url_from(&row, "not_found_url", not_found_url)?,
            expired_url: url_from(&row, "expired_url", expired_url)?,
        })
    }
}
