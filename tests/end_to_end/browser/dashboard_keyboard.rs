//! The dashboard by keyboard alone, with and without scripts.

use jiff::Zoned;
use serde_json::json;

use crate::dashboard::{Dashboard, EMAIL, PASSWORD};
use crate::visitor::Visitor;

/// Lets the link that the page shows end in the past.
fn end_link(dashboard: &Dashboard) {
    let (tab, year) = (&dashboard.tab, Zoned::now().year() - 1);
    dashboard.tab_to("#edit details.more > summary");
    tab.press("Enter");
    dashboard.tab_to("#f-expires_at");
    // The same day in every order of its parts. A year may have six digits, so a key leads on to the hour.
    tab.type_text(&format!("0101{year}"));
    tab.press("Tab");
    // A clock of 24 hours ignores the letter.
    tab.type_text("0909A");
    dashboard.enter("#edit .act .go");
    let heading = dashboard.text("h1");
    assert!(heading.ends_with(&format!("Expired, ended 1 Jan {year}, 09:09")), "{heading}");
    assert_eq!(dashboard.program.visitor().open("/jobs").status, 410);
}

/// Signs out and in, creates and changes a link and lets it end, deactivates two, issues a key.
fn works_by_keyboard(visitor: &Visitor) {
    let Some(dashboard) = Dashboard::open(visitor) else { return };
    let (tab, links) = (&dashboard.tab, format!("/{}/links", dashboard.account));
    dashboard.add_redirects(&[
        json!({"name": "Menu", "slug": "menu", "target_url": "https://www.example.com/menu"}),
        json!({"name": "Map", "slug": "map", "target_url": "https://www.example.com/map"}),
    ]);

    dashboard.screen("links");
    dashboard.tab_to("summary[aria-label^='You:']");
    tab.press("Enter");
    dashboard.enter("form[action='/sign-out'] button");
    assert_eq!(dashboard.path(), "/sign-in");

    dashboard.type_into("#f-email", EMAIL);
    dashboard.type_into("#f-password", PASSWORD);
    tab.follow(|tab| tab.press("Enter"));
    assert_eq!(dashboard.path(), links);

    dashboard.enter(".top a.go");
    dashboard.type_into("#f-target_url", "https://www.example.com/jobs");
    dashboard.type_into("#f-slug", "jobs");
    tab.follow(|tab| tab.press("Enter"));
    assert_eq!(dashboard.text(".live h2"), "Your link is live");

    dashboard.type_into("#f-note", "Until May");
    dashboard.enter("#edit .act .go");
    assert_eq!(dashboard.text(".note.ok"), "Saved.");
    let note: String = tab.evaluate("document.querySelector('#f-note').value");
    assert_eq!(note, "Until May");
    end_link(&dashboard);

    dashboard.screen("links");
    for name in ["Menu", "Map"] {
        dashboard.tab_to(&format!("input[name=ids][aria-label='Select {name}']"));
        tab.press(" ");
    }
    dashboard.enter(".bulk button[value=deactivate]");
    assert_eq!(dashboard.text(".note.ok").trim(), "2 links deactivated.");
    assert_eq!(dashboard.program.visitor().open("/menu").status, 404);

    dashboard.screen("keys");
    dashboard.type_into("#f-name", "Newsletter script");
    dashboard.enter(".box form .go");
    let key = dashboard.text(".live pre");
    dashboard.program.with_key(&key).get("/v1/account").expect_status(200);
}

#[test]
fn everything_works_by_keyboard() {
    works_by_keyboard(&Visitor::default());
}

#[test]
fn everything_works_by_keyboard_without_scripts() {
    works_by_keyboard(&Visitor::default().without_scripts());
}

#[test]
fn a_menu_closes_when_the_keys_leave_it() {
    let Some(dashboard) = Dashboard::open(&Visitor::default()) else { return };
    let is_open = || dashboard.tab.evaluate::<bool>("document.querySelector('.acct').open");
    dashboard.screen("keys");
    dashboard.tab_to(".acct summary");
    dashboard.tab.press("Enter");
    dashboard.tab_to("a[href='/accounts']");
    assert!(is_open());
    dashboard.tab.press("Tab");
    assert!(!is_open());
}

#[test]
fn shortcuts_move_select_open_and_search() {
    let Some(dashboard) = Dashboard::open(&Visitor::default()) else { return };
    let tab = &dashboard.tab;
    dashboard.add_redirects(&[
        json!({"name": "Menu", "slug": "menu", "target_url": "https://www.example.com/menu"}),
        json!({"name": "Map", "slug": "map", "target_url": "https://www.example.com/map"}),
    ]);
    dashboard.screen("links");
    tab.type_text("jjx");
    let chosen: Vec<String> = tab.evaluate(
        "[...document.querySelectorAll('[name=ids]:checked')].map(box => box.getAttribute('aria-label'))",
    );
    assert_eq!(chosen, ["Select Menu"]);
    tab.type_text("/");
    assert!(tab.evaluate::<bool>("document.activeElement.name == 'q'"));
    tab.type_text("j?");
    assert_eq!(tab.evaluate::<String>("document.activeElement.value"), "j?");
    dashboard.screen("links").type_text("?");
    assert!(tab.evaluate::<bool>("document.querySelector('#keys').open"));
    dashboard.screen("links");
    tab.follow(|tab| tab.type_text("gk"));
    assert_eq!(dashboard.path(), format!("/{}/keys", dashboard.account));
    dashboard.screen("links");
    tab.follow(|tab| tab.type_text("c"));
    assert_eq!(dashboard.path(), format!("/{}/links/new", dashboard.account));
}
