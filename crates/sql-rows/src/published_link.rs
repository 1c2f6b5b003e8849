//! Rows of `links` as visits read them.

use diesel::prelude::*;
use diesel::sql_types::{Bool, Nullable, SmallInt, Text};
use signpost_app::ports::{PublishedContent, PublishedLanding, PublishedLink, PublishedRedirect};
use signpost_domain::{Life, LinkId, Name, PixelCode, PixelIds};

use crate::Corrupt;
use crate::cell::RowName;
use crate::click_limit::{LimitOfOpenLink, click_limit_from};
use crate::columns::{StoredId, StoredIds};
use crate::link::link_id;
use crate::link_life::{LifeColumns, LifeRow, ReadLife};
use crate::page::page_from;
use crate::redirect_columns::{geo_blocklist_from, pixel_ids_from, target_from};
use crate::schema::links;
use crate::sql_types::{Identifier, IdentifierList};

/// The columns of [`PublishedRow`] for statements in plain SQL, in the order of its fields.
pub type PublishedColumns = (
    Identifier,
    Identifier,
    SmallInt,
    Text,
    Nullable<Text>,
    Bool,
    Bool,
    Bool,
    Text,
    IdentifierList,
    LifeColumns,
    Nullable<Text>,
);

/// The columns of a link that a visit needs.
#[derive(Debug, Queryable, Selectable)]
#[diesel(table_name = links, check_for_backend(diesel::pg::Pg, diesel::sqlite::Sqlite))]
pub struct PublishedRow {
    id: StoredId,
    account_id: StoredId,
    kind: i16,
    name: String,
    target_url: Option<String>,
    is_active: bool,
    analytics_enabled: bool,
    antibot_enabled: bool,
    geo_blocklist: String,
    pixel_ids: StoredIds,
    #[diesel(embed)]
    life: LifeRow,
    #[diesel(select_expression = LimitOfOpenLink, select_expression_type = LimitOfOpenLink)]
    click_limit: Option<String>,
}

impl PublishedRow {
    /// The link. The caller passes the suspension of its account and the content of its page. `codes` returns the codes of
    /// its existing pixels, in order.
    pub fn into_link(
        self,
        is_suspended: bool,
        page: Option<&str>,
        codes: impl FnOnce(&PixelIds) -> Result<Vec<PixelCode>, Corrupt>,
    ) -> Result<PublishedLink, Corrupt> {
        let (id, row) = link_id(self.kind, &self.id)?;
        let account = row.id("account_id", &self.account_id)?;
        let analytics_enabled = self.analytics_enabled;
        let (life, has_password, content) = match (is_suspended, self.is_active) {
            (true, _) => (Life::default(), false, PublishedContent::Suspended),
            (false, false) => (Life::default(), false, PublishedContent::Inactive),
            (false, true) => self.into_visible(id, &row, page, codes)?,
        };
        Ok(PublishedLink { id, account, analytics_enabled, life, has_password, content })
    }

    /// The life of the link, whether it has a password, and its content.
    fn into_visible(
        self,
        id: LinkId,
        row: &RowName,
        page: Option<&str>,
        codes: impl FnOnce(&PixelIds) -> Result<Vec<PixelCode>, Corrupt>,
    ) -> Result<(Life, bool, PublishedContent), Corrupt> {
        let ReadLife { life, way, rules, preview, has_password } =
            self.life.read(row, id.kind(), self.click_limit.is_some())?;
        let content = match id {
            LinkId::Landing(_) => {
                row.unused("target_url", self.target_url.is_none())?;
                PublishedContent::Landing(Box::new(PublishedLanding {
                    title: row.cell("name", Name::from_stored(self.name))?,
                    content: page_from(row, page)?,
                }))
            }
            LinkId::Redirect(_) => PublishedContent::Redirect(PublishedRedirect {
                target_url: target_from(row, self.target_url)?,
                antibot_enabled: self.antibot_enabled,
                geo_blocklist: geo_blocklist_from(row, &self.geo_blocklist)?,
                pixels: codes(&pixel_ids_from(row, &self.pixel_ids)?)?,
                way,
                click_limit: click_limit_from(row, self.click_limit)?,
                rules,
                preview,
            }),
        };
        Ok((life, has_password, content))
    }
}
