//! The column `page` of `links`: the content of a landing page.

use signpost_domain::{LandingId, PageContent};

use crate::Corrupt;
use crate::cell::RowName;
use crate::link::TABLE;

/// The name of a landing page's row in errors.
#[must_use]
pub fn landing_row(id: LandingId) -> RowName {
    RowName::new(TABLE, id)
}

/// The column for this content; `None` for an empty page.
#[must_use]
pub fn page_column(content: &PageContent) -> Option<String> {
    (*content != PageContent::default()).then(|| content.to_json())
}

/// The content of a page, from its column.
pub fn page_from(row: &RowName, page: Option<&str>) -> Result<PageContent, Corrupt> {
    page.map_or_else(|| Ok(PageContent::default()), |page| row.cell("page", PageContent::from_json(page)))
}

#[cfg(test)]
mod tests {
    use signpost_port_contracts::samples;

    use super::*;

    /// Most links have no page, so their rows must stay small.
    #[test]
    fn an_empty_page_is_stored_as_null() {
        let row = landing_row(samples::id());
        assert_eq!(page_column(&PageContent::default()), None);
        assert_eq!(page_from(&row, None).unwrap(), PageContent::default());
        let dark = page_from(&row, Some(r#"{"theme":"dark"}"#)).unwrap();
        assert_ne!(dark, PageContent::default());
        assert_eq!(page_from(&row, page_column(&dark).as_deref()).unwrap(), dark);
    }
}
