//! Statistics of real visits, in a browser (D45 to D48).

use std::time::{Duration, Instant};

use serde_json::json;

use crate::dashboard::Dashboard;
use crate::dashboard_screens::Look;
use crate::harness::BROWSER;
use crate::tab::Tab;
use crate::visitor::Visitor;

const PHONE: &str = "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) \
                     Version/17.5 Mobile/15E148 Safari/604.1";

/// Visits: the browser, the page before, the query, and how often.
const VISITS: [(&str, &str, &str, u64); 5] = [
    (BROWSER, "https://www.google.com/", "", 7),
    (PHONE, "https://www.instagram.com/", "?utm_source=instagram&utm_campaign=autumn", 5),
    (PHONE, "", "", 3),
    (BROWSER, "https://a-very-long-name-of-a-host-that-refers.example.com/", "?utm_medium=email", 2),
    ("curl/8.0", "", "", 4),
];

/// How many of them are clicks.
const CLICKS: u64 = 17;

/// How long to wait until they are stored.
const PATIENCE: Duration = Duration::from_mins(1);

#[test]
fn d46_statistics_of_visits_are_readable_on_every_screen_and_lead_on() {
    let Some(dashboard) = Dashboard::open(&Visitor::default()) else { return };
    let look = Look::of(&dashboard.tab);
    let name = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft";
    let link = json!({"name": name, "slug": "menu", "target_url": "https://www.example.com/menu"});
    let id = dashboard.add_redirects(&[link]).remove(0);
    for (browser, referrer, query, times) in VISITS {
        let headers = [("User-Agent", browser), ("Referer", referrer), ("Accept-Language", "de-DE,de;q=0.9")];
        for _ in 0..times {
            let visit = dashboard.program.visitor().request("GET", &format!("/menu{query}"), &headers);
            assert_eq!(visit.status, 302);
        }
    }
    await_clicks(&dashboard);

    for (what, path) in [
        ("statistics", "analytics"),
        ("statistics-today", "analytics?range=today&show=visitors&part=devices&values=25"),
        ("statistics-dates", "analytics?range=dates&from=2026-01-01&to=2026-01-31"),
        ("statistics-mistake", "analytics?range=dates&from=yesterday&to="),
    ] {
        dashboard.screen(path);
        look.at(what);
    }
    let of_link = format!("links/{id}/analytics");
    dashboard.screen(&of_link);
    look.at("statistics-of-link");

    // A value of a dimension leads to the statistics of it alone, and its filter back.
    dashboard.screen(&format!("{of_link}?part=devices&range=today"));
    let tab = &dashboard.tab;
    tab.follow(|tab| tab.click("main .meters a[href*='device=mobile']"));
    assert_eq!(dashboard.text("main .tags .box.at .big"), "8");
    look.at("statistics-filtered");
    tab.follow(|tab| tab.click("main p.tags a"));
    assert_eq!(dashboard.text("main .tags .box.at .big"), CLICKS.to_string());

    // The figures of the last half hour change while the page stays.
    let visit = dashboard.program.visitor().request("GET", "/menu", &[("User-Agent", BROWSER)]);
    assert_eq!(visit.status, 302);
    let (began, expected) = (Instant::now(), format!(" {} clicks", CLICKS + 1));
    while !dashboard.text("[data-live]").contains(&expected) {
        assert!(began.elapsed() < PATIENCE, "{}", dashboard.text("[data-live]"));
        // Poll: the page asks every five seconds, and sends no event.
        std::thread::sleep(Duration::from_millis(200));
    }
    assert_eq!(
        dashboard.text("main .tags .box.at .big"),
        CLICKS.to_string(),
        "the page was not loaded again"
    );
}

/// A page asks for its figures every five seconds while somebody looks at it.
#[test]
fn d48_a_hidden_tab_asks_nothing_until_it_is_shown_again() {
    let Some(dashboard) = Dashboard::open(&Visitor::default()) else { return };
    let tab = dashboard.screen("analytics");
    tab.run("window.ticks = 0; setInterval(() => { window.ticks += 1; }, 5000)");
    let period = Duration::from_secs(6);
    let mut known = asked(tab).len();
    tab.let_pass(period);
    assert_asks_for_figures(&asked(tab)[known..]);

    tab.minimize();
    known = asked(tab).len();
    let ticks: u32 = tab.evaluate("window.ticks");
    tab.let_pass(Duration::from_mins(10));
    assert_eq!(asked(tab)[known..], [""; 0]);
    // Browsers slow down the timers of hidden pages, and do not stop them.
    assert!(tab.evaluate::<u32>("window.ticks") > ticks + 1, "the timers of the page stand still");

    tab.restore();
    tab.let_pass(period);
    assert_asks_for_figures(&asked(tab)[known..]);
}

/// What the tab has requested, without the files of the program, which Chromium may request at any time as icons.
fn asked(tab: &Tab) -> Vec<String> {
    tab.events().requests.into_iter().filter(|url| !url.contains("/assets/")).collect()
}

#[track_caller]
fn assert_asks_for_figures(requests: &[String]) {
    assert!(!requests.is_empty(), "the page asks for no figures");
    assert!(requests.iter().all(|url| url.contains("/analytics/live")), "{requests:?}");
}

/// Opens the statistics of today until they count every click.
fn await_clicks(dashboard: &Dashboard) {
    let began = Instant::now();
    loop {
        dashboard.screen("analytics?range=today");
        let counted = dashboard.text("main .tags .box.at .big");
        if counted == CLICKS.to_string() {
            return;
        }
        assert!(began.elapsed() < PATIENCE, "{counted} clicks are stored");
        // Poll: the page says how many are stored, and sends no event.
        std::thread::sleep(Duration::from_millis(200));
    }
}
