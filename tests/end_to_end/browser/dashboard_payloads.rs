//! What people type into the dashboard is shown as it is, and never runs (R23).

use serde_json::json;

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

/// Elements and attributes that no screen has. The preview of the editor is a frame of the program's own.
const STRANGE: &str = "document.querySelectorAll('iframe:not(#preview), object, embed, base, style, img, \
    script:not([src]), [onload], [onerror], [onfocus], [srcdoc], [href^=javascript]').length";

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

/// The names and the values of the fields of the editor into which people type.
const FIELDS: &str = "[...document.querySelectorAll('#editor textarea, \
    #editor input:not([type=hidden], [type=radio], [type=checkbox])')].map(it => [it.name, it.value])";

/// Elements and attributes that no preview has. It has a style and pictures.
const STRANGE_IN_PREVIEW: &str = "document.querySelectorAll('iframe, object, embed, base, form, input, script, \
    [onload], [onerror], [onfocus], [srcdoc], [href^=javascript]').length";

/// A URL that the editor takes.
const URL: &str = "https://example.com/?'><script>alert(1)</script>#\"onload=alert(1)";

/// The path of the editor of a page with a widget of every type, and the path of the page in the API.
fn page_with_every_widget(dashboard: &Dashboard) -> (String, String) {
    let widgets = json!([
        {"type": "link", "title": "Our shop", "url": URL},
        {"type": "heading", "text": "Opening hours"},
        {"type": "text", "text": "Every day from seven."},
        {"type": "image", "image_url": URL, "alt": "A loaf"},
        {"type": "video", "url": "https://www.youtube.com/watch?v=dQw4w9WgXcQ"},
        {"type": "social", "network": "instagram", "url": URL},
        {"type": "email", "address": "hello@morgenbrot.example"},
        {"type": "contact", "method": "whatsapp", "number": "+442079460958"},
        {"type": "divider"},
    ]);
    let page = json!({"title": "Bread", "slug": "bread", "widgets": widgets});
    let page = dashboard.program.first_account().post("/v1/landings", &page).expect_status(201).body;
    let id = page["id"].as_str().unwrap();
    (format!("links/{id}/page"), format!("/v1/landings/{id}"))
}

/// What the editor takes in this field: the payload, unless only something else is valid.
fn sound<'a>(field: &str, payload: &'a str) -> &'a str {
    let (_, name) = field.split_once('.').unwrap_or(("", field));
    match name {
        "url" if field == "w4.url" => "https://www.youtube.com/watch?v=dQw4w9WgXcQ",
        "url" | "thumbnail_url" | "image_url" | "avatar_url" => URL,
        // It has 50 characters at most.
        "network" => &payload[..payload.len().min(50)],
        "address" => "ada@example.com",
        "number" => "+442079460958",
        "accent_color" => "#101010",
        "language" => "de",
        _ => payload,
    }
}

/// Sends the editor with these values, and asserts that it shows them as they are.
#[track_caller]
fn send_fields(dashboard: &Dashboard, values: &[(&str, &str)]) {
    let tab = dashboard.send("#editor", values);
    let shown: Vec<(String, String)> = tab.evaluate(FIELDS);
    let shown: Vec<(&str, &str)> =
        shown.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(shown, values);
    assert_is_plain(dashboard);
}

#[track_caller]
fn assert_is_plain(dashboard: &Dashboard) {
    let strange: [usize; 2] =
        dashboard.tab.evaluate(&format!("[{STRANGE}, document.querySelectorAll('#preview').length]"));
    assert_eq!(strange, [0, 1], "{}", dashboard.path());
}

#[test]
fn r23_payloads_in_every_field_of_the_editor_never_run() {
    let Some(dashboard) = Dashboard::open(&Visitor::default()) else { return };
    let (editor, of_api) = page_with_every_widget(&dashboard);
    for payload in PAYLOADS {
        let fields: Vec<(String, String)> = dashboard.screen(&editor).evaluate(FIELDS);
        let fields: Vec<&str> = fields.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(fields.len(), 22, "{fields:?}");
        // Refused, with what was typed in the fields and beside them.
        let all: Vec<_> = fields.iter().map(|name| (*name, payload)).collect();
        send_fields(&dashboard, &all);
        assert!(!dashboard.text("#editor .err").is_empty(), "{payload}");
        let valid: Vec<_> = fields.iter().map(|name| (*name, sound(name, payload))).collect();
        send_fields(&dashboard, &valid);
        assert_eq!(dashboard.text(".note.ok"), "Saved.", "{payload}");
        // Two people change the title at the same time.
        let [theirs, yours] = ["theirs", "yours"].map(|whose| format!("{payload} {whose}"));
        dashboard.program.first_account().patch(&of_api, &json!({"title": theirs})).expect_status(200);
        dashboard.send("#editor", &[("title", &yours)]);
        let both: Vec<String> = dashboard
            .tab
            .evaluate("[...document.querySelectorAll('.pair bdi')].map(it => it.textContent).slice(0, 2)");
        assert_eq!(both, [yours.as_str(), &theirs]);
        assert_is_plain(&dashboard);
        dashboard.tab.follow(|tab| tab.run("document.querySelector('button[form=editor]').click()"));
        assert_eq!(dashboard.text(".note.ok"), "Saved.", "{payload}");
        // What the frame shows, in the tab itself, whose requests and dialogs the test sees.
        let strange: usize = dashboard.screen(&format!("{editor}/preview")).evaluate(STRANGE_IN_PREVIEW);
        assert_eq!((strange, dashboard.text("h1")), (0, yours), "{payload}");
    }
    assert_inert(&dashboard.tab, &[&dashboard.origin, "https://example.com/"], "an editor of payloads");
}
