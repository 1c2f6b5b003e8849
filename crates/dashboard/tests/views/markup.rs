//! Rules that hold for the markup of every page.

use std::collections::BTreeSet;

use html5ever::driver::ParseOpts;
use html5ever::tendril::TendrilSink;
use markup5ever_rcdom::RcDom;
use signpost_domain::Theme;

use crate::document::{Document, Element};
use crate::samples::{Page, pages};

fn documents() -> impl Iterator<Item = (String, Document)> {
    pages(None, Theme::Auto).into_iter().map(|page| (page.name, Document::read(&page.html)))
}

#[test]
fn every_page_is_parsed_without_errors() {
    for Page { name, html } in pages(None, Theme::Auto) {
        let dom = html5ever::parse_document(RcDom::default(), ParseOpts::default()).one(html.as_str());
        let errors = dom.errors.borrow();
        assert!(errors.is_empty(), "{name}: {errors:?}\n{html}");
    }
}

#[test]
fn every_page_has_one_heading_a_title_and_a_language() {
    for (name, document) in documents() {
        assert_eq!(document.all("h1").count(), 1, "{name}");
        assert_eq!(document.all("main").count(), 1, "{name}");
        // The marks of a chart have titles of their own.
        let title = document.all("title").next().unwrap();
        assert!(title.text.ends_with("Signpost"), "{name}");
        assert_eq!(document.only("html").attribute("lang"), Some("en"), "{name}");
    }
}

#[test]
fn ids_are_unique_and_references_lead_to_them() {
    for (name, document) in documents() {
        let mut ids = BTreeSet::new();
        for id in document.0.iter().filter_map(|element| element.attribute("id")) {
            assert!(ids.insert(id), "{name}: two elements have the id {id}");
        }
        for element in &document.0 {
            for attribute in ["for", "aria-describedby", "aria-labelledby", "form", "data-open", "data-ask"] {
                for id in element.attribute(attribute).into_iter().flat_map(|ids| ids.split(' ')) {
                    assert!(ids.contains(id), "{name}: {attribute} of {element:?}");
                }
            }
            let anchor = element.attribute("href").and_then(|href| href.strip_prefix('#'));
            assert!(anchor.is_none_or(|id| ids.contains(id)), "{name}: {element:?}");
        }
    }
}

#[test]
fn every_control_has_a_name_that_people_hear() {
    for (name, document) in documents() {
        let labelled: BTreeSet<&str> =
            document.all("label").filter_map(|label| label.attribute("for")).collect();
        let mut around: Option<&Element> = None;
        for element in &document.0 {
            if around.is_some_and(|label| element.depth <= label.depth) {
                around = None;
            }
            if element.name == "label" {
                around = Some(element);
            }
            let is_hidden =
                element.attribute("type") == Some("hidden") || element.attribute("hidden").is_some();
            let has_name = match element.name.as_str() {
                "input" | "select" | "textarea" => {
                    let by_id = element.attribute("id").is_some_and(|id| labelled.contains(id));
                    by_id || around.is_some_and(|label| !label.text.trim().is_empty())
                }
                "button" | "a" | "summary" => !element.text.trim().is_empty(),
                _ => true,
            };
            let by_itself = element.attribute("aria-label").is_some_and(|label| !label.is_empty());
            assert!(is_hidden || has_name || by_itself, "{name}: {element:?}");
        }
    }
}

/// The content security policy allows no inline style, script or handler, and no other host.
#[test]
fn pages_load_only_their_own_files() {
    for (name, document) in documents() {
        assert_eq!(document.all("style").count(), 0, "{name}");
        for script in document.all("script") {
            assert!(script.text.is_empty() && script.attribute("src").is_some(), "{name}");
        }
        let mut loaded = BTreeSet::new();
        for element in &document.0 {
            for (attribute, value) in &element.attributes {
                assert!(
                    attribute != "style" && !attribute.starts_with("on"),
                    "{name}: {attribute} of {element:?}"
                );
                assert!(
                    !value.starts_with("data:") && !value.starts_with("javascript:"),
                    "{name}: {element:?}"
                );
            }
            let source = match element.name.as_str() {
                "script" | "img" => element.attribute("src"),
                "link" | "use" => element.attribute("href"),
                _ => None,
            };
            if let Some(source) = source {
                assert!(source.starts_with('/') && !source.starts_with("//"), "{name}: {source}");
                loaded.insert(source.split('#').next().unwrap_or_default().to_owned());
            }
        }
        // With the page itself, the QR code of a link, and what only the editor of pages needs.
        let most = match name.as_str() {
            name if name.starts_with("editor") => 5,
            name if name.starts_with("edit-") => 4,
            _ => 3,
        };
        assert!(loaded.len() <= most, "{name}: {loaded:?}");
    }
}

#[test]
fn forms_that_change_something_have_an_idempotency_key() {
    for (name, document) in documents() {
        let mut posts: Vec<(String, bool)> = Vec::new();
        let mut form: Option<usize> = None;
        for element in &document.0 {
            if form.is_some_and(|depth| element.depth <= depth) {
                form = None;
            }
            if element.name == "form" && element.attribute("method") == Some("post") {
                form = Some(element.depth);
                posts.push((element.attribute("action").unwrap_or_default().to_owned(), false));
            }
            let is_key = element.attribute("name") == Some("idempotency_key")
                && element.attribute("value").is_some_and(|value| !value.is_empty());
            if let (true, Some(_), Some(post)) = (is_key, form, posts.last_mut()) {
                post.1 = true;
            }
        }
        assert!(posts.iter().all(|(_, has_key)| *has_key), "{name}: {posts:?}");
    }
}

#[test]
fn viewers_see_no_forms_but_sign_out() {
    for (name, document) in documents().filter(|(name, _)| name.ends_with("-viewer")) {
        let posts = document.all("form").filter(|form| form.attribute("method") == Some("post"));
        let others: Vec<_> = posts
            .filter_map(|form| form.attribute("action"))
            .filter(|action| *action != "/sign-out" && !name.starts_with("edit-"))
            .collect();
        assert_eq!(others, Vec::<&str>::new(), "{name}");
    }
}

#[test]
fn signed_in_pages_show_the_same_with_the_api() {
    for (name, document) in documents() {
        let is_card = document.only("body").attribute("class") == Some("card");
        let has_api = document.all("details").any(|details| details.attribute("class") == Some("api"));
        assert_ne!(is_card, has_api, "{name}");
    }
}

/// Browsers cut what is pasted into an input with a limit, and would save the rest without a word.
#[test]
fn nothing_that_is_pasted_into_a_form_of_an_account_is_cut() {
    const OF_PEOPLE: [&str; 6] = ["start", "invitation", "reset", "me", "operator", "delete"];
    for (name, document) in documents() {
        if OF_PEOPLE.iter().any(|other| name.starts_with(other)) {
            continue;
        }
        for element in &document.0 {
            assert!(element.attribute("maxlength").is_none(), "{name}: {element:?}");
        }
    }
}
