//! The column `page` of `links`: what is on a landing page.

use signpost_domain::{LandingId, PageContent};

use crate::Corrupt;
use crate::cell::RowName;
use crate::link::TABLE;

/// The row of a landing page, as it is named when something in it is corrupt.
#[must_use]
pub fn landing_row(id: LandingId) -> RowName {
    RowName::new(TABLE, id)
}

/// How the column writes what is on a page; nothing is written of an empty one.
#[must_use]
pub fn page_column(content: &PageContent) -> Option<String> {
    (*content != PageContent::default()).then(|| content.to_json())
}

/// What is on the page of which the column says this.
pub fn page_from(row: &RowName, page: Option<&str>) -> Result<PageContent, Corrupt> {
    page.map_or_else(|| Ok(PageContent::default()), |page| row.cell("page", PageContent::from_json(page)))
}

#[cfg(test)]
mod tests {
    use signpost_port_contracts::samples;

    use super::*;

    /// Most rows are of links that have no page: they stay as small as before.
    #[test]
    fn a_page_without_anything_on_it_takes_no_room() {
        let row = landing_row(samples::id());
        assert_eq!(page_column(&PageContent::default()), None);
        assert_eq!(page_from(&row, None).unwrap(), PageContent::default());
        let dark = page_from(&row, Some(r#"{"theme":"dark"}"#)).unwrap();
        assert_ne!(dark, PageContent::default());
        assert_eq!(page_from(&row, page_column(&dark).as_deref()).unwrap(), dark);
    }
}
