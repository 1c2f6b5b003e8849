//! Texts of people cannot become markup, wherever a page shows them.

use signpost_domain::Theme;

use crate::document::Document;
use crate::samples::pages;

/// The names of the elements, and of their attributes without the optional ones.
fn outline(html: &str) -> Vec<String> {
    let names = |document: Document| document.0.into_iter().map(|element| element.name).collect();
    names(Document::read(html))
}

#[test]
fn r23_payloads_change_no_markup() {
    let harmless = pages(Some("x"), Theme::Auto);
    for payload in [
        "<script>alert(1)</script>",
        "\"><img src=x onerror=alert(1)>",
        "'><svg onload=alert(1)>",
        "</textarea></title></select></option><script>alert(1)</script>",
        "<!--<b>",
        "{{ 7 * 7 }}",
    ] {
        for (page, plain) in pages(Some(payload), Theme::Auto).iter().zip(&harmless) {
            assert!(
                !page.html.contains("<script>alert") && !page.html.contains("<img src=x"),
                "{}",
                page.name
            );
            assert_eq!(outline(&page.html), outline(&plain.html), "{} with {payload}", page.name);
            for element in Document::read(&page.html).0 {
                assert!(
                    element.attributes.iter().all(|(name, _)| !name.starts_with("on")),
                    "{}: {element:?}",
                    page.name
                );
            }
        }
    }
}
