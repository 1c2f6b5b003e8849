//! The pages that visitors see instead of a link's target.
//!
//! They do not contain parts of the request, so every cause yields the same bytes (D54). Each page is
//! rendered once for each language. The edge sends them with `no-store`, so they need no
//! `Vary: Accept-Language`.

use askama::Template;

use crate::language::Language;
use crate::page::{HtmlPage, PageError, hash_source, policy_of};
use crate::palette::Colours;
use crate::small_page_texts::{Words, words_of};

const STYLE: &str = concat!(include_str!("../templates/base.css"), include_str!("../templates/small.css"));

/// One of the small pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SmallPage {
    /// The address has no link that opens (D54).
    NotFound,
    /// The link has ended (D128).
    Expired,
    /// Antibot turned the visitor away (D56).
    ForPeopleOnly,
    /// A country block turned the visitor away (D55).
    CountryBlocked,
    /// The method is neither GET nor HEAD (D53).
    MethodNotAllowed,
    /// Too many misses from one address (D54).
    Throttled,
    /// An internal error.
    Failed,
    /// The store is unavailable, so the node does not know what is at the address (D58).
    Unavailable,
    /// The root of the system domain, where no link can be.
    Root,
}

impl SmallPage {
    /// Every page.
    pub const ALL: [Self; 9] = [
        Self::NotFound,
        Self::Expired,
        Self::ForPeopleOnly,
        Self::CountryBlocked,
        Self::MethodNotAllowed,
        Self::Throttled,
        Self::Failed,
        Self::Unavailable,
        Self::Root,
    ];

    /// The HTTP status.
    #[must_use]
    pub const fn status(self) -> u16 {
        match self {
            Self::Root => 200,
            Self::ForPeopleOnly | Self::CountryBlocked => 403,
            Self::NotFound => 404,
            Self::MethodNotAllowed => 405,
            Self::Expired => 410,
            Self::Throttled => 429,
            Self::Failed => 500,
            Self::Unavailable => 503,
        }
    }

    /// Renders the page in `language`.
    pub fn render(self, language: Language) -> Result<HtmlPage, PageError> {
        let colours = Colours::of_own_pages();
        let style = format!("{}{STYLE}", colours.css());
        let Words { heading, text } = words_of(self, language);
        let template = SmallPageTemplate {
            page: self,
            language: language.tag(),
            status: self.status(),
            heading,
            text,
            colours: &colours,
            style: &style,
        };
        // `'self'` allows the icon of the site.
        let directives = [("style-src", hash_source(&style)), ("img-src", "'self'".to_owned())];
        Ok(HtmlPage { html: template.render()?, content_security_policy: policy_of(&directives) })
    }
}

#[derive(Template)]
#[template(path = "small.html")]
struct SmallPageTemplate<'a> {
    page: SmallPage,
    language: &'a str,
    status: u16,
    heading: &'a str,
    text: &'a str,
    colours: &'a Colours,
    style: &'a str,
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn every_page() -> impl Iterator<Item = (SmallPage, Language, HtmlPage)> {
        SmallPage::ALL
            .into_iter()
            .flat_map(|page| Language::ALL.map(|language| (page, language, page.render(language).unwrap())))
    }

    #[test]
    fn each_page_has_its_own_text_in_each_language() {
        let headings: BTreeSet<&str> = SmallPage::ALL
            .iter()
            .flat_map(|page| Language::ALL.map(|language| words_of(*page, language).heading))
            .collect();
        assert_eq!(headings.len(), SmallPage::ALL.len() * Language::ALL.len());
    }

    #[test]
    fn each_page_names_its_language_and_is_not_indexed() {
        for (page, language, HtmlPage { html, .. }) in every_page() {
            let Words { heading, text } = words_of(page, language);
            for part in [
                &format!("<html lang=\"{}\">", language.tag()),
                "<meta name=\"robots\" content=\"noindex\">",
                &format!("<h1>{heading}</h1>"),
                &format!("<p>{text}</p>"),
            ] {
                assert!(html.contains(part), "no {part} in {html}");
            }
        }
    }

    /// D54: the page takes nothing from a request, so only two renderings could differ.
    #[test]
    fn d54_page_yields_the_same_bytes_each_time() {
        for (page, language, rendered) in every_page() {
            assert_eq!(page.render(language).unwrap(), rendered);
        }
    }

    #[test]
    fn pages_are_small() {
        for (page, language, HtmlPage { html, .. }) in every_page() {
            assert!(html.len() < 5_000, "{page:?} in {language:?} has {} bytes", html.len());
        }
    }
}
