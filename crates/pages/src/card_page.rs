//! The page that link previewers get instead of a redirect (D135).
//!
//! It has what its owner wrote, and nothing about the target: messengers show it to people before they open the link, and keep it. It
//! runs and loads nothing, so it needs no style either. The picture is only named, and the previewer fetches it.

use askama::Template;
use signpost_domain::{Description, LinkPreview, WebUrl};

use crate::monogram::is_right_to_left;
use crate::page::{HtmlPage, PageError, policy_of};

/// A card to render.
#[derive(Debug, Clone, Copy)]
pub struct CardPage<'a> {
    /// What the owner wrote.
    pub preview: &'a LinkPreview,
    /// The public URL of the link, as the API shows it.
    pub url: &'a str,
}

impl CardPage<'_> {
    /// Renders the page.
    pub fn render(&self) -> Result<HtmlPage, PageError> {
        let Self { preview, url } = *self;
        let title = preview.title().as_str();
        let description = preview.description().map(Description::as_str).map(str::trim);
        // Previewers follow addresses as browsers do, so they get the form that browsers make of it.
        let image = preview.image_url().map(|url: &WebUrl| url.as_target().location());
        let template = CardTemplate {
            title,
            url,
            description: description.filter(|text| !text.is_empty()),
            image: image.as_deref(),
            right_to_left: is_right_to_left(title),
        };
        Ok(HtmlPage { html: template.render()?, content_security_policy: policy_of(&[]) })
    }
}

#[derive(Template)]
#[template(path = "card.html")]
struct CardTemplate<'a> {
    title: &'a str,
    url: &'a str,
    description: Option<&'a str>,
    image: Option<&'a str>,
    right_to_left: bool,
}
