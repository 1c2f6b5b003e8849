//! Who gets in: every route for every kind of person (D69).

use signpost_app::{Operator, accounts};
use signpost_dashboard::{Access, ROUTES, RouteInfo, RouteMethod};
use signpost_domain::Role;

use crate::harness::{Answer, Browser, COOKIE, Dashboard, ORIGIN};

/// What somebody gets: in, led to the sign-in, refused, or told that nothing is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Gets {
    In,
    SignIn,
    Refused,
    Nothing,
}

impl Gets {
    fn of(answer: &Answer) -> Self {
        match answer.status {
            303 if answer.location().starts_with("/sign-in?") || answer.location() == "/sign-in" => {
                Self::SignIn
            }
            403 if answer.body.contains("Your session has ended") => Self::SignIn,
            403 => Self::Refused,
            409 | 422 if answer.body.contains("is suspended, so nothing") => Self::Refused,
            404 if answer.body.contains("There is nothing here") => Self::Nothing,
            _ => Self::In,
        }
    }
}

/// The path of a route in the account. The objects that it names do not exist, except for a link.
fn path_of(dashboard: &Dashboard, route: &RouteInfo, link: &str) -> String {
    let id = match route.pattern {
        pattern if pattern.contains("/links/") => link.to_owned(),
        pattern if pattern.contains("/domains/") => format!("dom_{}", "0".repeat(32)),
        pattern if pattern.contains("/groups/") => format!("grp_{}", "0".repeat(32)),
        pattern if pattern.contains("/tags/") => format!("tag_{}", "0".repeat(32)),
        pattern if pattern.contains("/pixels/") => format!("pxl_{}", "0".repeat(32)),
        pattern if pattern.contains("/keys/") => format!("key_{}", "0".repeat(32)),
        pattern if pattern.contains("/operator/accounts/") => format!("acc_{}", "0".repeat(32)),
        pattern if pattern.contains("/members/") || pattern.contains("/operator/users/") => {
            format!("usr_{}", "0".repeat(32))
        }
        _ => format!("ses_{}", "0".repeat(32)),
    };
    route
        .pattern
        .replace("{account}", &dashboard.account.to_string())
        .replace("{id}", &id)
        .replace("{token}", &"0".repeat(64))
        .replace("{name}", "nothing")
}

/// A form that is valid everywhere it matters: it must not be refused before the permission is asked for.
const FORM: [(&str, &str); 12] = [
    ("title", "Title"),
    ("hostname", "go.customer.com"),
    ("name", "Name"),
    ("target_url", "https://example.com/"),
    ("revision", "1"),
    ("pixel_type", "meta"),
    ("pixel_id", "123456789012345"),
    ("expires", "never"),
    ("all_scopes", "yes"),
    ("action", "activate"),
    ("email", "invited@example.com"),
    ("role", "viewer"),
];

async fn call(browser: &Browser, route: &RouteInfo, path: &str, link: &str) -> Answer {
    match route.method {
        RouteMethod::Get => browser.get(path).await,
        RouteMethod::Post => {
            let mut form = FORM.to_vec();
            form.push(("ids", link));
            // The address that it has: with another one, the form of the deletion would confirm it.
            if route.pattern == "/{account}/settings" {
                form.retain(|(name, _)| *name != "email");
                form.push(("email", "team@example.com"));
            }
            browser.post(path, &form).await
        }
    }
}

/// Whether an answer that was let in may still say that the object does not exist.
fn names_nothing(route: &RouteInfo) -> bool {
    let is_link = route.pattern.contains("/links/{id}");
    let is_invitation = route.pattern.ends_with("/withdraw");
    (route.pattern.contains("{id}") && !is_link) || route.pattern.contains("{name}") || is_invitation
}

#[actix_web::test]
async fn d69_every_route_for_every_kind_of_person() {
    let (dashboard, _) = Dashboard::with_provider(ORIGIN).await;
    let elsewhere = dashboard.account("else@example.com", "agency").await;
    let with_key = dashboard.browser();
    let key = dashboard.key().await;
    with_key.cookies.borrow_mut().insert(COOKIE.to_owned(), key);
    let people: [(&str, Browser, Option<Role>, bool); 7] = [
        ("anonymous", dashboard.browser(), None, false),
        ("an API key as cookie", with_key, None, false),
        ("viewer", dashboard.member("viewer@example.com", Role::Viewer).await, Some(Role::Viewer), true),
        ("editor", dashboard.member("editor@example.com", Role::Editor).await, Some(Role::Editor), true),
        ("owner", dashboard.member("owner@example.com", Role::Owner).await, Some(Role::Owner), true),
        (
            "stranger",
            dashboard.invited("s@example.com", Some((elsewhere, Role::Owner)), false).await,
            None,
            true,
        ),
        ("operator", dashboard.invited("o@example.com", None, true).await, None, true),
    ];
    for (who, browser, role, is_user) in &people {
        for route in ROUTES {
            // What ends the session, or the membership, comes at the end of another test.
            if ["/sign-out", "/me/password", "/{account}/members/leave"].contains(&route.pattern) {
                continue;
            }
            // A link of its own, because some routes delete it.
            let link = link_for(&dashboard, route).await;
            let path = path_of(&dashboard, route, &link);
            let gets = Gets::of(&call(browser, route, &path, &link).await);
            let expected =
                match (route.access, is_user, role) {
                    (Access::Anybody, ..) => continue,
                    (_, false, _) => Gets::SignIn,
                    (Access::User, true, _) => Gets::In,
                    (Access::Operator, true, _) => {
                        if *who == "operator" {
                            Gets::In
                        } else {
                            Gets::Nothing
                        }
                    }
                    (Access::Member(_), true, None) => Gets::Nothing,
                    (Access::Member(permission), true, Some(role)) => {
                        if role.permissions().contains(permission) { Gets::In } else { Gets::Refused }
                    }
                };
            let is_expected =
                gets == expected || (expected == Gets::In && gets == Gets::Nothing && names_nothing(route));
            assert!(is_expected, "{who} at {:?} {}: {gets:?}, not {expected:?}", route.method, route.pattern);
        }
    }
}

/// Only landing pages have an editor.
fn is_about_a_page(route: &RouteInfo) -> bool {
    route.pattern.contains("/links/{id}/page")
}

async fn link_for(dashboard: &Dashboard, route: &RouteInfo) -> String {
    link_of_kind(dashboard, if is_about_a_page(route) { "landing" } else { "redirect" }).await
}

async fn link_of_kind(dashboard: &Dashboard, kind: &str) -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let email = format!("maker{}@example.com", NEXT.fetch_add(1, Ordering::Relaxed));
    let maker = dashboard.member(&email, Role::Editor).await;
    let form = [
        ("kind", kind),
        ("target_url", "https://example.com/"),
        ("title", "Title"),
        ("theme", "auto"),
        ("is_active", "on"),
    ];
    maker.post(&dashboard.path("links"), &form).await.followed_id()
}

#[actix_web::test]
async fn d76_members_of_a_suspended_account_read_and_change_nothing() {
    let dashboard = Dashboard::start().await;
    let owner = dashboard.member("owner@example.com", Role::Owner).await;
    let (redirect, page) =
        (link_of_kind(&dashboard, "redirect").await, link_of_kind(&dashboard, "landing").await);
    accounts::suspend(&dashboard.app, &Operator::COMMAND, dashboard.account).await.unwrap();
    for route in ROUTES {
        let Access::Member(permission) = route.access else { continue };
        if route.pattern == "/{account}/members/leave" {
            continue;
        }
        let link = if is_about_a_page(route) { &page } else { &redirect };
        let path = path_of(&dashboard, route, link);
        let answer = call(&owner, route, &path, link).await;
        let expected = if permission.is_for_changes() { Gets::Refused } else { Gets::In };
        let gets = Gets::of(&answer);
        let is_expected =
            gets == expected || (expected == Gets::In && gets == Gets::Nothing && names_nothing(route));
        assert!(is_expected, "{gets:?} {:?} {}: {}", route.method, route.pattern, answer.body);
    }
    let list = owner.get(&dashboard.path("links")).await;
    assert!(list.body.contains("suspended"), "{}", list.body);
}

#[actix_web::test]
async fn d2_malformed_and_foreign_accounts_look_the_same() {
    let dashboard = Dashboard::start().await;
    let owner = dashboard.member("owner@example.com", Role::Owner).await;
    let elsewhere = dashboard.account("else@example.com", "agency").await;
    let foreign = owner.get(&format!("/{elsewhere}/links")).await;
    for path in ["/acc_1/links", "/nowhere/links", "/acc_00000000000000000000000000000000/links"] {
        let answer = owner.get(path).await;
        assert_eq!((answer.status, &answer.body), (404, &foreign.body), "{path}");
    }
    assert_eq!(foreign.status, 404);
}

#[actix_web::test]
async fn d76_the_dashboard_costs_no_quota() {
    let dashboard = Dashboard::start().await;
    let owner = dashboard.member("owner@example.com", Role::Owner).await;
    for _ in 0..100 {
        owner.get(&dashboard.path("links")).await;
    }
    let usage = owner.get(&dashboard.path("usage")).await;
    assert!(usage.body.contains("0 of 10,000"), "{}", usage.body);
}
