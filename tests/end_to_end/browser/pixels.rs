//! The page that fires a redirect's pixels and moves on (D57).

use serde_json::{Value, json};

use crate::accessibility::assert_accessible;
use crate::harness::{Account, Program, redirect_body};
use crate::tab::{Heard, Tab, url_of};
use crate::visitor::Visitor;

/// A code of every vendor.
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

/// The sites whose hosts vendors' snippets name.
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

/// A link at `/link` with these pixels.
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

/// Opens the link, and waits until the visitor is where it leads.
fn follow(program: &Program, visitor: &Visitor) -> Option<Heard> {
    let tab = Tab::of(visitor)?;
    tab.begin_to_open(&url_of(program, "/link"));
    Some(tab.wait_until(|heard| heard.requests.iter().any(|url| url == TARGET)))
}

/// What was asked for beside the page and the target, each of it at a site of a vendor.
fn of_vendors<'a>(program: &Program, heard: &'a Heard) -> Vec<&'a String> {
    let page = url_of(program, "/link");
    let own = url_of(program, "/favicon.ico");
    let others: Vec<_> =
        heard.requests.iter().filter(|url| **url != page && **url != own && **url != TARGET).collect();
    for url in &others {
        let host = url.strip_prefix("https://").and_then(|rest| rest.split('/').next()).unwrap_or_default();
        let is_of = |site: &&str| host == *site || host.ends_with(&format!(".{site}"));
        assert!(SITES.iter().any(is_of), "{url} is no vendor's");
    }
    others
}

#[test]
fn d57_the_page_fires_all_pixels_and_moves_on() {
    let program = Program::start();
    create(&program.first_account(), &CODES);
    let Some(heard) = follow(&program, &Visitor::default()) else { return };
    let fired = of_vendors(&program, &heard);
    assert!(fired.len() >= CODES.len() - 1, "{fired:?}");
    assert_eq!(heard.dialogs, Vec::<String>::new());
    let refused = heard.console.iter().find(|line| line.contains("Content Security Policy"));
    assert_eq!(refused, None);
}

#[test]
fn d57_each_vendor_alone_is_asked_and_nobody_else() {
    let program = Program::start();
    for (number, code) in CODES.into_iter().enumerate() {
        let account = program.account("agency");
        let link = json!({"slug": format!("link{number}"), "target_url": TARGET});
        let pixel = account.post("/v1/pixels", &json!({"pixel_type": code.0, "pixel_id": code.1}));
        let link =
            crate::harness::body_with(link, json!({"pixel_ids": [pixel.expect_status(201).body["id"]]}));
        account.create_redirect(&redirect_body(link));
        let Some(tab) = Tab::of(&Visitor::default()) else { return };
        let page = url_of(&program, &format!("/link{number}"));
        tab.begin_to_open(&page);
        let heard = tab.wait_until(|heard| heard.requests.iter().any(|url| url == TARGET));
        let others =
            Heard { requests: heard.requests.into_iter().filter(|url| *url != page).collect(), ..heard };
        assert!(!of_vendors(&program, &others).is_empty(), "{code:?} asks nobody");
    }
}

#[test]
fn d57_without_scripts_the_page_moves_on_too() {
    let program = Program::start();
    create(&program.first_account(), &CODES);
    let Some(heard) = follow(&program, &Visitor::default().without_scripts()) else { return };
    of_vendors(&program, &heard);
}

#[test]
fn d57_a_visitor_who_wants_no_tracking_is_sent_on_and_nobody_is_asked() {
    let program = Program::start();
    create(&program.first_account(), &CODES);
    for header in ["Sec-GPC", "DNT"] {
        let visitor = Visitor::default().with_header(header, "1");
        let Some(heard) = follow(&program, &visitor) else { return };
        assert_eq!(of_vendors(&program, &heard), Vec::<&String>::new(), "{header}");
    }
}

/// Who stays on it sees a link, and can use it.
#[test]
fn d57_the_page_itself_is_accessible() {
    let program = Program::start();
    create(&program.first_account(), &CODES[..1]);
    for visitor in Visitor::default().on_every_screen() {
        let Some(tab) = Tab::of(&visitor) else { return };
        let page = program.visitor().request("GET", "/link", &[("Host", "localhost")]);
        // Its scripts and its refresh would lead away.
        tab.show(&page.body);
        assert_accessible(&tab, "the page of pixels");
    }
}
