//! The export of everything: nothing of the account is missing, no secret is in it, and an import reads it (D66, D69).

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;
use signpost_app::admission::enter;
use signpost_app::domains;
use signpost_app::transfer::{Import, ImportCounts, ImportMode};
use signpost_domain::analytics::RecordedKind;
use signpost_domain::id::DomainKind;
use signpost_domain::{
    AppFile, Change, DomainRequest, IdReference, PageLimit, Precondition, Role, SecretToken, Submitted,
    TargetUrl,
};
use signpost_link_files::{FileFormat, RecordReader};

use crate::analytics::record;
use crate::harness::{Answer, Browser, Dashboard};

const FILE: &str = "{\n  \"applinks\": {}\n}";

/// Sends a form that makes something, and returns its id, which the page that follows has behind this text.
async fn made(browser: &Browser, screen: &str, form: &[(&str, &str)], before: &str) -> String {
    let path = browser.dashboard.path(screen);
    let answer = browser.post(&path, form).await;
    assert!(answer.status < 400, "{screen}: {}", answer.body);
    let page = browser.get(&path).await.body;
    let (_, rest) = page.split_once(&format!("/{screen}/{before}")).unwrap();
    format!("{before}{}", rest.get(..32).unwrap())
}

/// Sets what a domain serves, as the API does.
async fn configure(browser: &Browser, id: &str) {
    let Dashboard { app, account, .. } = &browser.dashboard;
    let token = SecretToken::parse(&browser.token()).unwrap();
    let (_, caller) = enter(app, Some(&token), *account, "203.0.113.9".parse().unwrap()).await.unwrap();
    let request = DomainRequest {
        root_url: Change::Set(TargetUrl::parse("https://example.com/shop").unwrap()),
        asset_links: Change::Set(AppFile::parse(FILE).unwrap()),
        ..DomainRequest::default()
    };
    let (id, request) = (IdReference::<DomainKind>::parse(id), Submitted::valid(request));
    domains::update(app, &caller, id, request, &Precondition::None).await.unwrap();
}

/// The lines of a file by their kind.
fn lines_of(file: &Answer) -> BTreeMap<String, Vec<Value>> {
    assert_eq!((file.status, file.header("content-type")), (200, "application/x-ndjson"), "{}", file.body);
    let mut lines: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for line in file.body.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        lines.entry(line["object"].as_str().unwrap().to_owned()).or_default().push(line);
    }
    lines
}

/// Imports a file into the account of a dashboard.
async fn imported(dashboard: &Dashboard, file: &str) -> ImportCounts {
    let mut reader = RecordReader::open(FileFormat::JsonLines, file.as_bytes()).unwrap();
    let mut rows = Vec::new();
    while let Some(row) = reader.next_row().unwrap() {
        rows.push(row);
    }
    let mut import = Import::start(&dashboard.app, dashboard.account, ImportMode::Write).await.unwrap();
    let mut counts = ImportCounts::default();
    for row in import.rows(&dashboard.app, rows).await.unwrap() {
        counts.count(&row.outcome);
    }
    counts
}

#[actix_web::test]
async fn d69_the_export_of_everything_has_all_of_the_account_and_no_secret() {
    let dashboard = Dashboard::start().await;
    let owner = dashboard.member("owner@example.com", Role::Owner).await;
    let viewer = dashboard.member("viewer@example.com", Role::Viewer).await;
    let secret = dashboard.key().await;
    let scoped = [("name", "Script"), ("expires", "30"), ("scopes", "read"), ("scopes", "links")];
    assert_eq!(owner.post(&dashboard.path("keys"), &scoped).await.status, 200);
    let group = made(&owner, "groups", &[("name", "Spring")], "grp_").await;
    let pixel = [("pixel_type", "meta"), ("pixel_id", "123456789012345"), ("name", "Shop")];
    let pixel = made(&owner, "pixels", &pixel, "pxl_").await;
    let domain = made(&owner, "domains", &[("hostname", "go.customer.com")], "dom_").await;
    configure(&owner, &domain).await;
    let redirect = [
        ("kind", "redirect"),
        ("target_url", "https://example.com/"),
        ("slug", "sale"),
        ("group_id", &group),
        ("pixel_ids", &pixel),
        ("tags", "sale"),
        ("analytics_enabled", "on"),
        ("is_active", "on"),
    ];
    let redirect = owner.post(&dashboard.path("links"), &redirect).await.followed_id();
    let landing = [("kind", "landing"), ("title", "Menu"), ("slug", "menu"), ("theme", "auto")];
    let landing = owner.post(&dashboard.path("links"), &landing).await.followed_id();
    // A tag outlives its last link.
    let once =
        [("kind", "redirect"), ("target_url", "https://example.com/"), ("slug", "once"), ("tags", "left")];
    let once = owner.post(&dashboard.path("links"), &once).await.followed_id();
    assert_eq!(owner.post(&dashboard.path(&format!("links/{once}/delete")), &[]).await.status, 303);
    let editor = dashboard.path(&format!("links/{landing}/page"));
    let revision = owner.get(&editor).await.hidden("revision");
    let content = [
        ("revision", &*revision),
        ("title", "Menu"),
        ("description", "Fresh bread"),
        ("has_widgets", "true"),
        ("widget", "w0"),
        ("w0.type", "heading"),
        ("w0.text", "Opening hours"),
        ("do", "save"),
    ];
    assert_eq!(owner.post(&editor, &content).await.status, 303);
    let at = dashboard.app.clock.now();
    for (visitor, country) in [(1, "DE"), (2, "AT"), (3, "CH")] {
        record(&dashboard, &redirect, at, RecordedKind::Click, visitor, country, "autumn");
    }
    dashboard.memory.clock.advance(Duration::from_mins(2));

    let page = viewer.get(&dashboard.path("settings")).await;
    assert!(page.body.contains(&dashboard.path("export-everything.jsonl")), "{}", page.body);
    let left_out = "passwords of links, open invitations, the history of domains, and the audit";
    assert!(page.body.contains(left_out), "{}", page.body);
    let file = viewer.get(&dashboard.path("export-everything.jsonl")).await;
    let name = file.header("content-disposition");
    assert!(name.starts_with("attachment; filename=\"everything-team-example-com-20"), "{name}");
    let lines = lines_of(&file);
    let counts: Vec<(&str, usize)> = lines.iter().map(|(kind, lines)| (&**kind, lines.len())).collect();
    assert_eq!(
        counts,
        [
            ("account", 1),
            ("click", 3),
            ("domain", 1),
            ("group", 1),
            ("key", 2),
            ("landing", 1),
            ("member", 2),
            ("page_content", 1),
            ("pixel", 1),
            ("pixel_use", 1),
            ("redirect", 1),
            ("tag", 2),
        ]
    );
    let of = |kind: &str, field: &str| {
        let mut values: Vec<String> =
            lines[kind].iter().map(|line| line[field].as_str().unwrap_or("-").to_owned()).collect();
        values.sort();
        values
    };
    let id = dashboard.account.to_string();
    for (kind, field, expected) in [
        ("account", "id", vec![&*id]),
        ("account", "plan", vec!["agency"]),
        ("click", "country", vec!["AT", "CH", "DE"]),
        ("click", "link_id", vec![&redirect; 3]),
        ("click", "kind", vec!["click"; 3]),
        ("domain", "hostname", vec!["go.customer.com"]),
        ("domain", "status", vec!["pending"]),
        ("domain", "root_url", vec!["https://example.com/shop"]),
        ("domain", "asset_links", vec![FILE]),
        ("group", "name", vec!["Spring"]),
        ("key", "name", vec!["-", "Script"]),
        ("landing", "title", vec!["Menu"]),
        ("member", "email", vec!["owner@example.com", "viewer@example.com"]),
        ("member", "role", vec!["owner", "viewer"]),
        ("pixel", "pixel_id", vec!["123456789012345"]),
        ("pixel_use", "id", vec![&redirect]),
        ("redirect", "group_id", vec![&group]),
        ("tag", "name", vec!["left", "sale"]),
    ] {
        assert_eq!(of(kind, field), expected, "{kind} {field}");
    }
    assert_eq!(lines["pixel_use"][0]["pixel_ids"], serde_json::json!([pixel]));
    let script = lines["key"].iter().find(|key| key["name"] == "Script").unwrap();
    assert_eq!(script["scopes"], serde_json::json!(["read", "links"]));
    assert!(script["expires_at"].is_string() && script["created_by"].is_string(), "{script}");
    let content = &lines["page_content"][0];
    assert_eq!((&content["id"], &content["page"]["description"]), (&landing.into(), &"Fresh bread".into()));
    assert_eq!(content["page"]["widgets"][0]["text"], "Opening hours");
    // The last characters of a key name it; the rest is a secret.
    let hidden = secret.get(8..secret.len() - 4).unwrap();
    for word in [hidden, "hash", "password", "second_factor\":{"] {
        assert!(!file.body.contains(word), "{word}: {}", file.body);
    }
    // Clicks are asked for at most once a minute.
    let again = viewer.get(&dashboard.path("export-everything.jsonl")).await;
    assert!(again.status == 429 && !again.header("retry-after").is_empty(), "{}", again.body);
    assert!(again.body.contains("one file a minute"), "{}", again.body);
    assert!(!again.body.contains("This browser sent more requests"), "{}", again.body);

    let same = imported(&dashboard, &file.body).await;
    let ignored = 14;
    assert_eq!(same, ImportCounts { unchanged: 3, ignored, ..ImportCounts::default() });
    let new = Dashboard::start().await;
    let elsewhere = imported(&new, &file.body).await;
    assert_eq!(elsewhere, ImportCounts { created: 3, ignored, ..ImportCounts::default() });
    let tags = new.app.store.tags(new.account, PageLimit::MAX, None).await.unwrap().items;
    let names: Vec<&str> = tags.iter().map(|tag| tag.name.as_str()).collect();
    assert_eq!(names, ["sale"], "links bring their tags, and nothing else does");
}

/// An account whose redirect has three clicks. Returns it with the file of clicks in this format, and the id of the redirect.
async fn file_of_clicks(format: &str) -> (Answer, String) {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let redirect = [
        ("kind", "redirect"),
        ("target_url", "https://example.com/"),
        ("slug", "sale"),
        ("analytics_enabled", "on"),
        ("is_active", "on"),
    ];
    let redirect = editor.post(&dashboard.path("links"), &redirect).await.followed_id();
    for (visitor, country) in [(1, "DE"), (2, ""), (3, "CH")] {
        let at = dashboard.app.clock.now();
        record(&dashboard, &redirect, at, RecordedKind::Click, visitor, country, "=1+1");
        dashboard.memory.clock.advance(Duration::from_secs(1));
    }
    (editor.get(&dashboard.path(&format!("export-clicks.{format}"))).await, redirect)
}

#[actix_web::test]
async fn d66_the_files_of_clicks_have_every_click_in_order() {
    let countries = ["DE", "", "CH"];
    let (lines, redirect) = file_of_clicks("jsonl").await;
    assert_eq!((lines.status, lines.header("content-type")), (200, "application/x-ndjson"), "{}", lines.body);
    let clicks: Vec<Value> = lines.body.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(clicks.iter().map(|click| click["country"].as_str().unwrap()).collect::<Vec<_>>(), countries);
    for click in &clicks {
        assert_eq!((&click["link_id"], &click["kind"]), (&Value::from(&*redirect), &"click".into()));
        assert_eq!(click["utm_campaign"], "=1+1", "{click}");
    }
    let (table, redirect) = file_of_clicks("csv").await;
    assert_eq!((table.status, table.header("content-type")), (200, "text/csv; charset=utf-8"));
    let rows: Vec<Vec<&str>> = table.body.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len(), 4, "a header and three clicks: {}", table.body);
    let column = |name: &str| {
        let place = rows[0].iter().position(|cell| *cell == name).unwrap();
        rows[1..].iter().map(|row| row[place]).collect::<Vec<_>>()
    };
    assert_eq!(column("country"), countries);
    assert_eq!(column("link_id"), [&*redirect; 3]);
    assert_eq!(column("utm_campaign"), ["'=1+1"; 3], "no spreadsheet runs it");
}
