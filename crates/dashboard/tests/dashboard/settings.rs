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
    assert!(table.header("content-disposition").contains("links.csv"));
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
