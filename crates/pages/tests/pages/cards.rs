//! The card that link previewers get (D135).

use std::collections::BTreeSet;

use signpost_domain::{Description, LinkPreview, PreviewTitle, WebUrl};
use signpost_pages::{CardPage, HtmlPage};

use crate::document::{Document, Element};
use crate::payloads;

const URL: &str = "https://go.example.com/sale";
const IMAGE: &str = "https://img.example/sale.png";

fn card(title: &str, description: Option<&str>, image: Option<&str>) -> LinkPreview {
    LinkPreview::new(
        PreviewTitle::from_stored(title.to_owned()).unwrap(),
        description.map(|text| Description::from_stored(text.to_owned()).unwrap()),
        image.map(|url| WebUrl::from_stored(url.to_owned()).unwrap()),
    )
}

fn rendered(preview: &LinkPreview, url: &str) -> (Document, HtmlPage) {
    let page = CardPage { preview, url }.render().unwrap();
    (Document::read(&page.html), page)
}

#[test]
fn d135_a_full_card_has_the_tags_of_both_formats() {
    let (document, page) = rendered(&card("Autumn sale", Some("Half the price"), Some(IMAGE)), URL);
    for (key, name, expected) in [
        ("property", "og:type", "website"),
        ("property", "og:title", "Autumn sale"),
        ("property", "og:url", URL),
        ("property", "og:description", "Half the price"),
        ("property", "og:image", IMAGE),
        ("name", "description", "Half the price"),
        ("name", "twitter:card", "summary_large_image"),
        ("name", "robots", "noindex"),
    ] {
        assert_eq!(document.meta(key, name), Some(expected), "{name}");
    }
    assert_eq!(
        (document.only("title").text.as_str(), document.only("h1").text.as_str()),
        ("Autumn sale", "Autumn sale")
    );
    assert_eq!(document.only("p").text, "Half the price");
    assert!(page.html.len() < 1_500, "{}", page.html.len());
}

/// Messengers show an empty line for an empty tag.
#[test]
fn d135_what_a_card_lacks_has_no_tag() {
    for description in [None, Some(""), Some(" \n")] {
        let (document, _) = rendered(&card("Sale", description, None), URL);
        for absent in ["og:description", "og:image"] {
            assert_eq!(document.meta("property", absent), None, "{absent}");
        }
        assert_eq!(document.meta("name", "description"), None);
        assert_eq!(document.meta("name", "twitter:card"), Some("summary"));
        assert!(document.all("p").next().is_none());
    }
}

/// As browsers read it: programs may read other forms in other ways.
#[test]
fn d135_the_address_of_the_picture_is_in_ascii() {
    let (document, _) = rendered(&card("Sale", None, Some("https://bücher.example/ü.png?a=ä")), URL);
    let expected = "https://xn--bcher-kva.example/%C3%BC.png?a=%C3%A4";
    assert_eq!(document.meta("property", "og:image"), Some(expected));
}

#[test]
fn d135_titles_written_from_right_to_left_turn_the_page() {
    let direction =
        |title| rendered(&card(title, None, None), URL).0.only("html").attribute("dir").map(str::to_owned);
    assert_eq!((direction("מבצע"), direction("Sale")), (Some("rtl".to_owned()), None));
}

/// Nothing is loaded or run, and no address leads anywhere, so that no program finds the target or another page.
fn is_inert(document: &Document, page: &HtmlPage) {
    let names: BTreeSet<&str> = document.0.iter().map(|element| element.name.as_str()).collect();
    assert_eq!(names, BTreeSet::from(["body", "h1", "head", "html", "meta", "p", "title"]));
    let has_attribute = |element: &Element, name: &str| element.attribute(name).is_some();
    assert!(
        !document
            .0
            .iter()
            .any(|element| has_attribute(element, "http-equiv") || has_attribute(element, "style"))
    );
    let policy = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
    assert_eq!(page.content_security_policy, policy);
}

#[test]
fn r23_payloads_do_not_change_the_structure_of_a_card() {
    let (plain, page) = rendered(&card("plain", Some("plain"), Some(IMAGE)), URL);
    is_inert(&plain, &page);
    for payload in payloads::all() {
        let kept: String = payload.chars().filter(|character| !character.is_whitespace()).collect();
        let image = format!("{IMAGE}?{kept}#{kept}");
        let preview = card(&payload, Some(&payload), Some(&image));
        let url = format!("{URL}{payload}");
        let (document, page) = rendered(&preview, &url);
        is_inert(&document, &page);
        assert_eq!(document.outline(), plain.outline(), "{payload}");
        assert_eq!(document.only("title").text, payload);
        assert_eq!(document.only("h1").text, payload);
        assert_eq!(document.only("p").text, payload.trim());
        assert_eq!(document.meta("property", "og:title"), Some(payload.as_str()));
        assert_eq!(document.meta("property", "og:description"), Some(payload.trim()));
        assert_eq!(document.meta("property", "og:url"), Some(url.as_str()));
        let location = preview.image_url().map(|url| url.as_target().location());
        assert_eq!(document.meta("property", "og:image"), location.as_deref());
    }
}

/// The addresses of the page are those of the link and of the picture: it is not told another.
#[test]
fn d135_a_card_names_no_address_but_those_of_the_link_and_the_picture() {
    let (document, page) = rendered(&card("Sale", Some("Half the price"), Some(IMAGE)), URL);
    let addresses: Vec<&str> = document
        .0
        .iter()
        .flat_map(|element| &element.attributes)
        .map(|(_, value)| value.as_str())
        .filter(|value| value.contains("//"))
        .collect();
    assert_eq!(addresses, [URL, IMAGE]);
    assert_eq!(page.html.matches("//").count(), 2, "{}", page.html);
}
