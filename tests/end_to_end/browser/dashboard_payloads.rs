//! What people type into the dashboard is shown as it is, and never runs (R23).

use crate::dashboard::Dashboard;
use crate::soundness::assert_inert;
use crate::visitor::Visitor;

/// Ways out of texts, attributes, text areas, titles, scripts and styles.
const PAYLOADS: [&str; 6] = [
    "\"><script>alert(1)</script><img src=x onerror=alert(1)>",
    "' autofocus onfocus='alert(1)' x='",
    "</textarea></title></select></option><svg onload=alert(1)>",
    "<!--<img src=\"--><img src=x onerror=alert(1)//\">",
    "javascript:alert(1)//<iframe srcdoc='<script>alert(1)</script>'>",
    "{{7*7}}${alert(1)}</style><style>@import'//evil.example/x.css'",
];

/// Elements and attributes that no screen has.
const STRANGE: &str = "document.querySelectorAll('iframe, object, embed, base, style, img, script:not([src]), \
    [onload], [onerror], [onfocus], [srcdoc], [href^=javascript]').length";

/// A text as a value of a query.
fn encoded(text: &str) -> String {
    text.bytes().fold(String::new(), |query, byte| format!("{query}%{byte:02X}"))
}

/// The screens on which the texts are shown.
fn look_around(dashboard: &Dashboard, screens: &[String]) {
    for screen in screens {
        let strange: usize = dashboard.screen(screen).evaluate(STRANGE);
        assert_eq!(strange, 0, "{screen}");
    }
}

#[test]
fn r23_payloads_in_every_field_of_the_dashboard_never_run() {
    let Some(dashboard) = Dashboard::open(&Visitor::default()) else { return };
    let mut links = vec![];
    for payload in PAYLOADS {
        dashboard.screen("groups");
        dashboard.send("form.line", &[("name", payload)]);
        dashboard.screen("pixels");
        dashboard.send("form.line", &[("pixel_id", "G-1A2BCD345E"), ("name", payload)]);
        dashboard.send("form.line", &[("pixel_id", payload), ("name", payload)]);
        // Refused, with what was typed in the fields.
        dashboard.screen("links/new");
        let all = ["target_url", "name", "slug", "note", "countries", "fallback_url", "zone"];
        let all = all.map(|name| (name, payload));
        dashboard.send("main form", &all);
        assert_eq!(dashboard.tab.evaluate::<usize>(STRANGE), 0, "{payload}");
        let taken = [("target_url", "https://example.com/"), ("name", payload), ("note", payload)];
        dashboard.screen("links/new");
        dashboard.send("main form", &taken);
        links.push(dashboard.path().rsplit_once('/').unwrap().1.to_owned());
        dashboard.screen("links/new?kind=landing");
        dashboard.send("main form", &[("title", payload), ("description", payload), ("note", payload)]);
        dashboard.screen("keys");
        dashboard.send("main .box form", &[("name", payload)]);
        dashboard.screen("members");
        dashboard.send("main .box form", &[("email", payload)]);
        assert_eq!(dashboard.tab.evaluate::<usize>(STRANGE), 0, "{payload}");
        dashboard.visit("/me");
        dashboard.send("main form", &[("name", payload)]);
    }
    assert!(links.iter().all(|link| link.starts_with("rdr_")), "{links:?}");
    let mut screens = ["links", "groups", "pixels", "keys", "members", "audit", "usage", "analytics"]
        .map(str::to_owned)
        .to_vec();
    screens.extend(links.iter().map(|link| format!("links/{link}")));
    for payload in PAYLOADS {
        let query = encoded(payload);
        screens.push(format!("links?q={query}&group={query}&domain={query}&after={query}"));
        screens.push(format!("links/new?target_url={query}"));
        screens.push(format!("analytics?group={query}&domain={query}&referrer={query}&range={query}"));
        screens.push(format!("keys?name={query}&scopes={query}"));
        screens.push(format!("members?email={query}&role={query}"));
        screens.push(format!("audit?q={query}&action={query}&who={query}&from={query}&to={query}"));
        for path in [
            format!("/operator/accounts?q={query}&email={query}&name={query}&plan={query}"),
            format!("/operator/users?q={query}&email={query}&account={query}&role={query}"),
            format!("/operator/sign-ins?email={query}&address={query}"),
            format!("/audit?q={query}&account={query}&who={query}"),
        ] {
            let strange: usize = dashboard.visit(&path).evaluate(STRANGE);
            assert_eq!(strange, 0, "{path}");
        }
    }
    look_around(&dashboard, &screens);
    let names: Vec<String> = dashboard
        .screen("groups")
        .evaluate("[...document.querySelectorAll('.name bdi')].map(it => it.textContent)");
    assert!(PAYLOADS.iter().all(|payload| names.iter().any(|name| name == payload)), "{names:?}");
    assert_inert(&dashboard.tab, &[&dashboard.origin], "a dashboard of payloads");
}
