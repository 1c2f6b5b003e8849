//! Rows of `links` that are redirects.

use diesel::prelude::*;
use signpost_domain::{
    AccountId, Address, CountryCode, GeoBlocklist, Hostname, Name, Note, Placement, Redirect, Site, Slug,
    TargetUrl,
};

use super::cell::{RowName, own_id};
use crate::columns::IdBytes;
use crate::failure::Failure;
use crate::schema::links;

const TABLE: &str = "links";

/// What the column `kind` says of redirects. Landing pages are 0.
pub(crate) const REDIRECT: i32 = 1;

/// What the column `host` says of links on the system domain.
const SYSTEM_DOMAIN: &str = "";

/// What the column `slug` says where there is none.
const NO_SLUG: &str = "";

/// A redirect as it is read.
#[derive(Queryable, Selectable)]
#[diesel(table_name = links, check_for_backend(diesel::sqlite::Sqlite))]
pub(crate) struct RedirectRow {
    id: Vec<u8>,
    name: String,
    host: Option<String>,
    slug: String,
    is_active: bool,
    note: Option<String>,
    group_id: Option<Vec<u8>>,
    analytics_enabled: bool,
    created_at: i64,
    updated_at: i64,
    target_url: Option<String>,
    antibot_enabled: bool,
    geo_blocklist: String,
}

impl RedirectRow {
    pub(crate) fn into_redirect(self) -> Result<Redirect, Failure> {
        let Self {
            id,
            name,
            host,
            slug,
            is_active,
            note,
            group_id,
            analytics_enabled,
            created_at,
            updated_at,
            target_url,
            antibot_enabled,
            geo_blocklist,
        } = self;
        let (id, row) = own_id(TABLE, &id)?;
        Ok(Redirect {
            id,
            name: row.cell("name", Name::parse(&name))?,
            target_url: target_from(&row, target_url)?,
            placement: placement_from(&row, host.as_deref(), &slug)?,
            is_active,
            note: note.map(|note| row.cell("note", Note::parse(&note))).transpose()?,
            antibot_enabled,
            analytics_enabled,
            group_id: group_id.map(|bytes| row.id("group_id", &bytes)).transpose()?,
            geo_blocklist: geo_blocklist_from(&row, &geo_blocklist)?,
            created_at: row.timestamp("created_at", created_at)?,
            updated_at: row.timestamp("updated_at", updated_at)?,
        })
    }
}

fn target_from(row: &RowName, target_url: Option<String>) -> Result<TargetUrl, Failure> {
    let target_url = row.present("target_url", target_url)?;
    row.cell("target_url", TargetUrl::parse(&target_url))
}

fn placement_from(row: &RowName, host: Option<&str>, slug: &str) -> Result<Placement, Failure> {
    let slug = match slug {
        NO_SLUG => None,
        slug => Some(row.cell("slug", Slug::parse(slug))?),
    };
    match host {
        None => Ok(Placement::Lost { slug }),
        Some(SYSTEM_DOMAIN) => Ok(Placement::System { slug: row.present("slug", slug)? }),
        Some(host) => Ok(Placement::Custom { hostname: row.cell("host", Hostname::parse(host))?, slug }),
    }
}

fn geo_blocklist_from(row: &RowName, codes: &str) -> Result<GeoBlocklist, Failure> {
    let countries = codes.split_terminator(',').map(CountryCode::parse).collect::<Result<Vec<_>, _>>();
    Ok(GeoBlocklist::new(row.cell("geo_blocklist", countries)?))
}

/// The columns of a redirect that can change.
#[derive(Insertable, AsChangeset)]
#[diesel(table_name = links, treat_none_as_default_value = false, treat_none_as_null = true)]
pub(crate) struct RedirectColumns<'a> {
    name: &'a str,
    host: Option<&'a str>,
    slug: &'a str,
    is_active: bool,
    note: Option<&'a str>,
    group_id: Option<IdBytes>,
    analytics_enabled: bool,
    updated_at: i64,
    target_url: &'a str,
    antibot_enabled: bool,
    geo_blocklist: String,
}

impl<'a> From<&'a Redirect> for RedirectColumns<'a> {
    fn from(redirect: &'a Redirect) -> Self {
        let Redirect {
            id: _,
            name,
            target_url,
            placement,
            is_active,
            note,
            antibot_enabled,
            analytics_enabled,
            group_id,
            geo_blocklist,
            created_at: _,
            updated_at,
        } = redirect;
        let host = match placement {
            Placement::System { .. } => Some(SYSTEM_DOMAIN),
            Placement::Custom { hostname, .. } => Some(hostname.as_str()),
            Placement::Lost { .. } => None,
        };
        let countries: Vec<&str> = geo_blocklist.countries().iter().map(|country| country.as_str()).collect();
        Self {
            name: name.as_str(),
            host,
            slug: placement.slug().map_or(NO_SLUG, Slug::as_str),
            is_active: *is_active,
            note: note.as_ref().map(Note::as_str),
            group_id: group_id.map(IdBytes::from),
            analytics_enabled: *analytics_enabled,
            updated_at: updated_at.unix_millis(),
            target_url: target_url.as_str(),
            antibot_enabled: *antibot_enabled,
            geo_blocklist: countries.join(","),
        }
    }
}

/// A redirect as it is inserted.
#[derive(Insertable)]
#[diesel(table_name = links, treat_none_as_default_value = false)]
pub(crate) struct NewRedirect<'a> {
    id: IdBytes,
    account_id: IdBytes,
    kind: i32,
    created_at: i64,
    #[diesel(embed)]
    columns: RedirectColumns<'a>,
}

impl<'a> NewRedirect<'a> {
    pub(crate) fn new(account: AccountId, redirect: &'a Redirect) -> Self {
        Self {
            id: redirect.id.into(),
            account_id: account.into(),
            kind: REDIRECT,
            created_at: redirect.created_at.unix_millis(),
            columns: redirect.into(),
        }
    }
}

/// How the columns `host` and `slug` write an address.
pub(crate) fn address_columns(address: &Address) -> (String, String) {
    let Address { site, slug } = address;
    let slug = slug.as_ref().map_or(NO_SLUG, Slug::as_str).to_owned();
    (site_column(site), slug)
}

/// How the column `host` writes a site.
pub(crate) fn site_column(site: &Site) -> String {
    match site {
        Site::System => SYSTEM_DOMAIN.to_owned(),
        Site::Custom(hostname) => hostname.as_str().to_owned(),
    }
}

/// What a visitor's side needs of a link.
#[derive(Queryable, Selectable)]
#[diesel(table_name = links, check_for_backend(diesel::sqlite::Sqlite))]
pub(crate) struct PublishedRow {
    id: Vec<u8>,
    target_url: Option<String>,
    is_active: bool,
}

impl PublishedRow {
    /// The target, and whether the link is active.
    pub(crate) fn into_target(self) -> Result<(TargetUrl, bool), Failure> {
        let Self { id, target_url, is_active } = self;
        let (_, row) = own_id::<signpost_domain::id::RedirectKind>(TABLE, &id)?;
        Ok((target_from(&row, target_url)?, is_active))
    }
}
