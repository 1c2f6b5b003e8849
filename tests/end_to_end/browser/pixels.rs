//! The page that fires a redirect's pixels and moves on (D57).

use serde_json::{Value, json};

use crate::accessibility::assert_accessible;
use crate::harness::{Account, BROWSER, Program, redirect_body};
use crate::tab::{Events, Tab, url_of};
use crate::visitor::Visitor;

/// A pixel id of every vendor.
const CODES: [(&str, &str); 10] = [
    ("google_tag", "G-1A2BCD345E"),
    ("google_tag_manager", "GTM-AB12CDE"),
    ("meta", "123456789012345"),
    ("tiktok", "C4A1B2C3D4E5F6G7H8I9"),
    ("linkedin", "1234567"),
    ("x", "o1abc"),
    ("pinterest", "2612345678901"),
    ("snapchat", "1a2b3c4d-1234-5678-9abc-1a2b3c4d5e6f"),
    ("reddit", "t2_1ab2cd3e"),
    ("microsoft_ads", "12345678"),
];

/// The sites in the snippets of vendors.
const SITES: [&str; 14] = [
    "googletagmanager.com",
    "facebook.net",
    "facebook.com",
    "tiktok.com",
    "licdn.com",
    "linkedin.com",
    "ads-twitter.com",
    "twitter.com",
    "t.co",
    "pinimg.com",
    "pinterest.com",
    "sc-static.net",
    "redditstatic.com",
    "bing.com",
];

const TARGET: &str = "https://shop.example.com/offers?from=link";

/// Creates a link at `/link` with these pixels.
fn create(account: &Account, codes: &[(&str, &str)]) {
    let pixels: Vec<Value> = codes
        .iter()
        .map(|(pixel_type, code)| {
            let body = json!({"pixel_type": pixel_type, "pixel_id": code});
            account.post("/v1/pixels", &body).expect_status(201).body["id"].clone()
        })
        .collect();
    let link = json!({"slug": "link", "target_url": TARGET, "pixel_ids": pixels});
    account.create_redirect(&redirect_body(link));
}

/// A visitor whose browser does not say that it is headless, because bots get no page.
fn person() -> Visitor {
    Visitor::default().with_header("User-Agent", BROWSER)
}

/// Opens the link, and waits until the visitor reaches the target.
fn follow(program: &Program, visitor: &Visitor) -> Option<Events> {
    follow_path(program, visitor, "/link")
}

fn follow_path(program: &Program, visitor: &Visitor, path: &str) -> Option<Events> {
    let tab = Tab::of(visitor)?;
    tab.begin_to_open(&url_of(program, path));
    Some(tab.wait_until(|events| events.requests.iter().any(|url| url == TARGET)))
}

/// Opens the link until the page contacts its vendors at least `enough` times, and returns the last visit. The page moves
/// on after 900 ms, so a browser on a busy machine may leave before it has read all pixels.
fn follow_until_fired(program: &Program, path: &str, enough: usize) -> Option<Events> {
    for _ in 0..10 {
        let events = follow_path(program, &person(), path)?;
        if of_vendors(program, path, &events).len() >= enough {
            return Some(events);
        }
    }
    panic!("no visit of {path} contacts its vendors {enough} times");
}

/// The requests beside the page and the target. Each must go to a site of a vendor.
fn of_vendors<'a>(program: &Program, path: &str, events: &'a Events) -> Vec<&'a String> {
    let page = url_of(program, path);
    let own = url_of(program, "/favicon.ico");
    let others: Vec<_> =
        events.requests.iter().filter(|url| **url != page && **url != own && **url != TARGET).collect();
    for url in &others {
        let host = url.strip_prefix("https://").and_then(|rest| rest.split('/').next()).unwrap_or_default();
        let is_of = |site: &&str| host == *site || host.ends_with(&format!(".{site}"));
        assert!(SITES.iter().any(is_of), "{url} does not belong to a vendor");
    }
    others
}

#[test]
fn d57_the_page_fires_all_pixels_and_moves_on() {
    let program = Program::start();
    create(&program.first_account(), &CODES);
    let Some(events) = follow_until_fired(&program, "/link", CODES.len() - 1) else { return };
    assert_eq!(events.dialogs, Vec::<String>::new());
    let refused = events.console.iter().find(|line| line.contains("Content Security Policy"));
    assert_eq!(refused, None);
}

#[test]
fn d57_a_pixel_contacts_only_its_vendors() {
    let program = Program::start();
    for (number, code) in CODES.into_iter().enumerate() {
        let account = program.account("agency");
        let link = json!({"slug": format!("link{number}"), "target_url": TARGET});
        let pixel = account.post("/v1/pixels", &json!({"pixel_type": code.0, "pixel_id": code.1}));
        let link =
            crate::harness::body_with(link, json!({"pixel_ids": [pixel.expect_status(201).body["id"]]}));
        account.create_redirect(&redirect_body(link));
        if follow_until_fired(&program, &format!("/link{number}"), 1).is_none() {
            return;
        }
    }
}

#[test]
fn d57_without_scripts_the_page_moves_on_too() {
    let program = Program::start();
    create(&program.first_account(), &CODES);
    let Some(events) = follow(&program, &person().without_scripts()) else { return };
    of_vendors(&program, "/link", &events);
}

#[test]
fn d57_a_visitor_who_refuses_tracking_contacts_no_vendor() {
    let program = Program::start();
    create(&program.first_account(), &CODES);
    for header in ["Sec-GPC", "DNT"] {
        let visitor = person().with_header(header, "1");
        let Some(events) = follow(&program, &visitor) else { return };
        assert_eq!(of_vendors(&program, "/link", &events), Vec::<&String>::new(), "{header}");
    }
}

/// A visitor who stays on the page sees a link to the target.
#[test]
fn d57_the_page_itself_is_accessible() {
    let program = Program::start();
    create(&program.first_account(), &CODES[..1]);
    let Some(tab) = Tab::of(&person()) else { return };
    let page = program.visitor().request("GET", "/link", &[("Host", "localhost"), ("User-Agent", BROWSER)]);
    // The scripts and the refresh would leave the page.
    tab.show(&page.body);
    for visitor in person().on_every_screen() {
        tab.becomes(&visitor);
        assert_accessible(&tab, "the page of pixels");
    }
}
