//! Rows of `links` as the visitor's side reads them.

use diesel::prelude::*;
use signpost_app::ports::{PublishedContent, PublishedLanding, PublishedLink, PublishedRedirect};
use signpost_domain::{LinkId, Name, PixelId};

use super::cell::RowName;
use super::link::{geo_blocklist_from, link_id, pixel_ids_from, target_from};
use super::page::page_from;
use super::pixel::PixelCodeRow;
use crate::failure::Failure;
use crate::schema::links;

/// What a visit needs of a link.
#[derive(Queryable, Selectable)]
#[diesel(table_name = links, check_for_backend(diesel::sqlite::Sqlite))]
pub(crate) struct PublishedRow {
    id: Vec<u8>,
    account_id: Vec<u8>,
    kind: i32,
    name: String,
    target_url: Option<String>,
    is_active: bool,
    analytics_enabled: bool,
    antibot_enabled: bool,
    geo_blocklist: String,
    pixel_ids: Vec<u8>,
}

impl PublishedRow {
    /// The link. The caller knows whether its account is suspended, those of its pixels that are there, in any order, and what
    /// is on its page.
    pub(crate) fn into_link(
        self,
        is_suspended: bool,
        pixels: Vec<PixelCodeRow>,
        page: Option<&str>,
    ) -> Result<PublishedLink, Failure> {
        let (id, row) = link_id(self.kind, &self.id)?;
        Ok(PublishedLink {
            id,
            account: row.id("account_id", &self.account_id)?,
            analytics_enabled: self.analytics_enabled,
            content: match (is_suspended, self.is_active) {
                (true, _) => PublishedContent::Suspended,
                (false, false) => PublishedContent::Inactive,
                (false, true) => self.into_content(id, &row, pixels, page)?,
            },
        })
    }

    fn into_content(
        self,
        id: LinkId,
        row: &RowName,
        pixels: Vec<PixelCodeRow>,
        page: Option<&str>,
    ) -> Result<PublishedContent, Failure> {
        Ok(match id {
            LinkId::Landing(id) => {
                row.unused("target_url", self.target_url.is_none())?;
                PublishedContent::Landing(Box::new(PublishedLanding {
                    title: row.cell("name", Name::from_stored(self.name))?,
                    content: page_from(id, page)?,
                }))
            }
            LinkId::Redirect(_) => {
                let order = pixel_ids_from(row, &self.pixel_ids)?;
                let mut codes =
                    pixels.into_iter().map(PixelCodeRow::into_code).collect::<Result<Vec<_>, _>>()?;
                let place = |id: &PixelId| order.as_slice().iter().position(|other| other == id);
                codes.sort_by_key(|(id, _)| place(id));
                PublishedContent::Redirect(PublishedRedirect {
                    target_url: target_from(row, self.target_url)?,
                    antibot_enabled: self.antibot_enabled,
                    geo_blocklist: geo_blocklist_from(row, &self.geo_blocklist)?,
                    pixels: codes.into_iter().map(|(_, code)| code).collect(),
                })
            }
        })
    }
}
