//! The audit: what is recorded, and who reads it (D78).

use std::time::Duration;

use serde_json::Value;
use signpost_app::people::users;
use signpost_app::{Operator, accounts, keys};
use signpost_domain::{PlanName, Role, Timestamp};

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
    let name = export.header("content-disposition");
    assert!(name.contains("\"audit-") && name.ends_with(".ndjson\""), "{name}");
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
    assert_eq!(page.body.matches("<b class=\"name\">Deleted links").count(), 2, "{}", page.body);
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
    assert_eq!(all.iter().filter(|entry| entry["action"] == "account_suspended").count(), 2);
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
    let named = format!("<bdi>team@example.com</bdi> {}", dashboard.account);
    assert!(page.body.contains(&named), "{}", page.body);
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

#[actix_web::test]
async fn d78_the_page_and_the_export_have_the_same_filter() {
    let dashboard = Dashboard::start().await;
    let owner = dashboard.member("owner@example.com", Role::Owner).await;
    let path = dashboard.path("audit");
    for name in ["Menus", "Drinks"] {
        owner.post(&dashboard.path("groups"), &[("name", name)]).await;
    }
    let groups = owner.get(&dashboard.path("groups")).await;
    let group = groups.body.split("groups/grp_").nth(1).unwrap().split(['"', '/']).next().unwrap().to_owned();
    owner.post(&dashboard.path(&format!("groups/grp_{group}/delete")), &[]).await;
    owner.post(&dashboard.path("keys"), &[("expires", "never"), ("all_scopes", "yes")]).await;
    for (query, expected) in [
        ("action=key_issued", vec!["key_issued"]),
        ("who=owner%40example.com", vec!["key_issued", "group_deleted", "member_joined"]),
        ("who=OWNER%40EXAMPLE.COM&action=group_deleted", vec!["group_deleted"]),
        ("who=Command", vec!["ticket_made", "account_created"]),
        ("who=nobody%40example.com", vec![]),
        (&format!("q=GRP_{group}"), vec!["group_deleted"]),
        ("q=%00", vec![]),
        ("from=2030-01-01", vec![]),
        ("to=2020-01-01", vec![]),
    ] {
        let exported = entries(&owner, &format!("{path}.ndjson?{query}")).await;
        assert_eq!(actions(&exported), expected, "{query}");
        let shown = owner.get(&format!("{path}?{query}")).await;
        assert_eq!(shown.body.matches("<time>").count(), expected.len(), "{query}: {}", shown.body);
        assert_eq!(shown.body.contains("No entry matches"), expected.is_empty(), "{query}");
    }
    for (query, problem) in [
        (
            "who=me",
            "Who did it: Must be an e-mail address, the id of a user (usr_…) or of a key (key_…), or the word “command”.",
        ),
        ("action=nothing", "What was done: Must be one of the list."),
        ("from=yesterday", "From: "),
        ("from=2026-02-02&to=2026-02-01", "must not be after"),
    ] {
        let shown = owner.get(&format!("{path}?{query}")).await;
        assert!(shown.body.contains(problem), "{query}: {}", shown.body);
        // A file would be saved, so the page is opened with what was sent.
        let export = owner.get(&format!("{path}.ndjson?{query}")).await;
        assert_eq!((export.status, export.location()), (303, format!("{path}?{query}").as_str()));
    }
    // An account in the query of its own audit selects nothing else.
    let own = entries(&owner, &format!("{path}.ndjson?account=else%40example.com")).await;
    assert_eq!(own.len(), 5);
}

#[actix_web::test]
async fn d78_days_of_a_filter_begin_in_the_persons_time_zone() {
    let dashboard = Dashboard::start().await;
    dashboard.memory.clock.set(Timestamp::parse("2026-03-01T23:30:00Z").unwrap());
    // In Berlin, where it is an hour later than in UTC.
    let owner = dashboard.member("owner@example.com", Role::Owner).await;
    keys::issue(&dashboard.app, dashboard.account, None).await.unwrap();
    let found = async |query: &str| {
        let path = dashboard.path(&format!("audit.ndjson?action=key_issued&{query}"));
        entries(&owner, &path).await.len()
    };
    assert_eq!(found("from=2026-03-02&to=2026-03-02").await, 1);
    assert_eq!(found("to=2026-03-01").await, 0);
    assert_eq!(found("from=2026-03-03").await, 0);
}

#[actix_web::test]
async fn d78_operators_filter_by_account_and_by_user() {
    let dashboard = Dashboard::start().await;
    let operator = dashboard.invited("o@example.com", None, true).await;
    let elsewhere = dashboard.account("else@example.com", "free").await;
    dashboard.member("owner@example.com", Role::Owner).await;
    for account in ["else%40example.com".to_owned(), elsewhere.to_string()] {
        let of_account = entries(&operator, &format!("/audit.ndjson?account={account}")).await;
        assert_eq!(actions(&of_account), ["account_created"]);
        let export = operator.get(&format!("/audit.ndjson?account={account}")).await;
        assert!(export.header("content-disposition").contains("\"audit-else-example-com-"), "{export:?}");
    }
    let all = operator.get("/audit.ndjson").await;
    assert!(all.header("content-disposition").contains("\"audit-20"), "{all:?}");
    let by_operator = entries(&operator, "/audit.ndjson?who=o%40example.com").await;
    assert_eq!(actions(&by_operator), ["signed_in", "operator_made", "user_created"]);
    let page = operator.get("/audit?account=else%40example.com&who=command").await;
    assert!(page.body.contains("value=\"else@example.com\"") && page.body.contains("value=\"command\""));
    assert!(page.body.contains("/audit.ndjson?who=command&#38;account=else%40example.com"), "{}", page.body);
    accounts::delete(&dashboard.app, &Operator::COMMAND, elsewhere).await.unwrap();
    let outlived = entries(&operator, &format!("/audit.ndjson?account={elsewhere}")).await;
    assert_eq!(
        actions(&outlived),
        ["account_deleted", "account_suspended", "account_created"],
        "the audit outlives accounts"
    );
    let export = operator.get(&format!("/audit.ndjson?account={elsewhere}")).await;
    assert!(export.header("content-disposition").contains(&format!("\"audit-{elsewhere}-")), "{export:?}");
    // The query goes on to the page as it was sent.
    for (query, problem) in [
        ("account=else%40example.com&from=", "No entry matches"),
        ("account=else&q=a+b", "Account: "),
        ("who=me&x=%2Faudit.ndjson", "Who did it: "),
    ] {
        let export = operator.get(&format!("/audit.ndjson?{query}")).await;
        assert_eq!((export.status, export.location()), (303, format!("/audit?{query}").as_str()));
        let page = operator.get(export.location()).await.body;
        assert!(page.contains(problem), "{query}: {page}");
    }
}
