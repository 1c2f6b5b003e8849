//! The buttons that copy, and the clipboard after them (D65). One test, because all tabs of the browser share the clipboard.

use serde_json::json;
use signpost_test_servers::dns::NameServer;

use crate::dashboard::Dashboard;
use crate::harness::Program;
use crate::harness::domains::asking;
use crate::tab::Tab;
use crate::visitor::Visitor;

const HOST: &str = "go.shop.test";

/// What the clipboard has, after the page has said that it was copied.
fn copied(tab: &Tab) -> String {
    tab.evaluate(
        "new Promise((resolve) => {
            const live = document.querySelector('[aria-live=polite]');
            const read = () => navigator.clipboard.readText().then(resolve);
            if (live.textContent) return read();
            new MutationObserver(() => { if (live.textContent) read(); }).observe(live, { childList: true });
        })",
    )
}

#[test]
fn d65_the_name_and_the_value_of_each_record_are_copied() {
    let Some(tab) = Tab::of(&Visitor::default()) else { return };
    let dns = NameServer::start();
    let dashboard = Dashboard::start(asking(Program::builder(), &dns).start(), tab);
    let tab = &dashboard.tab;
    tab.allow_clipboard(&dashboard.origin);
    dashboard.screen("domains");
    dashboard.send("form.line", &[("hostname", HOST)]);
    let domain =
        dashboard.program.first_account().get("/v1/domains").expect_status(200).body["data"][0].clone();
    let records = domain["dns_instructions"].as_array().unwrap();
    let all: Vec<String> = records
        .iter()
        .flat_map(|record| ["name", "value"].map(|field| record[field].as_str().unwrap().to_owned()))
        .collect();
    assert_eq!(all.len(), 4, "{domain}");
    for (number, expected) in all.iter().enumerate() {
        let label = ["name", "value"][number % 2];
        let selector = format!(".copy[aria-label={}]", json!(format!("Copy the {label} {expected}")));
        // Of a record before, the page still says that it was copied.
        tab.run("document.querySelector('[aria-live=polite]').textContent = ''");
        if number % 2 == 0 {
            tab.click(&selector);
        } else {
            dashboard.tab_to(&selector);
            tab.press("Enter");
        }
        assert_eq!(copied(tab), *expected);
        assert_eq!(dashboard.text("[aria-live=polite]"), "Copied");
    }
    // A short address in the list of links: its button has no text of its own.
    let target = json!({"name": "Menu", "slug": "menu", "target_url": "https://www.example.com/menu"});
    dashboard.add_redirects(&[target]);
    dashboard.screen("links");
    let address: String = tab.evaluate("document.querySelector('.rows a.short').href");
    tab.click(".rows .copy");
    assert_eq!(copied(tab), address);
    assert!(address.ends_with("/menu"), "{address}");
}
