//! What is on a landing page, as its creation and its update read it alike (D34).

use signpost_domain::{AccentColor, Description, PageContentPatch, Theme, WebUrl};

use super::widgets::widgets;
use crate::extract::{ObjectReader, boolean, text};

/// The page fields. A creation's are a change of a page on which there is nothing.
pub(crate) fn read(body: &mut ObjectReader) -> PageContentPatch {
    PageContentPatch {
        description: body.nullable("description", text(Description::parse)).into_change(),
        avatar_url: body.nullable("avatar_url", text(WebUrl::parse)).into_change(),
        theme: body.optional("theme", text(Theme::parse)),
        accent_color: body.nullable("accent_color", text(AccentColor::parse)).into_change(),
        search_engines: body.optional("search_engines", boolean()),
        widgets: body.optional("widgets", widgets()),
    }
}
