//! The pages that ask for the password of a link (D131).

use std::collections::BTreeSet;

use signpost_pages::{HtmlPage, Language, PasswordPage, SmallPage};

use crate::document::{Document, Element};

const FORMS: [PasswordPage; 2] = [PasswordPage::Asked, PasswordPage::Wrong];

fn rendered(page: PasswordPage, language: Language) -> (Document, HtmlPage) {
    let rendered = SmallPage::Password(page).render(language).unwrap();
    (Document::read(&rendered.html), rendered)
}

fn attributes(element: &Element) -> Vec<(&str, &str)> {
    element.attributes.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
}

/// The form goes to the address of the page itself, with its query, and works without scripts.
#[test]
fn d131_the_form_has_one_labelled_field_and_a_button() {
    for (page, language) in FORMS.iter().flat_map(|page| Language::ALL.map(|language| (*page, language))) {
        let (document, _) = rendered(page, language);
        assert_eq!(attributes(document.only("form")), [("method", "post")]);
        let input = document.only("input");
        for (name, value) in [
            ("name", PasswordPage::FIELD),
            ("type", "password"),
            ("autocomplete", "off"),
            ("autocapitalize", "none"),
            ("spellcheck", "false"),
            ("required", ""),
        ] {
            assert_eq!(input.attribute(name), Some(value), "{name}");
        }
        for absent in ["value", "maxlength", "pattern", "placeholder"] {
            assert_eq!(input.attribute(absent), None, "{absent}");
        }
        let label = document.only("label");
        assert!(!label.text.is_empty() && label.attribute("for") == input.attribute("id"), "{label:?}");
        let button = document.only("button");
        assert!(!button.text.is_empty() && button.attributes.is_empty(), "{button:?}");
        for forbidden in ["script", "a", "img", "iframe", "link", "small"] {
            assert!(document.all(forbidden).next().is_none(), "{forbidden}");
        }
        let has_handler =
            |element: &Element| element.attributes.iter().any(|(name, _)| name.starts_with("on"));
        assert!(!document.0.iter().any(has_handler));
    }
}

/// D131: people who cannot see the page learn what is wrong, and which field it is about.
#[test]
fn d131_a_wrong_password_is_announced_and_tied_to_the_field() {
    for language in Language::ALL {
        let alert = |document: &Document| {
            document.all("p").find(|text| text.attribute("role") == Some("alert")).cloned()
        };
        let (wrong, _) = rendered(PasswordPage::Wrong, language);
        let text = alert(&wrong).unwrap();
        let input = wrong.only("input");
        assert_eq!(input.attribute("aria-invalid"), Some("true"));
        assert!(
            text.attribute("id").is_some() && input.attribute("aria-describedby") == text.attribute("id")
        );
        let (asked, _) = rendered(PasswordPage::Asked, language);
        assert_eq!(alert(&asked), None);
        assert_eq!(asked.only("input").attribute("aria-invalid"), None);
    }
}

/// D131: Chromium would apply `form-action` to the redirect to the target. Everything else is as on other pages.
#[test]
fn d131_the_policy_of_the_form_says_nothing_about_where_it_leads() {
    for (page, language) in FORMS.iter().flat_map(|page| Language::ALL.map(|language| (*page, language))) {
        let policy = rendered(page, language).1.content_security_policy;
        let names: Vec<&str> =
            policy.split("; ").filter_map(|directive| directive.split(' ').next()).collect();
        assert_eq!(names, ["default-src", "style-src", "img-src", "base-uri", "frame-ancestors"], "{policy}");
        assert!(policy.starts_with("default-src 'none'; ") && !policy.contains("unsafe"), "{policy}");
    }
    for page in [PasswordPage::Throttled, PasswordPage::TooLong] {
        let (document, html) = rendered(page, Language::English);
        assert!(document.all("form").next().is_none());
        assert!(html.content_security_policy.contains("; form-action 'none'; "));
    }
}

/// The form is the same for every link, so it says nothing about where a link leads.
#[test]
fn d131_every_page_has_its_own_status_and_the_words_of_its_language() {
    let statuses = [
        (PasswordPage::Asked, 200),
        (PasswordPage::Wrong, 403),
        (PasswordPage::Throttled, 429),
        (PasswordPage::TooLong, 413),
    ];
    for (page, status) in statuses {
        assert_eq!(SmallPage::Password(page).status(), status, "{page:?}");
    }
    let words: BTreeSet<[String; 2]> = Language::ALL
        .into_iter()
        .map(|language| {
            let (document, _) = rendered(PasswordPage::Asked, language);
            ["label", "button"].map(|name| document.only(name).text.clone())
        })
        .collect();
    assert_eq!(words.len(), Language::ALL.len());
}

/// Every custom property that a rule uses has a value.
#[test]
fn d131_every_colour_of_the_form_is_defined() {
    let style = rendered(PasswordPage::Wrong, Language::English).0.only("style").text.clone();
    for used in style.split("var(").skip(1).filter_map(|rest| rest.split(')').next()) {
        assert!(style.contains(&format!("{used}:#")), "{used}");
    }
}
