//! The small pages, rendered at start, and the parts of an answer with any page.

use actix_http::StatusCode;
use actix_http::header::{HeaderValue, InvalidHeaderValue};
use bytes::Bytes;
use signpost_listener::{AnswerKind, Encoding};
use signpost_pages::{HtmlPage, Language, PageError, SmallPage};

/// A page, ready to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Page {
    pub(crate) status: StatusCode,
    pub(crate) html: Bytes,
    pub(crate) forms: Forms,
    /// Allows only what the page loads.
    pub(crate) content_security_policy: HeaderValue,
    /// What sites learn about the visitor's origin when the page links to them or loads from them.
    pub(crate) referrer_policy: &'static str,
}

/// The forms in which a page is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Forms {
    /// As it is, for every visitor.
    Plain,
    /// As the visitor's browser accepts: in this encoding, or as it is.
    Negotiated(Option<Encoding>),
}

/// Why the pages cannot be rendered.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PagesError {
    #[error(transparent)]
    Page(#[from] PageError),
    #[error(transparent)]
    Header(#[from] InvalidHeaderValue),
    #[error(transparent)]
    Status(#[from] actix_http::error::InvalidStatusCode),
}

/// A page in each language.
#[derive(Debug)]
struct Translated {
    page: SmallPage,
    english: Page,
    others: Vec<(Language, Page)>,
}

/// All pages except landing pages. They say nothing about the request, so every cause yields the same bytes
/// (D54).
#[derive(Debug)]
pub(crate) struct Pages {
    not_found: Translated,
    others: Vec<Translated>,
}

impl Pages {
    /// Renders every page in every language.
    pub(crate) fn render() -> Result<Self, PagesError> {
        let others: Result<_, _> = SmallPage::ALL.into_iter().map(Translated::render).collect();
        Ok(Self { not_found: Translated::render(SmallPage::NotFound)?, others: others? })
    }

    /// Returns a page in this language, or in English.
    pub(crate) fn page(&self, page: SmallPage, language: Language) -> &Page {
        let translated = self.others.iter().find(|one| one.page == page).unwrap_or(&self.not_found);
        let other = translated.others.iter().find(|(translation, _)| *translation == language);
        other.map_or(&translated.english, |(_, page)| page)
    }
}

impl Translated {
    fn render(page: SmallPage) -> Result<Self, PagesError> {
        let others: Result<_, _> =
            Language::ALL.into_iter().map(|language| Ok((language, ready(page, language)?))).collect();
        others.and_then(|others| Ok(Self { page, english: ready(page, Language::English)?, others }))
    }
}

fn ready(page: SmallPage, language: Language) -> Result<Page, PagesError> {
    let HtmlPage { html, content_security_policy } = page.render(language)?;
    Ok(Page {
        status: StatusCode::from_u16(page.status())?,
        html: Bytes::from(html),
        forms: Forms::Plain,
        content_security_policy: HeaderValue::from_str(&content_security_policy)?,
        referrer_policy: AnswerKind::NO_REFERRER,
    })
}
