//! Rows of `links`: landing pages and redirects.

use diesel::prelude::*;
use signpost_domain::id::{LandingKind, RedirectKind};
use signpost_domain::{
    AccountId, Address, CountryCode, GeoBlocklist, Hostname, Landing, Link, LinkId, LinkKind, Name, Note,
    PixelId, PixelIds, Placement, Redirect, Site, Slug, TargetUrl,
};

use super::cell::{RowName, own_id};
use crate::columns::IdBytes;
use crate::failure::Failure;
use crate::listed::Listed;
use crate::schema::links;

pub(crate) const TABLE: &str = "links";

/// What the column `host` says of links on the system domain.
pub(crate) const SYSTEM_DOMAIN: &str = "";

/// What the column `slug` says where there is none.
const NO_SLUG: &str = "";

/// What the column `kind` says of landing pages.
const LANDING: i32 = 0;

/// What the column `kind` says of redirects.
const REDIRECT: i32 = 1;

/// How the column `kind` writes a kind.
pub(crate) const fn kind_column(kind: LinkKind) -> i32 {
    match kind {
        LinkKind::Landing => LANDING,
        LinkKind::Redirect => REDIRECT,
    }
}

/// The kind that the column `kind` says; `None` if it says neither.
pub(crate) const fn kind_from(column: i32) -> Option<LinkKind> {
    match column {
        LANDING => Some(LinkKind::Landing),
        REDIRECT => Some(LinkKind::Redirect),
        _ => None,
    }
}

/// A row's own identifier, from which its name is made.
pub(crate) fn link_id(kind: i32, bytes: &[u8]) -> Result<(LinkId, RowName), Failure> {
    match kind_from(kind) {
        Some(LinkKind::Landing) => own_id::<LandingKind>(TABLE, bytes).map(|(id, row)| (id.into(), row)),
        Some(LinkKind::Redirect) => own_id::<RedirectKind>(TABLE, bytes).map(|(id, row)| (id.into(), row)),
        None => Err(unknown_kind(bytes)),
    }
}

fn unknown_kind(bytes: &[u8]) -> Failure {
    RowName::of_bytes(TABLE, bytes).corrupt("kind", "is neither 0 nor 1")
}

/// A link as it is read.
#[derive(Queryable, Selectable)]
#[diesel(table_name = links, check_for_backend(diesel::sqlite::Sqlite))]
pub(crate) struct LinkRow {
    id: Vec<u8>,
    kind: i32,
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
    pixel_ids: Vec<u8>,
}

impl LinkRow {
    pub(crate) fn into_link(self) -> Result<Link, Failure> {
        match kind_from(self.kind) {
            Some(LinkKind::Landing) => self.into_landing().map(Link::Landing),
            Some(LinkKind::Redirect) => self.into_redirect().map(Link::Redirect),
            None => Err(unknown_kind(&self.id)),
        }
    }

    /// The landing page, if the kind is that of landing pages.
    pub(crate) fn into_landing(self) -> Result<Landing, Failure> {
        let Self {
            id,
            kind: _,
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
            pixel_ids,
        } = self;
        let (id, row) = own_id(TABLE, &id)?;
        row.unused("target_url", target_url.is_none())?;
        row.unused("antibot_enabled", !antibot_enabled)?;
        row.unused("geo_blocklist", geo_blocklist.is_empty())?;
        row.unused("pixel_ids", pixel_ids.is_empty())?;
        Ok(Landing {
            id,
            title: row.cell("name", Name::from_stored(name))?,
            placement: placement_from(&row, host, slug)?,
            is_active,
            note: note_from(&row, note)?,
            analytics_enabled,
            group_id: group_id.map(|bytes| row.id("group_id", &bytes)).transpose()?,
            created_at: row.timestamp("created_at", created_at)?,
            updated_at: row.timestamp("updated_at", updated_at)?,
        })
    }

    fn into_redirect(self) -> Result<Redirect, Failure> {
        let Self {
            id,
            kind: _,
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
            pixel_ids,
        } = self;
        let (id, row) = own_id(TABLE, &id)?;
        Ok(Redirect {
            id,
            name: row.cell("name", Name::from_stored(name))?,
            target_url: target_from(&row, target_url)?,
            placement: placement_from(&row, host, slug)?,
            is_active,
            note: note_from(&row, note)?,
            antibot_enabled,
            analytics_enabled,
            group_id: group_id.map(|bytes| row.id("group_id", &bytes)).transpose()?,
            geo_blocklist: geo_blocklist_from(&row, &geo_blocklist)?,
            pixel_ids: pixel_ids_from(&row, &pixel_ids)?,
            created_at: row.timestamp("created_at", created_at)?,
            updated_at: row.timestamp("updated_at", updated_at)?,
        })
    }
}

impl Listed for LinkRow {
    type Item = Link;

    fn id(&self) -> &[u8] {
        &self.id
    }

    fn read(self) -> Result<Link, Failure> {
        self.into_link()
    }
}

fn note_from(row: &RowName, note: Option<String>) -> Result<Option<Note>, Failure> {
    note.map(|note| row.cell("note", Note::from_stored(note))).transpose()
}

pub(super) fn target_from(row: &RowName, target_url: Option<String>) -> Result<TargetUrl, Failure> {
    let target_url = row.present("target_url", target_url)?;
    row.cell("target_url", TargetUrl::from_stored(target_url))
}

fn placement_from(row: &RowName, host: Option<String>, slug: String) -> Result<Placement, Failure> {
    let slug = if slug == NO_SLUG { None } else { Some(row.cell("slug", Slug::from_stored(slug))?) };
    match host {
        None => Ok(Placement::Lost { slug }),
        Some(host) if host == SYSTEM_DOMAIN => Ok(Placement::System { slug: row.present("slug", slug)? }),
        Some(host) => {
            Ok(Placement::Custom { hostname: row.cell("host", Hostname::from_stored(host))?, slug })
        }
    }
}

pub(super) fn geo_blocklist_from(row: &RowName, codes: &str) -> Result<GeoBlocklist, Failure> {
    let countries = codes.split_terminator(',').map(CountryCode::from_stored).collect::<Result<Vec<_>, _>>();
    Ok(GeoBlocklist::new(row.cell("geo_blocklist", countries)?))
}

/// The ids stand one behind the other.
pub(super) fn pixel_ids_from(row: &RowName, bytes: &[u8]) -> Result<PixelIds, Failure> {
    let (ids, rest) = bytes.as_chunks::<16>();
    if !rest.is_empty() {
        return Err(row.corrupt("pixel_ids", "does not have 16 bytes for each id"));
    }
    row.cell("pixel_ids", PixelIds::from_stored(ids.iter().copied().map(PixelId::from_bytes).collect()))
}

/// The columns of a link but for its id, its kind, its creation and its page. Whether it is counted never changes (D28); it stands
/// here because a statement that writes it again costs nothing.
#[derive(Insertable, AsChangeset)]
#[diesel(table_name = links, treat_none_as_default_value = false, treat_none_as_null = true)]
pub(crate) struct LinkColumns<'a> {
    name: &'a str,
    host: Option<&'a str>,
    slug: &'a str,
    is_active: bool,
    note: Option<&'a str>,
    group_id: Option<IdBytes>,
    analytics_enabled: bool,
    updated_at: i64,
    target_url: Option<&'a str>,
    antibot_enabled: bool,
    geo_blocklist: String,
    pixel_ids: Vec<u8>,
}

impl<'a> From<&'a Link> for LinkColumns<'a> {
    fn from(link: &'a Link) -> Self {
        match link {
            Link::Landing(landing) => landing.into(),
            Link::Redirect(redirect) => redirect.into(),
        }
    }
}

impl<'a> From<&'a Landing> for LinkColumns<'a> {
    fn from(landing: &'a Landing) -> Self {
        let Landing {
            id: _,
            title,
            placement,
            is_active,
            note,
            analytics_enabled,
            group_id,
            created_at: _,
            updated_at,
        } = landing;
        let (host, slug) = placement_columns(placement);
        Self {
            name: title.as_str(),
            host,
            slug,
            is_active: *is_active,
            note: note.as_ref().map(Note::as_str),
            group_id: group_id.map(IdBytes::from),
            analytics_enabled: *analytics_enabled,
            updated_at: updated_at.unix_millis(),
            target_url: None,
            antibot_enabled: false,
            geo_blocklist: String::new(),
            pixel_ids: Vec::new(),
        }
    }
}

impl<'a> From<&'a Redirect> for LinkColumns<'a> {
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
            pixel_ids,
            created_at: _,
            updated_at,
        } = redirect;
        let (host, slug) = placement_columns(placement);
        let countries: Vec<&str> = geo_blocklist.countries().iter().map(|country| country.as_str()).collect();
        Self {
            name: name.as_str(),
            host,
            slug,
            is_active: *is_active,
            note: note.as_ref().map(Note::as_str),
            group_id: group_id.map(IdBytes::from),
            analytics_enabled: *analytics_enabled,
            updated_at: updated_at.unix_millis(),
            target_url: Some(target_url.as_str()),
            antibot_enabled: *antibot_enabled,
            geo_blocklist: countries.join(","),
            pixel_ids: pixel_ids.as_slice().iter().flat_map(|id| id.to_bytes()).collect(),
        }
    }
}

/// How the columns `host` and `slug` write a placement.
fn placement_columns(placement: &Placement) -> (Option<&str>, &str) {
    let host = match placement {
        Placement::System { .. } => Some(SYSTEM_DOMAIN),
        Placement::Custom { hostname, .. } => Some(hostname.as_str()),
        Placement::Lost { .. } => None,
    };
    (host, placement.slug().map_or(NO_SLUG, Slug::as_str))
}

/// A link as it is inserted.
#[derive(Insertable)]
#[diesel(table_name = links, treat_none_as_default_value = false)]
pub(crate) struct NewLink<'a> {
    id: IdBytes,
    account_id: IdBytes,
    kind: i32,
    created_at: i64,
    #[diesel(embed)]
    columns: LinkColumns<'a>,
}

impl<'a> NewLink<'a> {
    pub(crate) fn new(account: AccountId, link: &'a Link) -> Self {
        let created_at = match link {
            Link::Landing(landing) => landing.created_at,
            Link::Redirect(redirect) => redirect.created_at,
        };
        Self {
            id: link.id().into(),
            account_id: account.into(),
            kind: kind_column(link.kind()),
            created_at: created_at.unix_millis(),
            columns: link.into(),
        }
    }

    pub(crate) const fn id(&self) -> [u8; 16] {
        self.id.get()
    }
}

/// How the columns `host` and `slug` write an address.
pub(crate) fn address_columns(address: &Address) -> (String, String) {
    let Address { site, slug } = address;
    let slug = slug.as_ref().map_or(NO_SLUG, Slug::as_str).to_owned();
    (site_column(site), slug)
}

/// The address that the columns `host` and `slug` write.
pub(crate) fn address_from(row: &RowName, host: String, slug: String) -> Result<Address, Failure> {
    let placement = placement_from(row, Some(host), slug)?;
    row.present("host", placement.address())
}

/// How the column `host` writes a site.
pub(crate) fn site_column(site: &Site) -> String {
    match site {
        Site::System => SYSTEM_DOMAIN.to_owned(),
        Site::Custom(hostname) => hostname.as_str().to_owned(),
    }
}
