//! The pages that visitors see instead of a link's target.
//!
//! They do not contain parts of the request, so every cause yields the same bytes (D54). Each page is
//! rendered once for each language. The edge sends them with `no-store`, so they need no
//! `Vary: Accept-Language`.

use askama::Template;

use crate::language::Language;
use crate::page::{HtmlPage, PageError, hash_source, policy_of, policy_of_form};
use crate::palette::Colours;
use crate::password_page_texts::{FormWords, form_words};
use crate::small_page_texts::{Words, words_of};

const STYLE: &str = concat!(include_str!("../templates/base.css"), include_str!("../templates/small.css"));
const FORM_STYLE: &str = include_str!("../templates/password.css");

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
    /// The link has a password (D131).
    Password(PasswordPage),
}

/// What visitors of a link with a password see instead of its target (D131).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PasswordPage {
    /// The form.
    Asked,
    /// The form again, after a wrong password.
    Wrong,
    /// Too many wrong passwords.
    Throttled,
    /// What was sent is longer than any password.
    TooLong,
}

impl PasswordPage {
    /// The name of the field in the form.
    pub const FIELD: &'static str = "password";

    /// Whether it has the form. The form is sent to the page's own address, with its query.
    #[must_use]
    pub const fn has_form(self) -> bool {
        matches!(self, Self::Asked | Self::Wrong)
    }
}

impl SmallPage {
    /// Every page.
    pub const ALL: [Self; 13] = [
        Self::NotFound,
        Self::Expired,
        Self::ForPeopleOnly,
        Self::CountryBlocked,
        Self::MethodNotAllowed,
        Self::Throttled,
        Self::Failed,
        Self::Unavailable,
        Self::Root,
        Self::Password(PasswordPage::Asked),
        Self::Password(PasswordPage::Wrong),
        Self::Password(PasswordPage::Throttled),
        Self::Password(PasswordPage::TooLong),
    ];

    /// The HTTP status.
    #[must_use]
    pub const fn status(self) -> u16 {
        match self {
            Self::Root | Self::Password(PasswordPage::Asked) => 200,
            Self::ForPeopleOnly | Self::CountryBlocked | Self::Password(PasswordPage::Wrong) => 403,
            Self::NotFound => 404,
            Self::MethodNotAllowed => 405,
            Self::Expired => 410,
            Self::Password(PasswordPage::TooLong) => 413,
            Self::Throttled | Self::Password(PasswordPage::Throttled) => 429,
            Self::Failed => 500,
            Self::Unavailable => 503,
        }
    }

    /// Renders the page in `language`.
    pub fn render(self, language: Language) -> Result<HtmlPage, PageError> {
        let colours = Colours::of_own_pages();
        let form = match self {
            Self::Password(page) if page.has_form() => Some(form_words(language)),
            _ => None,
        };
        let form_style = if form.is_some() { FORM_STYLE } else { "" };
        let style = format!("{}{STYLE}{form_style}", colours.css());
        let Words { heading, text } = words_of(self, language);
        let template = SmallPageTemplate {
            page: self,
            language: language.tag(),
            status: self.status(),
            heading,
            text,
            form,
            colours: &colours,
            style: &style,
        };
        // `'self'` allows the icon of the site.
        let directives = [("style-src", hash_source(&style)), ("img-src", "'self'".to_owned())];
        let content_security_policy =
            if form.is_some() { policy_of_form(&directives) } else { policy_of(&directives) };
        Ok(HtmlPage { html: template.render()?, content_security_policy })
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
    /// The words of the form, if the page has one.
    form: Option<FormWords>,
    colours: &'a Colours,
    style: &'a str,
}

impl SmallPageTemplate<'_> {
    /// Whether people see the status. A page of a site has none, and neither has a form.
    fn shows_status(&self) -> bool {
        self.page != SmallPage::Root && self.form.is_none()
    }

    /// Whether the text says what is wrong with what the visitor entered.
    fn is_alert(&self) -> bool {
        self.page == SmallPage::Password(PasswordPage::Wrong)
    }
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
            let is_alert = page == SmallPage::Password(PasswordPage::Wrong);
            let attributes = if is_alert { " id=\"wrong\" role=\"alert\"" } else { "" };
            for part in [
                &format!("<html lang=\"{}\">", language.tag()),
                "<meta name=\"robots\" content=\"noindex\">",
                &format!("<h1>{heading}</h1>"),
                &format!("<p{attributes}>{text}</p>"),
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
