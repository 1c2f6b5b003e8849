//! The driver of Chromium itself. The other tests assert that pages do nothing unwanted, which proves something only if
//! the driver notices what a page does.

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::Value;

use crate::tab::Tab;
use crate::visitor::Visitor;

/// An address that shows this HTML.
fn page(html: &str) -> String {
    let html = format!("<!doctype html>{html}");
    format!("data:text/html,{}", html.replace('%', "%25").replace('#', "%23").replace(' ', "%20"))
}

const UNWANTED: &str = "<meta http-equiv=content-security-policy content=\"style-src 'none'\">\
    <style>p { color: red }</style><img src=https://example.com/a.png>\
    <script>alert(1); console.log('b', 2); throw new Error('c')</script>";

#[test]
fn everything_that_a_page_does_is_noticed() {
    let Some(tab) = Tab::of(&Visitor::default()) else { return };
    let url = page(UNWANTED);
    tab.open(&url);
    let events = tab.events();
    assert_eq!(events.dialogs, ["1"]);
    assert_eq!(events.pages.last(), Some(&url));
    assert!(events.requests.contains(&"https://example.com/a.png".to_owned()), "{events:?}");
    for expected in ["Content Security Policy", "b 2", "Uncaught Error: c", "Failed to load resource"] {
        assert!(events.console.iter().any(|line| line.contains(expected)), "{expected}: {events:?}");
    }
}

#[test]
fn no_script_runs_for_a_visitor_without_scripts() {
    let Some(tab) = Tab::of(&Visitor::default().without_scripts()) else { return };
    tab.open(&page(UNWANTED));
    let events = tab.events();
    assert_eq!(events.dialogs, Vec::<String>::new());
    assert!(!events.console.iter().any(|line| line.contains("Uncaught")), "{events:?}");
    assert!(events.requests.contains(&"https://example.com/a.png".to_owned()), "{events:?}");
}

#[test]
fn a_click_reaches_an_element_far_below_without_scripts() {
    let Some(tab) = Tab::of(&Visitor::default().without_scripts()) else { return };
    tab.open(&page("<p style=height:5000px></p><a href=https://example.com/clicked>link</a>"));
    tab.click("a");
    tab.wait_until(|events| events.requests.iter().any(|url| url == "https://example.com/clicked"));
}

#[test]
fn a_picture_shows_the_whole_page_and_leaves_the_window_alone() {
    let Some(tab) = Tab::of(&Visitor::default()) else { return };
    tab.open(&page("<body style=margin:0><p style=margin:0;height:3000px></p>"));
    let reader = png::Decoder::new(std::io::Cursor::new(tab.picture())).read_info().unwrap();
    assert_eq!(reader.info().height, 3000);
    assert_eq!(tab.evaluate::<[u32; 2]>("[innerWidth, innerHeight]"), [1280, 800]);
}

#[test]
fn pages_scripts_and_elements_that_fail_fail_the_test() {
    let Some(tab) = Tab::of(&Visitor::default()) else { return };
    let fails = |what: &dyn Fn(&Tab)| catch_unwind(AssertUnwindSafe(|| what(&tab))).is_err();
    assert!(fails(&|tab| _ = tab.open("http://unknown.invalid/")), "an unknown host");
    assert!(fails(&|tab| _ = tab.evaluate::<Value>("Promise.reject(new Error('no'))")), "an exception");
    assert!(fails(&|tab| _ = tab.evaluate::<bool>("1")), "a value of another type");
    assert!(fails(&|tab| tab.click("#missing")), "an element that is missing");
}
