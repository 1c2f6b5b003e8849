//! Rows of `links`: landing pages and redirects.

use diesel::prelude::*;
use signpost_domain::{
    Address, CountryCode, GeoBlocklist, Hostname, Landing, Link, LinkId, LinkKind, Name, Note, PixelIds,
    Placement, Redirect, Site, Slug, TargetUrl,
};

use super::cell::RowName;
use crate::columns::{IdBytes, Instant};
use crate::failure::Failure;
use crate::listed::Listed;
use crate::schema::links;
use crate::search::search_key;

pub(super) const TABLE: &str = "links";

/// What the column `host` says of links on the system domain.
const SYSTEM_DOMAIN: &str = "";

/// What the column `slug` says where there is none.
const NO_SLUG: &str = "";

/// What the column `kind` says of landing pages.
const LANDING: i16 = 0;

/// What the column `kind` says of redirects.
const REDIRECT: i16 = 1;

/// How the column `kind` writes a kind.
pub(crate) const fn kind_column(kind: LinkKind) -> i16 {
    match kind {
        LinkKind::Landing => LANDING,
        LinkKind::Redirect => REDIRECT,
    }
}

/// The kind that the column `kind` says; `None` if it says neither.
pub(crate) const fn kind_from(column: i16) -> Option<LinkKind> {
    match column {
        LANDING => Some(LinkKind::Landing),
        REDIRECT => Some(LinkKind::Redirect),
        _ => None,
    }
}

/// A row's own identifier, from which its name is made.
pub(crate) fn link_id(kind: i16, id: IdBytes) -> Result<(LinkId, RowName), Failure> {
    match kind_from(kind) {
        Some(kind) => {
            let id = LinkId::from_bytes(kind, id.get());
            Ok((id, RowName::new(TABLE, id)))
        }
        None => Err(unknown_kind(id)),
    }
}

/// An id of an unknown kind is named as PostgreSQL shows it, but for the hyphens.
fn unknown_kind(id: IdBytes) -> Failure {
    let row = format_args!("{:032x}", u128::from_be_bytes(id.get())).to_string();
    RowName::new(TABLE, row).corrupt("kind", "is neither 0 nor 1")
}

/// A link as it is read.
#[derive(Queryable, Selectable)]
#[diesel(table_name = links, check_for_backend(diesel::pg::Pg))]
pub(crate) struct LinkRow {
    id: IdBytes,
    kind: i16,
    name: String,
    host: Option<String>,
    slug: String,
    is_active: bool,
    note: Option<String>,
    group_id: Option<IdBytes>,
    analytics_enabled: bool,
    created_at: Instant,
    updated_at: Instant,
    target_url: Option<String>,
    antibot_enabled: bool,
    geo_blocklist: String,
    pixel_ids: Vec<IdBytes>,
}

impl LinkRow {
    /// The row's own identifier, and its name.
    pub(crate) fn id(&self) -> Result<(LinkId, RowName), Failure> {
        link_id(self.kind, self.id)
    }

    pub(crate) fn into_link(self) -> Result<Link, Failure> {
        match kind_from(self.kind) {
            Some(LinkKind::Landing) => self.into_landing().map(Link::Landing),
            Some(LinkKind::Redirect) => self.into_redirect().map(Link::Redirect),
            None => Err(unknown_kind(self.id)),
        }
    }

    /// The landing page that a row of that kind is.
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
        let id = id.id();
        let row = RowName::new(TABLE, id);
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
            group_id: group_id.map(IdBytes::id),
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
        let id = id.id();
        let row = RowName::new(TABLE, id);
        Ok(Redirect {
            id,
            name: row.cell("name", Name::from_stored(name))?,
            target_url: target_from(&row, target_url)?,
            placement: placement_from(&row, host, slug)?,
            is_active,
            note: note_from(&row, note)?,
            antibot_enabled,
            analytics_enabled,
            group_id: group_id.map(IdBytes::id),
            geo_blocklist: geo_blocklist_from(&row, &geo_blocklist)?,
            pixel_ids: pixel_ids_from(&row, &pixel_ids)?,
            created_at: row.timestamp("created_at", created_at)?,
            updated_at: row.timestamp("updated_at", updated_at)?,
        })
    }
}

impl Listed for LinkRow {
    type Item = Link;

    fn id(&self) -> IdBytes {
        self.id
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

pub(super) fn pixel_ids_from(row: &RowName, ids: &[IdBytes]) -> Result<PixelIds, Failure> {
    row.cell("pixel_ids", PixelIds::from_stored(ids.iter().map(|id| id.id()).collect()))
}

/// The columns of a link that [`LinkWrites::update_link`](signpost_app::ports::LinkWrites::update_link) can change.
pub(super) struct LinkColumns<'a> {
    pub(super) name: &'a str,
    pub(super) host: Option<&'a str>,
    pub(super) slug: &'a str,
    pub(super) is_active: bool,
    pub(super) note: Option<&'a str>,
    pub(super) group_id: Option<IdBytes>,
    pub(super) analytics_enabled: bool,
    pub(super) updated_at: Instant,
    pub(super) target_url: Option<&'a str>,
    pub(super) antibot_enabled: bool,
    pub(super) geo_blocklist: String,
    pub(super) search_key: String,
    pub(super) pixel_ids: Vec<IdBytes>,
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
            updated_at: (*updated_at).into(),
            target_url: None,
            antibot_enabled: false,
            geo_blocklist: String::new(),
            search_key: search_key(title.as_str(), slug, None),
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
            updated_at: (*updated_at).into(),
            target_url: Some(target_url.as_str()),
            antibot_enabled: *antibot_enabled,
            geo_blocklist: countries.join(","),
            search_key: search_key(name.as_str(), slug, Some(target_url.as_str())),
            pixel_ids: pixel_ids.as_slice().iter().copied().map(IdBytes::from).collect(),
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

/// How the columns `host` and `slug` write an address.
pub(crate) fn address_columns(address: &Address) -> (String, String) {
    let (host, slug) = address_texts(address);
    (host.to_owned(), slug.to_owned())
}

/// The same as [`address_columns`], in the address.
pub(crate) fn address_texts(address: &Address) -> (&str, &str) {
    let Address { site, slug } = address;
    (site_text(site), slug.as_ref().map_or(NO_SLUG, Slug::as_str))
}

/// The address that the columns `host` and `slug` write.
pub(crate) fn address_from(row: &RowName, host: String, slug: String) -> Result<Address, Failure> {
    let placement = placement_from(row, Some(host), slug)?;
    row.present("host", placement.address())
}

/// How the column `host` writes a site.
pub(crate) fn site_column(site: &Site) -> String {
    site_text(site).to_owned()
}

fn site_text(site: &Site) -> &str {
    match site {
        Site::System => SYSTEM_DOMAIN,
        Site::Custom(hostname) => hostname.as_str(),
    }
}
