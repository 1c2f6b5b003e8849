//! The column `page` of `links`: what is on a landing page.

use signpost_domain::{LandingId, PageContent};

use super::cell::RowName;
use super::link::TABLE;
use crate::failure::Failure;

/// The row of a landing page, as it is named when something in it is corrupt.
pub(crate) fn landing_row(id: LandingId) -> RowName {
    RowName::new(TABLE, id)
}

/// How the column writes what is on a page; nothing is written of an empty one.
pub(crate) fn page_column(content: &PageContent) -> Option<String> {
    (*content != PageContent::default()).then(|| content.to_json())
}

/// What is on the page of which the column says this.
pub(crate) fn page_from(row: &RowName, page: Option<&str>) -> Result<PageContent, Failure> {
    page.map_or_else(|| Ok(PageContent::default()), |page| row.cell("page", PageContent::from_json(page)))
}
