//! The settings of an account: its export and its deletion (D69, D73).

use std::time::Duration;

use signpost_domain::Role;

use crate::harness::{Dashboard, PASSWORD};

#[actix_web::test]
async fn d69_every_member_exports_all_groups_and_links() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let viewer = dashboard.member("viewer@example.com", Role::Viewer).await;
    let empty = viewer.get(&dashboard.path("export.csv")).await;
    assert_eq!((empty.status, empty.body.lines().count()), (200, 1), "the header alone: {}", empty.body);
    assert_eq!(viewer.get(&dashboard.path("export.jsonl")).await.body, "");
    for number in 0..105 {
        let (slug, name) = (format!("link-{number}"), format!("=1+{number}"));
        let form = [
            ("kind", "redirect"),
            ("target_url", "https://example.com/"),
            ("slug", slug.as_str()),
            ("name", name.as_str()),
            ("is_active", "on"),
        ];
        assert_eq!(editor.post(&dashboard.path("links"), &form).await.status, 303);
    }
    let table = viewer.get(&dashboard.path("export.csv")).await;
    assert_eq!(table.header("content-type"), "text/csv; charset=utf-8");
    assert!(table.header("content-disposition").contains("\"links-team-example-com-20"));
    assert_eq!(table.body.lines().count(), 106, "one header: {}", table.body);
    let header = table.body.lines().next().unwrap();
    assert_eq!(table.body.lines().filter(|line| *line == header).count(), 1);
    let lines = viewer.get(&dashboard.path("export.jsonl")).await.body;
    assert_eq!(lines.lines().count(), 105);
    for line in lines.lines() {
        let record: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(record["target_url"], "https://example.com/", "{line}");
    }
    let page = viewer.get(&dashboard.path("settings")).await;
    assert!(
        page.body.contains("export.csv") && page.body.contains("Only owners can delete"),
        "{}",
        page.body
    );
}

#[actix_web::test]
async fn d73_an_owner_deletes_the_account_after_its_losses_were_counted() {
    let dashboard = Dashboard::start().await;
    let owner = dashboard.member("owner@example.com", Role::Owner).await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let form = [("kind", "redirect"), ("target_url", "https://example.com/"), ("is_active", "on")];
    owner.post(&dashboard.path("links"), &form).await.followed_id();
    let path = dashboard.path("settings/delete");
    assert_eq!(editor.get(&path).await.status, 403);
    assert_eq!(editor.post(&path, &[("email", "team@example.com")]).await.status, 403);
    dashboard.memory.clock.advance(Duration::from_mins(16));
    assert!(owner.get(&path).await.location().starts_with("/confirm?next="));
    assert!(owner.post(&path, &[("email", "team@example.com")]).await.location().starts_with("/confirm"));
    owner.post("/confirm", &[("password", PASSWORD)]).await;
    let asked = owner.get(&path).await;
    for part in ["1 link", "2 members", "team@example.com"] {
        assert!(asked.body.contains(part), "{part}: {}", asked.body);
    }
    let refused = owner.post(&path, &[("email", "owner@example.com")]).await;
    assert_eq!(refused.status, 422);
    assert!(refused.body.contains("value=\"owner@example.com\""), "{}", refused.body);
    assert_eq!(owner.get(&dashboard.path("links")).await.status, 200);
    let deleted = owner.post(&path, &[("email", "TEAM@example.com")]).await;
    assert_eq!(deleted.location(), "/accounts?said=account-deleted");
    assert!(owner.get(deleted.location()).await.body.contains("The account is deleted."));
    assert_eq!(owner.get(&dashboard.path("links")).await.status, 404);
    assert!(dashboard.app.store.account(dashboard.account).await.unwrap().is_none());
    // Operators find in the audit who did it.
    let operator = dashboard.invited("operator@example.com", None, true).await;
    let audit = operator.get("/audit?action=account_deleted").await;
    assert!(audit.body.contains("team@example.com") && audit.body.contains("Ada"), "{}", audit.body);
}

#[actix_web::test]
async fn d69_an_owner_renames_the_account() {
    let dashboard = Dashboard::start().await;
    dashboard.account("other@example.com", "agency").await;
    let owner = dashboard.member("owner@example.com", Role::Owner).await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let path = dashboard.path("settings");
    let form = [("name", " Bakery <b> "), ("email", "Office@example.com")];
    assert_eq!(editor.post(&path, &form).await.status, 403);
    assert!(!editor.get(&path).await.body.contains("name=\"email\""));
    let taken = owner.post(&path, &[("name", "Bakery"), ("email", "OTHER@example.com")]).await;
    assert_eq!(taken.status, 422);
    assert!(taken.body.contains("Another account has this contact address"), "{}", taken.body);
    assert!(taken.body.contains("value=\"OTHER@example.com\""), "{}", taken.body);
    let bad = owner.post(&path, &[("name", &"x".repeat(300)), ("email", "nobody")]).await;
    assert_eq!((bad.status, bad.body.matches("aria-invalid").count()), (422, 2), "{}", bad.body);
    assert_eq!(owner.post(&path, &form).await.location(), format!("{path}?said=saved"));
    let page = editor.get(&path).await.body;
    assert!(page.contains("Bakery &#60;b&#62;") && page.contains("Office@example.com"), "{page}");
    let audit = owner.get(&dashboard.path("audit")).await.body;
    assert!(audit.contains("Changed the account"), "{audit}");
    dashboard.memory.clock.advance(Duration::from_mins(16));
    let waits = owner.post(&path, &[("name", ""), ("email", "new@example.com")]).await;
    let (_, next) = waits.location().split_once("/confirm?next=").unwrap();
    let next = url::form_urlencoded::parse(format!("next={next}").as_bytes()).next().unwrap().1.into_owned();
    let kept = owner.get(&next).await.body;
    assert!(kept.contains("value=\"new@example.com\"") && kept.contains("Not saved yet."), "{kept}");
    assert!(!editor.get(&path).await.body.contains("new@example.com"));
}

#[actix_web::test]
async fn d69_every_member_exports_the_content_of_pages_and_single_clicks() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let viewer = dashboard.member("viewer@example.com", Role::Viewer).await;
    for file in ["export-pages.jsonl", "export-clicks.jsonl"] {
        let empty = viewer.get(&dashboard.path(file)).await;
        assert_eq!((empty.status, empty.body.as_str()), (200, ""), "{file}");
    }
    for number in 0..103 {
        let (slug, title) = (format!("page-{number}"), format!("Title \"{number}\""));
        let form = [
            ("kind", "landing"),
            ("title", title.as_str()),
            ("name", title.as_str()),
            ("slug", slug.as_str()),
            ("theme", "dark"),
            ("is_active", "on"),
        ];
        assert_eq!(editor.post(&dashboard.path("links"), &form).await.status, 303);
    }
    let pages = viewer.get(&dashboard.path("export-pages.jsonl")).await;
    assert_eq!(pages.header("content-type"), "application/x-ndjson");
    assert!(pages.header("content-disposition").contains("\"pages-team-example-com-20"));
    let lines: Vec<serde_json::Value> =
        pages.body.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 103);
    assert_eq!(lines[0]["slug"], "page-102");
    assert_eq!(lines[0]["title"], "Title \"102\"", "{}", lines[0]);
    assert_eq!(lines[0]["page"], serde_json::json!({ "theme": "dark" }), "{}", lines[0]);
    // One export of clicks a minute.
    let again = viewer.get(&dashboard.path("export-clicks.csv")).await;
    assert_eq!(again.status, 429);
    assert!(again.header("retry-after").parse::<u32>().is_ok_and(|seconds| seconds <= 60));
}
