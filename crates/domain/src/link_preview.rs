//! The card that link previewers show instead of the target of a redirect (D135).

use crate::page_text::Description;
use crate::stored::{self, MalformedStored};
use crate::text::trimmed_line;
use crate::violation::FieldError;
use crate::web_url::WebUrl;

/// The title of a card: 1 to 200 characters without control characters. Surrounding white space is dropped before the length is
/// checked.
///
/// ```
/// use signpost_domain::PreviewTitle;
///
/// assert_eq!(PreviewTitle::parse(" Autumn sale ").unwrap().as_str(), "Autumn sale");
/// assert!(PreviewTitle::parse(" ").is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PreviewTitle(String);

impl PreviewTitle {
    /// The maximum length in Unicode scalar values.
    pub const MAX_CHARS: usize = 200;

    /// Reads a title.
    ///
    /// # Errors
    /// `too_short` if it is empty or only white space, `too_long` above [`Self::MAX_CHARS`], `invalid_format` if it contains a
    /// control character.
    pub fn parse(text: &str) -> Result<Self, FieldError> {
        trimmed_line(text, Self::MAX_CHARS).map(Self)
    }

    /// Reads a stored title: one line.
    pub fn from_stored(text: String) -> Result<Self, MalformedStored> {
        stored::some_line(text).map(Self)
    }

    /// The title, trimmed.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The card of a redirect. It takes one word in redirects, because almost all of them have none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkPreview(Box<Parts>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Parts {
    title: PreviewTitle,
    description: Option<Description>,
    image_url: Option<WebUrl>,
}

impl LinkPreview {
    /// The field that has it.
    pub const FIELD: &'static str = "preview";

    /// The field of [`Self::title`] in it.
    pub const TITLE: &'static str = "title";

    /// The field of [`Self::description`] in it.
    pub const DESCRIPTION: &'static str = "description";

    /// The field of [`Self::image_url`] in it.
    pub const IMAGE_URL: &'static str = "image_url";

    /// The card with these parts. Description and image follow the rules of landing pages (D34).
    #[must_use]
    pub fn new(title: PreviewTitle, description: Option<Description>, image_url: Option<WebUrl>) -> Self {
        Self(Box::new(Parts { title, description, image_url }))
    }

    /// The title.
    #[must_use]
    pub const fn title(&self) -> &PreviewTitle {
        &self.0.title
    }

    /// The text below the title.
    #[must_use]
    pub const fn description(&self) -> Option<&Description> {
        self.0.description.as_ref()
    }

    /// The picture.
    #[must_use]
    pub const fn image_url(&self) -> Option<&WebUrl> {
        self.0.image_url.as_ref()
    }
}

#[cfg(test)]
#[path = "link_preview_tests.rs"]
pub(crate) mod tests;
