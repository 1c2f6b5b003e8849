//! Links as the visitor's side reads them.

use diesel::prelude::*;
use signpost_app::ports::{PublishedContent, PublishedLanding, PublishedLink, PublishedRedirect};
use signpost_domain::{LinkId, Name, PixelCode, PixelIds};

use super::cell::RowName;
use super::link::{geo_blocklist_from, link_id, pixel_ids_from, target_from};
use super::page::page_from;
use super::pixel::code_from;
use crate::columns::IdBytes;
use crate::failure::Failure;

/// What a visit needs of a link.
#[derive(Queryable)]
pub(crate) struct PublishedRow {
    id: IdBytes,
    account_id: IdBytes,
    kind: i16,
    name: String,
    target_url: Option<String>,
    is_active: bool,
    analytics_enabled: bool,
    antibot_enabled: bool,
    geo_blocklist: String,
    pixel_ids: Vec<IdBytes>,
    /// Of each of `pixel_ids` its type and its code, unless it is gone; none where nobody may open the link.
    pixels: Vec<Option<String>>,
    /// Absent where nobody may open the link.
    page: Option<String>,
}

impl PublishedRow {
    /// The link, of an account of which the caller knows whether it is suspended.
    pub(crate) fn into_link(self, is_suspended: bool) -> Result<PublishedLink, Failure> {
        let (id, row) = link_id(self.kind, self.id)?;
        Ok(PublishedLink {
            id,
            account: self.account_id.id(),
            analytics_enabled: self.analytics_enabled,
            content: match (is_suspended, self.is_active) {
                (true, _) => PublishedContent::Suspended,
                (false, false) => PublishedContent::Inactive,
                (false, true) => self.into_content(id, &row)?,
            },
        })
    }

    fn into_content(self, id: LinkId, row: &RowName) -> Result<PublishedContent, Failure> {
        Ok(match id {
            LinkId::Landing(_) => {
                row.unused("target_url", self.target_url.is_none())?;
                PublishedContent::Landing(Box::new(PublishedLanding {
                    title: row.cell("name", Name::from_stored(self.name))?,
                    content: page_from(row, self.page.as_deref())?,
                }))
            }
            LinkId::Redirect(_) => PublishedContent::Redirect(PublishedRedirect {
                target_url: target_from(row, self.target_url)?,
                antibot_enabled: self.antibot_enabled,
                geo_blocklist: geo_blocklist_from(row, &self.geo_blocklist)?,
                pixels: codes_from(&pixel_ids_from(row, &self.pixel_ids)?, &self.pixel_ids, &self.pixels)?,
            }),
        })
    }
}

/// The codes of the pixels that are there, in the order of `order`.
fn codes_from(
    order: &PixelIds,
    ids: &[IdBytes],
    pixels: &[Option<String>],
) -> Result<Vec<PixelCode>, Failure> {
    let mut codes = Vec::new();
    for id in order.as_slice() {
        let place = ids.iter().position(|other| *other == (*id).into());
        let text = place.and_then(|place| pixels.get(place)).and_then(Option::as_deref);
        codes.extend(text.map(|text| code_from(*id, text)).transpose()?);
    }
    Ok(codes)
}
