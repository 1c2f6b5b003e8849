//! Further journeys by keyboard alone, with and without scripts: the editor, a domain, a member, statistics, a test, an operator.

use std::time::{Duration, Instant};

use jiff::Zoned;
use serde_json::{Value, json};
use signpost_domain::Timestamp;
use signpost_domain::analytics::{Dimension, RecordedKind};
use signpost_test_servers::dns::{NameServer, Record};

use crate::dashboard::Dashboard;
use crate::dashboard_editor::in_place;
use crate::harness::domains::{EDGE, asking};
use crate::harness::{EarlierVisits, Person, Program, store_visits};
use crate::tab::Tab;
use crate::visitor::Visitor;

const HOST: &str = "go.shop.test";

/// How long to wait until the name server has answered in time.
const PATIENCE: Duration = Duration::from_mins(1);

/// Opens a menu, and follows a link or a button in it.
fn choose(dashboard: &Dashboard, menu: &str, selector: &str) {
    dashboard.tab_to(&format!("{menu} > summary"));
    dashboard.tab.press("Enter");
    dashboard.enter(&format!("{menu} {selector}"));
}

/// Adds, moves and deletes a widget, and saves.
fn edit_page(dashboard: &Dashboard, has_scripts: bool) {
    let tab = &dashboard.tab;
    let account = dashboard.program.first_account();
    let widgets = json!([
        {"type": "link", "title": "Our shop", "url": "https://shop.example.com/"},
        {"type": "heading", "text": "Menu"},
        {"type": "divider"},
    ]);
    let page = json!({"title": "Morgenbrot", "slug": "bread", "widgets": widgets});
    account.post("/v1/landings", &page).expect_status(201);
    dashboard.screen("links");
    dashboard.enter(".rows a.name");
    dashboard.enter(".top a.go");
    let arrange = |button: &str| {
        let press = || {
            dashboard.tab_to(button);
            tab.press("Enter");
        };
        if has_scripts { in_place(tab, press) } else { dashboard.enter(button) }
    };
    arrange("[value=add-heading]");
    dashboard.type_into("[data-widget]:nth-child(4) [name$='.text']", "Opening hours");
    let up = "[data-widget]:nth-child(4) [value^=up-]";
    if has_scripts {
        // At once, and the focus stays on the button.
        dashboard.tab_to(up);
        tab.press("Enter");
        assert!(
            tab.evaluate::<bool>("document.activeElement.matches('[data-widget]:nth-child(3) [value^=up-]')")
        );
    } else {
        dashboard.enter(up);
    }
    arrange("[data-widget]:nth-child(1) [value^=remove-]");
    assert!(dashboard.text("[data-widget]:nth-child(1)").contains("Removed when you save"));
    dashboard.enter("[value=save]");
    assert_eq!(dashboard.text(".note.ok"), "Saved.");
    let pages = account.get("/v1/landings").expect_status(200).body;
    let saved = account.get(&format!("/v1/landings/{}", pages["data"][0]["id"].as_str().unwrap())).body;
    let widgets = saved["widgets"].as_array().unwrap();
    let kept: Vec<[&Value; 2]> = widgets.iter().map(|it| [&it["type"], &it["text"]]).collect();
    let heading = json!("heading");
    let expected =
        [[&heading, &json!("Menu")], [&heading, &json!("Opening hours")], [&json!("divider"), &Value::Null]];
    assert_eq!(kept, expected);
}

/// Connects a domain, and checks it until it is in service.
fn connect_domain(dashboard: &Dashboard, dns: &NameServer) {
    dashboard.screen("links");
    dashboard.enter("nav a[href$='/domains']");
    dashboard.type_into("#f-hostname", HOST);
    dashboard.tab.follow(|tab| tab.press("Enter"));
    assert!(dashboard.text("h1").starts_with(HOST), "{}", dashboard.text("h1"));
    let proof = dashboard.text(".box:nth-of-type(2) .facts div:nth-child(2) code");
    dns.set(&format!("_signpost.{HOST}"), [Record::text(&proof)]);
    dns.set(HOST, [Record::alias(EDGE)]);
    let began = Instant::now();
    while !dashboard.text("h1").contains("Active") {
        assert!(began.elapsed() < PATIENCE, "{}", dashboard.text("main"));
        dashboard.enter("form[action$='/verify'] button");
    }
}

/// Invites somebody as owner; the link that the page shows opens.
fn invite_member(dashboard: &Dashboard) {
    dashboard.screen("links");
    choose(dashboard, ".acct", "a[href$='/members']");
    dashboard.type_into("#f-email", "sami@morgenbrot.example");
    dashboard.tab_to("#f-role");
    let role = || dashboard.tab.evaluate::<String>("document.querySelector('#f-role').value");
    assert_eq!(role(), "editor");
    dashboard.tab.press("ArrowDown");
    assert_eq!(role(), "owner");
    dashboard.enter("main .box form .go");
    let link = dashboard.text(".live pre");
    let (_, token) = link.split_once("/invitation/").unwrap();
    let page = Person::at(&dashboard.program).get(&format!("/invitation/{token}")).expect_status(200);
    assert!(page.body.contains("sami@morgenbrot.example") && page.body.contains("owner"), "{}", page.body);
}

/// Visits of yesterday at noon: 30 from Germany, 12 from Austria.
fn store_clicks(dashboard: &Dashboard) {
    let link = json!({"name": "Menu", "slug": "menu", "target_url": "https://www.example.com/menu"});
    let link = dashboard.add_redirects(&[link]).remove(0);
    let at = Timestamp::from_unix_millis(Zoned::now().timestamp().as_millisecond() - 86_400_000).unwrap();
    let of = |country, times| EarlierVisits {
        account: &dashboard.account,
        link: &link,
        at,
        kind: RecordedKind::Click,
        visitor: 1,
        times,
        values: country,
    };
    let countries = [[(Dimension::Country, "DE")], [(Dimension::Country, "AT")]];
    store_visits(&dashboard.program, &[of(&countries[0], 30), of(&countries[1], 12)]);
}

/// Chooses a period by its name and by dates, and a filter.
fn read_statistics(dashboard: &Dashboard) {
    let tab = &dashboard.tab;
    let clicks = || dashboard.text("main .tags .box.at .big");
    dashboard.screen("links");
    dashboard.enter("nav a[href$='/analytics']");
    dashboard.enter(".seg a[href*='range=7d']");
    assert_eq!((clicks(), dashboard.text(".seg [aria-current]")), ("42".to_owned(), "7 days".to_owned()));
    dashboard.tab_to("main details.more > summary");
    tab.press("Enter");
    dashboard.tab_to("#f-from");
    // The same day in every order of its parts, and before the clicks also in January.
    let year = Zoned::now().year() - 1;
    tab.type_text(&format!("0101{year}"));
    dashboard.tab_to("#f-interval");
    let interval = || tab.evaluate::<String>("document.querySelector('#f-interval').value");
    while interval() != "month" {
        tab.press("ArrowDown");
    }
    dashboard.enter("main details.more .go");
    let query: String = tab.evaluate("location.search");
    assert!(query.contains(&format!("range=dates&from={year}-01-01&")), "{query}");
    assert!(query.contains("&interval=month"), "{query}");
    dashboard.enter(".seg a[href*='part=devices']");
    dashboard.enter(".meters a[href*='country=AT']");
    assert_eq!(
        (clicks(), dashboard.text("main p.tags bdi")),
        ("12".to_owned(), "Countries: Austria".to_owned())
    );
    dashboard.enter("main p.tags a");
    assert_eq!(clicks(), "42");
}

/// Opens the test of a link from its page, and describes a visitor whom a rule sends elsewhere.
fn test_link(dashboard: &Dashboard) {
    let rules = json!([{"name": "apple", "conditions": [{"type": "os", "in": ["iOS"]}, {"type": "country", "in": ["DE"]}],
        "target_url": "https://example.com/apple"}]);
    let link =
        json!({"name": "Apps", "slug": "apps", "target_url": "https://example.com/apps", "rules": rules});
    let id = dashboard.add_redirects(&[link]).remove(0);
    dashboard.screen(&format!("links/{id}"));
    dashboard.enter(".top a[href$='/test']");
    let leads_to = || dashboard.text("main .live .facts div:nth-child(2) bdi");
    assert_eq!(leads_to(), "https://example.com/apps");
    for (field, choice) in [("#f-country", "DE"), ("#f-agent", "iphone")] {
        dashboard.tab_to(field);
        let chosen = || dashboard.tab.evaluate::<String>("document.activeElement.value");
        for _ in 0..300 {
            if chosen() == choice {
                break;
            }
            dashboard.tab.press("ArrowDown");
        }
        assert_eq!(chosen(), choice);
    }
    dashboard.enter("main form .go");
    assert_eq!(
        (leads_to(), dashboard.text("main .live h2")),
        ("https://example.com/apple".to_owned(), "Sent on".to_owned())
    );
    assert_eq!(dashboard.text("main .live .facts div:nth-child(3) bdi"), "apple");
    assert_eq!(dashboard.text("main ol.rows li:nth-child(8) .tag"), "Passed");
}

/// Suspends another account.
fn suspend_account(dashboard: &Dashboard) {
    let other = dashboard.program.account("agency");
    dashboard.screen("links");
    choose(dashboard, ".me", "a[href='/operator/accounts']");
    dashboard.enter(&format!(".rows a[href$='{}']", other.id()));
    dashboard.enter("form[action$='/suspend'] button");
    assert!(dashboard.text("main .facts").contains("Suspended since"), "{}", dashboard.text("main"));
    other.get("/v1/groups").expect_error(403, "account_suspended");
}

fn works_by_keyboard(visitor: &Visitor) {
    let Some(tab) = Tab::of(visitor) else { return };
    let dns = NameServer::start();
    let dashboard = Dashboard::start(asking(Program::builder(), &dns).start(), tab);
    edit_page(&dashboard, visitor.has_scripts);
    connect_domain(&dashboard, &dns);
    invite_member(&dashboard);
    store_clicks(&dashboard);
    read_statistics(&dashboard);
    test_link(&dashboard);
    suspend_account(&dashboard);
}

#[test]
fn d67_editor_domain_member_statistics_and_operator_work_by_keyboard() {
    works_by_keyboard(&Visitor::default());
}

#[test]
fn d67_editor_domain_member_statistics_and_operator_work_by_keyboard_without_scripts() {
    works_by_keyboard(&Visitor::default().without_scripts());
}
