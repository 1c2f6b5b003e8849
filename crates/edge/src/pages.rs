//! The pages that visitors see: those of landing pages, and the few that they see instead of a link's target.

use actix_http::StatusCode;
use actix_http::header::{HeaderValue, InvalidHeaderValue};
use askama::Template;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use sha2::{Digest, Sha256};
use signpost_domain::Name;

const STYLE: &str = include_str!("../templates/page.css");

#[derive(Template)]
#[template(path = "page.html")]
struct PageTemplate<'a> {
    title: &'a str,
    text: &'a str,
    style: &'a str,
}

/// A landing page. Its language is not known, hence no `lang`; its title may be in a script of either direction.
#[derive(Template)]
#[template(path = "landing.html")]
struct LandingTemplate<'a> {
    title: &'a str,
    style: &'a str,
}

/// One page, ready to be sent.
#[derive(Debug, Clone)]
pub(crate) struct Page {
    pub(crate) status: StatusCode,
    pub(crate) html: Bytes,
}

/// Every page but those of landing pages. They say nothing about the request, so they are rendered once, and a page is
/// the same bytes whatever led to it (D54).
#[derive(Debug)]
pub(crate) struct Pages {
    pub(crate) not_found: Page,
    pub(crate) turned_away: Page,
    pub(crate) method_not_allowed: Page,
    pub(crate) throttled: Page,
    pub(crate) unavailable: Page,
    pub(crate) failed: Page,
    /// Lets in the pages' own style and nothing else.
    pub(crate) content_security_policy: HeaderValue,
}

/// Why the pages could not be made ready.
#[derive(Debug)]
pub(crate) enum PagesError {
    Template(askama::Error),
    Header(InvalidHeaderValue),
}

impl std::fmt::Display for PagesError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Template(error) => error.fmt(f),
            Self::Header(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for PagesError {}

impl Pages {
    /// Renders them.
    pub(crate) fn render() -> Result<Self, PagesError> {
        Ok(Self {
            not_found: page(
                StatusCode::NOT_FOUND,
                "This link leads nowhere",
                "Please check the address for typing errors. If it is right, the link is no longer available.",
            )?,
            turned_away: page(
                StatusCode::FORBIDDEN,
                "This link is not open to you",
                "Its owner does not let in automatic programs, or visitors from some countries.",
            )?,
            method_not_allowed: page(
                StatusCode::METHOD_NOT_ALLOWED,
                "This link can only be opened",
                "Links are followed with GET or HEAD; nothing can be sent to them.",
            )?,
            throttled: page(
                StatusCode::TOO_MANY_REQUESTS,
                "Too many attempts",
                "Too many addresses that lead nowhere were tried from your network. Please try again in a minute.",
            )?,
            unavailable: page(
                StatusCode::SERVICE_UNAVAILABLE,
                "Please try again in a moment",
                "The link could not be looked up just now. It has not gone away.",
            )?,
            failed: page(
                StatusCode::INTERNAL_SERVER_ERROR,
                "Something went wrong",
                "The mistake is ours, not yours. Please try again later.",
            )?,
            content_security_policy: content_security_policy().map_err(PagesError::Header)?,
        })
    }
}

/// The page of a landing page with this title.
pub(crate) fn landing(title: &Name) -> Result<Bytes, askama::Error> {
    LandingTemplate { title: title.as_str(), style: STYLE }.render().map(Bytes::from)
}

fn page(status: StatusCode, title: &str, text: &str) -> Result<Page, PagesError> {
    let html = PageTemplate { title, text, style: STYLE }.render().map_err(PagesError::Template)?;
    Ok(Page { status, html: Bytes::from(html) })
}

fn content_security_policy() -> Result<HeaderValue, InvalidHeaderValue> {
    let hash = STANDARD.encode(Sha256::digest(STYLE.as_bytes()));
    HeaderValue::from_str(&format!(
        "default-src 'none'; style-src 'sha256-{hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> (Vec<String>, String) {
        let Pages {
            not_found,
            turned_away,
            method_not_allowed,
            throttled,
            unavailable,
            failed,
            content_security_policy,
        } = Pages::render().unwrap();
        let pages = [not_found, turned_away, method_not_allowed, throttled, unavailable, failed];
        let html = pages.map(|page| String::from_utf8(page.html.to_vec()).unwrap()).to_vec();
        (html, content_security_policy.to_str().unwrap().to_owned())
    }

    /// The content of the one `style` element, which browsers hash.
    fn style(html: &str) -> &str {
        let (_, rest) = html.split_once("<style>").unwrap();
        let (style, rest) = rest.split_once("</style>").unwrap();
        assert!(!rest.contains("<style"), "more than one style element");
        style
    }

    fn landing_of(title: &str) -> String {
        String::from_utf8(landing(&Name::parse(title).unwrap()).unwrap().to_vec()).unwrap()
    }

    #[test]
    fn the_policy_lets_in_the_style_of_each_page() {
        let (mut pages, policy) = all();
        pages.push(landing_of("Menu"));
        for html in pages {
            let hash = STANDARD.encode(Sha256::digest(style(&html).as_bytes()));
            assert!(policy.contains(&format!("style-src 'sha256-{hash}'")), "{policy}");
        }
    }

    /// Whatever a title holds, the page has the same elements, and the title stands in two of them as text.
    #[test]
    fn r23_a_title_is_text_and_nothing_else() {
        let plain = landing_of("x");
        for title in [
            "</title><script>alert(1)</script>",
            "<img src=x onerror=alert(1)>",
            "\" onload=\"alert(1)",
            "' onload='alert(1)",
            "{{ style }}",
            "&lt;script&gt;",
            "</style><svg/onload=alert(1)>",
            "\u{202e}drowssap",
        ] {
            let html = landing_of(title);
            assert_eq!(html.matches('<').count(), plain.matches('<').count(), "{html}");
            assert_eq!(html.matches('>').count(), plain.matches('>').count(), "{html}");
            assert_eq!(html.matches('"').count(), plain.matches('"').count(), "{html}");
        }
        assert!(landing_of("Fish & <Chips>").contains("<title>Fish &#38; &#60;Chips&#62;</title>"));
    }

    #[test]
    fn r23_pages_are_inert_and_load_nothing() {
        let (mut pages, policy) = all();
        pages.push(landing_of("Menu"));
        assert!(policy.starts_with("default-src 'none'; "));
        assert!(!policy.contains("unsafe"));
        for html in pages {
            for loading in ["<script", "src=", "href=", "url(", "@import", "style=", "http://", "https://"] {
                assert!(!html.contains(loading), "{loading} in {html}");
            }
        }
    }

    #[test]
    fn only_pages_that_say_that_nothing_is_there_are_kept_out_of_search_engines() {
        let noindex = "<meta name=\"robots\" content=\"noindex\">";
        for html in all().0 {
            assert!(html.contains(noindex) && html.contains("<html lang=\"en\">"), "{html}");
        }
        assert!(!landing_of("Menu").contains("noindex"));
    }

    #[test]
    fn pages_are_accessible() {
        for html in all().0.into_iter().chain([landing_of("Menu")]) {
            for part in [
                "<!doctype html>",
                "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">",
                "<main>",
                "</h1>",
                "prefers-color-scheme: dark",
            ] {
                assert!(html.contains(part), "no {part} in {html}");
            }
            assert!(html.len() < 4096, "{} bytes", html.len());
        }
    }
}
