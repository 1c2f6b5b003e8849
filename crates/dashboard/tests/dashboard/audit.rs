//! The audit: what is recorded, and who reads it (D78).

use std::time::Duration;

use serde_json::Value;
use signpost_app::people::users;
use signpost_app::{Operator, accounts, keys};
use signpost_domain::{PlanName, Role};

use crate::harness::{Browser, Dashboard};

/// The entries of an export, newest first.
async fn entries(browser: &Browser, path: &str) -> Vec<Value> {
    let export = browser.get(path).await;
    assert_eq!(
        (export.status, export.header("content-type")),
        (200, "application/x-ndjson"),
        "{}",
        export.body
    );
    assert!(export.header("content-disposition").contains("audit.ndjson"));
    export.body.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn actions(entries: &[Value]) -> Vec<&str> {
    entries.iter().map(|entry| entry["action"].as_str().unwrap()).collect()
}

async fn a_link(browser: &Browser) -> String {
    let form = [("kind", "redirect"), ("target_url", "https://example.com/"), ("is_active", "on")];
    browser.post(&browser.dashboard.path("links"), &form).await.followed_id()
}

#[actix_web::test]
async fn d78_deletions_and_changes_of_people_and_keys_are_recorded_with_their_network() {
    let dashboard = Dashboard::start().await;
    let owner = dashboard.member("owner@example.com", Role::Owner).await;
    let path = |screen: &str| dashboard.path(screen);
    let (first, second, third) = (a_link(&owner).await, a_link(&owner).await, a_link(&owner).await);
    owner.post(&path(&format!("links/{first}/delete")), &[]).await;
    let bulk = [("action", "delete"), ("confirmed", "yes"), ("ids", &second), ("ids", &third)];
    owner.post(&path("links/bulk"), &bulk).await;
    owner.post(&path("groups"), &[("name", "Menus")]).await;
    let groups = owner.get(&path("groups")).await;
    let group = groups.body.split("groups/grp_").nth(1).unwrap().split(['"', '/']).next().unwrap().to_owned();
    owner.post(&path(&format!("groups/grp_{group}/delete")), &[]).await;
    owner.post(&path("pixels"), &[("pixel_type", "meta"), ("pixel_id", "123456789012345")]).await;
    let pixels = owner.get(&path("pixels")).await;
    let pixel = pixels.body.split("pixels/pxl_").nth(1).unwrap().split('/').next().unwrap().to_owned();
    owner.post(&path(&format!("pixels/pxl_{pixel}/delete")), &[]).await;
    owner.post(&path("keys"), &[("expires", "never"), ("all_scopes", "yes")]).await;

    let entries = entries(&owner, &path("audit.ndjson")).await;
    let expected = [
        "key_issued",
        "pixel_deleted",
        "group_deleted",
        "links_deleted",
        "links_deleted",
        "member_joined",
        "ticket_made",
        "account_created",
    ];
    assert_eq!(actions(&entries), expected, "{entries:#?}");
    assert_eq!(entries[4]["object"], first.as_str());
    let both = entries[3]["object"].as_str().unwrap();
    assert!(both.contains(&second) && both.contains(&third), "a bulk request is one entry: {both}");
    for entry in &entries[..5] {
        assert_eq!((&entry["actor"], &entry["network"]), (&"user".into(), &"203.0.113.0/24".into()));
        assert_eq!(entry["account_id"], dashboard.account.to_string());
    }
    for by_command in &entries[6..] {
        assert_eq!((&by_command["actor"], &by_command["network"]), (&"command".into(), &Value::Null));
    }
    let page = owner.get(&path("audit")).await;
    assert_eq!(page.body.matches("Deleted links").count(), 2, "{}", page.body);
    assert!(
        page.body.contains(">Ada (owner@example.com)<") && page.body.contains("The command line"),
        "{}",
        page.body
    );
}

#[actix_web::test]
async fn d78_commands_about_plan_suspension_and_keys_are_recorded() {
    let dashboard = Dashboard::start().await;
    let owner = dashboard.member("owner@example.com", Role::Owner).await;
    let (app, account) = (&dashboard.app, dashboard.account);
    let (key, _) = keys::issue(app, account, None).await.unwrap();
    keys::revoke(app, key.id).await.unwrap();
    accounts::set_plan(app, &Operator::COMMAND, account, &PlanName::parse("free").unwrap()).await.unwrap();
    accounts::suspend(app, &Operator::COMMAND, account).await.unwrap();
    let while_suspended = entries(&owner, &dashboard.path("audit.ndjson")).await;
    let expected = ["account_suspended", "plan_changed", "key_revoked", "key_issued"];
    assert_eq!(actions(&while_suspended)[..4], expected, "members of a suspended account read");
    assert_eq!(while_suspended[1]["object"], format!("{account} to free"));
    accounts::resume(app, &Operator::COMMAND, account).await.unwrap();
    let operator = dashboard.invited("o@example.com", None, true).await;
    accounts::delete(app, &Operator::COMMAND, account).await.unwrap();
    assert_eq!(owner.get(&dashboard.path("audit")).await.status, 404);
    let all = entries(&operator, "/audit.ndjson").await;
    assert_eq!(actions(&all)[0], "account_deleted");
    assert_eq!(all.iter().filter(|entry| entry["action"] == "account_suspended").count(), 1);
}

#[actix_web::test]
async fn d78_operators_read_the_audit_of_the_installation_with_a_confirmed_password() {
    let dashboard = Dashboard::start().await;
    let operator = dashboard.invited("o@example.com", None, true).await;
    let owner = dashboard.member("owner@example.com", Role::Owner).await;
    for path in ["/audit", "/audit.ndjson"] {
        assert_eq!(owner.get(path).await.status, 404, "an owner is no operator");
    }
    let all = entries(&operator, "/audit.ndjson").await;
    assert!(actions(&all).contains(&"operator_made") && actions(&all).contains(&"member_joined"), "{all:?}");
    let page = operator.get("/audit").await;
    assert!(page.body.contains(&dashboard.account.to_string()), "{}", page.body);
    assert!(operator.get("/accounts").await.body.contains("href=\"/audit\""));
    dashboard.memory.clock.advance(Duration::from_mins(16));
    for path in ["/audit", "/audit.ndjson"] {
        assert_eq!(operator.get(path).await.location(), "/confirm?next=%2Faudit");
    }
}

/// More entries than a page has, and than one read of the export.
#[actix_web::test]
async fn d78_a_long_audit_is_paged_and_exported_whole() {
    let dashboard = Dashboard::start().await;
    let owner = dashboard.member("owner@example.com", Role::Owner).await;
    for _ in 0..210 {
        keys::issue(&dashboard.app, dashboard.account, None).await.unwrap();
    }
    let entries = entries(&owner, &dashboard.path("audit.ndjson")).await;
    assert_eq!(entries.len(), 213);
    let ids: std::collections::BTreeSet<_> =
        entries.iter().map(|entry| entry["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), 213);
    let mut path = dashboard.path("audit");
    let mut shown = 0;
    loop {
        let page = owner.get(&path).await;
        shown += page.body.matches("<time>").count();
        let Some((before, _)) = page.body.split_once("\">Older") else { break };
        path = before.rsplit("href=\"").next().unwrap().replace("&amp;", "&").replace("&#38;", "&");
        assert!(shown < 300, "{path}");
    }
    assert_eq!(shown, 213);
}

#[actix_web::test]
async fn d78_what_changes_nothing_is_not_recorded() {
    let dashboard = Dashboard::start().await;
    let owner = dashboard.member("owner@example.com", Role::Owner).await;
    let operator = dashboard.invited("o@example.com", None, true).await;
    let app = &dashboard.app;
    let (key, _) = keys::issue(app, dashboard.account, None).await.unwrap();
    owner.post("/me/sessions/end-others", &[]).await;
    for _ in 0..2 {
        owner.post(&dashboard.path(&format!("keys/{}/revoke", key.id)), &[]).await;
        dashboard.memory.clock.advance(Duration::from_secs(1));
        keys::revoke(app, key.id).await.unwrap();
    }
    let user = "owner@example.com".parse().unwrap();
    for _ in 0..2 {
        users::disable(app, &Operator::COMMAND, &user).await.unwrap();
        users::sign_out(app, &Operator::COMMAND, &user).await.unwrap();
    }
    for _ in 0..2 {
        users::enable(app, &Operator::COMMAND, &user).await.unwrap();
    }
    let entries = entries(&operator, "/audit.ndjson").await;
    let expected = ["user_enabled", "user_disabled", "key_revoked", "key_issued"];
    assert_eq!(actions(&entries)[..4], expected, "{entries:#?}");
}
