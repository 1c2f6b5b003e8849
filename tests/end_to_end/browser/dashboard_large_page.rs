//! A page of as many widgets as a page may have, in the editor: its size, and moving a widget with the mouse (D34, D35).

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::dashboard::Dashboard;
use crate::soundness::assert_inert;
use crate::tab::Tab;
use crate::visitor::Visitor;

/// How long to wait for a drag to begin or to end.
const PATIENCE: Duration = Duration::from_mins(1);

/// The most widgets of a page.
const WIDGETS: usize = 100;

/// The most bytes of the editor's document: 1.3 KB for each widget, and 10 KB for the rest of the page.
const MOST_BYTES: u64 = 140 * 1024;

/// The document, two styles, two scripts, the icons, and the preview.
const MOST_REQUESTS: usize = 7;

/// The editor of a page with widgets, and the path of the page in the API.
fn open_editor(dashboard: &Dashboard) -> String {
    let widget = |number: usize| json!({"type": "link", "title": format!("Number {number}"), "url": format!("https://shop.example.com/{number}")});
    let widgets: Vec<Value> = (0..WIDGETS).map(widget).collect();
    let page = json!({"title": "Everything", "slug": "all", "widgets": widgets});
    let page = dashboard.program.first_account().post("/v1/landings", &page).expect_status(201).body;
    let id = page["id"].as_str().unwrap();
    dashboard.screen(&format!("links/{id}/page"));
    format!("/v1/landings/{id}")
}

fn stored(dashboard: &Dashboard, path: &str) -> Value {
    dashboard.program.first_account().get(path).expect_status(200).body
}

/// The numbers of the widgets in the editor, in their order.
fn shown(tab: &Tab) -> Vec<usize> {
    let titles: Vec<String> =
        tab.evaluate("[...document.querySelectorAll('[name$=\".title\"]')].map(it => it.value)");
    titles.iter().map(|title| title.strip_prefix("Number ").unwrap().parse().unwrap()).collect()
}

/// The bytes of the document, and what it requested. The icons count once: see `dashboard_cold_screens`.
fn cost(tab: &Tab) -> (u64, Vec<String>) {
    tab.evaluate(
        "(() => { const load = performance.getEntriesByType('navigation')[0]; return [load.decodedBodySize, \
         [...new Set([load, ...performance.getEntriesByType('resource')].map((it) => it.name.split('#')[0]))]]; })()",
    )
}

#[test]
fn d35_a_page_of_a_hundred_widgets_is_opened_rearranged_and_saved_once() {
    let Some(dashboard) = Dashboard::open(&Visitor::default()) else { return };
    let tab = &dashboard.tab;
    let path = open_editor(&dashboard);
    let before = stored(&dashboard, &path);
    let (bytes, requests) = cost(tab);
    println!("{WIDGETS} widgets: {bytes} bytes, {} requests", requests.len());
    assert!(bytes > 1_024 && bytes <= MOST_BYTES, "{bytes} bytes");
    assert!(requests.len() <= MOST_REQUESTS, "{requests:?}");
    let order: Vec<usize> = (0..WIDGETS).collect();
    assert_eq!(shown(tab), order);

    // With the mouse by its grip, down and back up, and by its buttons.
    tab.drag("[data-widget]:nth-child(1) .grip", "[data-widget]:nth-child(3)");
    assert_eq!(shown(tab)[..4], [1, 2, 0, 3]);
    assert_eq!(dashboard.text("[data-moved]"), "Link Number 0: position 3 of 100");
    tab.drag("[data-widget]:nth-child(3) .grip", "[data-widget]:nth-child(1)");
    assert_eq!(shown(tab)[..4], [1, 0, 2, 3]);
    let await_order = |order: [usize; 4]| {
        let began = Instant::now();
        while shown(tab)[..4] != order {
            assert!(began.elapsed() < PATIENCE, "{:?} instead of {order:?}", &shown(tab)[..4]);
            // Poll: the browser tells the test nothing about a drag.
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    let [from, to] = ["[data-widget]:nth-child(1) .grip", "[data-widget]:nth-child(3)"];
    tab.drag_and_cancel(from, to, || await_order([0, 2, 1, 3]));
    await_order([1, 0, 2, 3]);
    tab.click("[data-widget]:nth-child(2) [value^=down-]");
    assert_eq!(shown(tab)[..4], [1, 2, 0, 3]);
    tab.click("[data-widget]:nth-child(100) [value^=up-]");
    assert_eq!(shown(tab)[97..], [97, 99, 98]);
    assert_eq!(dashboard.text("[data-moved]"), "Link Number 99: position 99 of 100");
    // A text that is dragged moves no widget.
    tab.drag("[data-widget]:nth-child(1) summary", "[data-widget]:nth-child(3)");
    assert_eq!(shown(tab)[..4], [1, 2, 0, 3]);
    assert_eq!(stored(&dashboard, &path), before, "nothing is saved before");

    let expected = shown(tab);
    tab.follow(|tab| tab.click("[value=save]"));
    assert_eq!(dashboard.text(".note.ok"), "Saved.");
    let saved = stored(&dashboard, &path);
    let titles: Vec<&str> =
        saved["widgets"].as_array().unwrap().iter().map(|widget| widget["title"].as_str().unwrap()).collect();
    assert_eq!(titles, expected.iter().map(|number| format!("Number {number}")).collect::<Vec<_>>());
    let revision = |page: &Value| page["revision"].as_u64().unwrap();
    assert_eq!(revision(&saved), revision(&before) + 1, "it is saved once");
    assert_eq!(shown(tab), expected);
    assert_inert(tab, &[&dashboard.origin], "the editor of a large page");
}
