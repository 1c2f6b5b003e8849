//! Rows of `links` as the visitor's side reads them.

use diesel::prelude::*;
use signpost_app::ports::{PublishedContent, PublishedLink};
use signpost_domain::{LinkId, Name};

use super::link::{link_id, target_from};
use crate::failure::Failure;
use crate::schema::links;

/// What a visitor's side needs of a link.
#[derive(Queryable, Selectable)]
#[diesel(table_name = links, check_for_backend(diesel::sqlite::Sqlite))]
pub(crate) struct PublishedRow {
    id: Vec<u8>,
    kind: i32,
    name: String,
    target_url: Option<String>,
    is_active: bool,
}

impl PublishedRow {
    /// The link, of an account of which the caller knows whether it is suspended.
    pub(crate) fn into_link(self, is_suspended: bool) -> Result<PublishedLink, Failure> {
        let Self { id, kind, name, target_url, is_active } = self;
        let (id, row) = link_id(kind, &id)?;
        let content = match id {
            LinkId::Landing(_) => {
                row.unused("target_url", target_url.is_none())?;
                PublishedContent::Landing { title: row.cell("name", Name::from_stored(name))? }
            }
            LinkId::Redirect(_) => PublishedContent::Redirect { target_url: target_from(&row, target_url)? },
        };
        Ok(PublishedLink { content, is_active, is_suspended })
    }
}
