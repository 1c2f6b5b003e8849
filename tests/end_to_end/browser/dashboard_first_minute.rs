//! A newcomer's first minute (D79).

use crate::codes::read;
use crate::dashboard::{Dashboard, EMAIL, PASSWORD, origin_of};
use crate::dashboard_cold_screens::assert_small;
use crate::harness::Program;
use crate::tab::Tab;
use crate::visitor::Visitor;

#[test]
fn d79_an_empty_store_has_a_link_that_opens_after_two_forms() {
    let program = Program::start();
    let Some(tab) = Tab::of(&Visitor::default()) else { return };
    let start_url = program.start_url.clone().unwrap();
    let dashboard = Dashboard { origin: origin_of(&program), account: String::new(), program, tab };
    let tab = &dashboard.tab;

    tab.caches(false);
    assert_small(tab.open(&start_url), "the start");
    dashboard.type_into("#f-name", "Ines Okafor");
    dashboard.type_into("#f-email", EMAIL);
    dashboard.type_into("#f-password", PASSWORD);
    tab.follow(|tab| tab.click("form .go"));
    assert!(dashboard.path().ends_with("/links/new"), "{}", dashboard.path());

    let target = "https://www.example.com/menu";
    dashboard.type_into("#f-target_url", target);
    tab.follow(|tab| tab.click("main form .go"));
    assert_eq!(dashboard.text(".live h2"), "Your link is live");

    let short: String = tab.evaluate("document.querySelector('.live .big a').href");
    // The style of icons must not reach the lines of the code.
    assert_eq!(read(tab), format!("{short}?src=qr"));
    let path = short.splitn(4, '/').nth(3).unwrap().to_owned();
    let visit = dashboard.program.visitor().open(&format!("/{path}"));
    assert_eq!(visit.location(), Some(target), "{visit:?}");

    tab.open(&start_url);
    let status: u16 = tab.evaluate("performance.getEntriesByType('navigation')[0].responseStatus");
    assert_eq!(status, 410);
}
