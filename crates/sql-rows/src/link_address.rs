//! The columns `host` and `slug` of rows of `links`: where a link lives.

use signpost_domain::{Address, Hostname, Placement, Site, Slug};

use crate::Corrupt;
use crate::cell::RowName;

/// The column `host` of links on the system domain.
pub const SYSTEM_DOMAIN: &str = "";

/// The column `slug` of links without a slug.
const NO_SLUG: &str = "";

/// The placement from the columns `host` and `slug`.
pub(crate) fn placement_from(
    row: &RowName,
    host: Option<String>,
    slug: String,
) -> Result<Placement, Corrupt> {
    let slug = if slug == NO_SLUG { None } else { Some(row.cell("slug", Slug::from_stored(slug))?) };
    match host {
        None => Ok(Placement::Lost { slug }),
        Some(host) if host == SYSTEM_DOMAIN => Ok(Placement::System { slug: row.present("slug", slug)? }),
        Some(host) => {
            Ok(Placement::Custom { hostname: row.cell("host", Hostname::from_stored(host))?, slug })
        }
    }
}

/// The columns `host` and `slug` for a placement.
pub(crate) fn placement_columns(placement: &Placement) -> (Option<&str>, &str) {
    let host = match placement {
        Placement::System { .. } => Some(SYSTEM_DOMAIN),
        Placement::Custom { hostname, .. } => Some(hostname.as_str()),
        Placement::Lost { .. } => None,
    };
    (host, placement.slug().map_or(NO_SLUG, Slug::as_str))
}

/// The columns `host` and `slug` for an address.
#[must_use]
pub fn address_columns(address: &Address) -> (String, String) {
    let (host, slug) = address_texts(address);
    (host.to_owned(), slug.to_owned())
}

/// The same as [`address_columns`], borrowed from the address.
#[must_use]
pub fn address_texts(address: &Address) -> (&str, &str) {
    let Address { site, slug } = address;
    (site_text(site), slug.as_ref().map_or(NO_SLUG, Slug::as_str))
}

/// The address from the columns `host` and `slug`.
pub fn address_from(row: &RowName, host: String, slug: String) -> Result<Address, Corrupt> {
    let placement = placement_from(row, Some(host), slug)?;
    row.present("host", placement.address())
}

/// The column `host` for a site.
#[must_use]
pub fn site_column(site: &Site) -> String {
    site_text(site).to_owned()
}

fn site_text(site: &Site) -> &str {
    match site {
        Site::System => SYSTEM_DOMAIN,
        Site::Custom(hostname) => hostname.as_str(),
    }
}
