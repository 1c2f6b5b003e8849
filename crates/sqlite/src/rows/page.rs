//! The column `page` of `links`: what is on a landing page.

use signpost_domain::{LandingId, PageContent};

use super::cell::RowName;
use super::link::TABLE;
use crate::failure::Failure;

/// What the column says of the landing page with this id.
pub(crate) fn page_from(id: LandingId, page: Option<&str>) -> Result<PageContent, Failure> {
    let content = page.map(|page| RowName::new(TABLE, id).cell("page", PageContent::from_json(page)));
    Ok(content.transpose()?.unwrap_or_default())
}

/// How the column writes it: a page without anything on it is as one that never had anything.
pub(crate) fn page_column(content: &PageContent) -> Option<String> {
    (*content != PageContent::default()).then(|| content.to_json())
}

#[cfg(test)]
mod tests {
    use signpost_port_contracts::samples;

    use super::*;

    /// Most rows are of links that have no page: they stay as small as before.
    #[test]
    fn a_page_without_anything_on_it_takes_no_room() {
        let id = samples::id();
        assert_eq!(page_column(&PageContent::default()), None);
        assert_eq!(page_from(id, None).unwrap(), PageContent::default());
        let dark = page_from(id, Some(r#"{"theme":"dark"}"#)).unwrap();
        assert_ne!(dark, PageContent::default());
        assert_eq!(page_from(id, page_column(&dark).as_deref()).unwrap(), dark);
    }
}
