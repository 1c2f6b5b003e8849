//! The small pages, rendered once, and what an answer takes of any page.

use actix_http::StatusCode;
use actix_http::header::{HeaderValue, InvalidHeaderValue};
use bytes::Bytes;
use signpost_pages::{HtmlPage, Language, PageError, SmallPage};

/// One page, ready to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Page {
    pub(crate) status: StatusCode,
    pub(crate) html: Bytes,
    /// Lets in what the page loads and nothing else.
    pub(crate) content_security_policy: HeaderValue,
    /// What the sites to which the page leads, or from which it loads, learn of where the visitor was.
    pub(crate) referrer_policy: &'static str,
}

impl Page {
    /// Nobody learns where the visitor was.
    pub(crate) const NO_REFERRER: &'static str = "no-referrer";
}

/// Why the pages could not be made ready.
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

/// Every page but those of landing pages. They say nothing about the request, so that a page is the same bytes whatever led
/// to it (D54).
#[derive(Debug)]
pub(crate) struct Pages {
    not_found: Translated,
    others: Vec<Translated>,
}

impl Pages {
    /// Renders them.
    pub(crate) fn render() -> Result<Self, PagesError> {
        let others: Result<_, _> = SmallPage::ALL.into_iter().map(Translated::render).collect();
        Ok(Self { not_found: Translated::render(SmallPage::NotFound)?, others: others? })
    }

    /// A page in a language.
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
        content_security_policy: HeaderValue::from_str(&content_security_policy)?,
        referrer_policy: Page::NO_REFERRER,
    })
}
