//! What pages say before a second factor is required or turned off, and what becomes of forms meanwhile (ADR 73).

use std::time::Duration;

use signpost_app::Operator;
use signpost_app::people::users;
use signpost_domain::{AccountId, Email, Membership, Role};

use crate::harness::{Answer, Browser, Dashboard, PASSWORD};
use crate::second_factor::{SET_UP, ada_with_factor, needed_before, set_up, set_up_at};

const PAGE: &str = "/me/second-factor";

/// An owner with a second factor, and an editor without one.
async fn people(dashboard: &Dashboard) -> (Browser, Browser) {
    let owner = dashboard.member("owner@example.com", Role::Owner).await;
    set_up(&owner).await;
    (owner, dashboard.member("editor@example.com", Role::Editor).await)
}

/// Makes a user a viewer of an account.
async fn join(dashboard: &Dashboard, email: &str, account: AccountId) {
    let store = &dashboard.app.store;
    let user = store.user_with_email(&Email::parse(email).unwrap()).await.unwrap().unwrap();
    let created_at = dashboard.app.clock.now();
    let membership = Membership { user_id: user.id, account_id: account, role: Role::Viewer, created_at };
    let mut work = store.begin().await.unwrap();
    assert!(work.put_member(&membership).await.unwrap());
    work.commit().await.unwrap();
}

async fn require(owner: &Browser) {
    let path = owner.dashboard.path("settings/second-factor");
    let required = owner.post(&path, &[("required", "true")]).await;
    assert_eq!(required.location(), owner.dashboard.path("settings?said=factor-required"));
}

#[actix_web::test]
async fn the_settings_say_how_many_members_have_to_set_one_up() {
    let dashboard = Dashboard::start().await;
    let (owner, editor) = people(&dashboard).await;
    let path = dashboard.path("settings");
    let page = owner.get(&path).await;
    assert!(page.body.contains("1 of 2 members signs in with a password alone."), "{}", page.body);
    assert!(
        !editor.get(&path).await.body.contains("password alone."),
        "others would read who is easily taken over"
    );
    let none_missing = "All members have a second factor or need none.";
    let reference = "editor@example.com".parse().unwrap();
    users::disable(&dashboard.app, &Operator::COMMAND, &reference).await.unwrap();
    assert!(owner.get(&path).await.body.contains(none_missing), "disabled users do not count");
    users::enable(&dashboard.app, &Operator::COMMAND, &reference).await.unwrap();
    editor.sign_in("editor@example.com", PASSWORD).await;
    set_up(&editor).await;
    assert!(owner.get(&path).await.body.contains(none_missing));
    require(&owner).await;
    assert!(!owner.get(&path).await.body.contains(none_missing));
    for number in 0..100 {
        dashboard.member(&format!("m{number}@example.com"), Role::Viewer).await;
    }
    owner.post(&dashboard.path("settings/second-factor"), &[("required", "false")]).await;
    let many = owner.get(&path).await;
    assert!(
        many.body.contains("Of the 100 members checked, 100 sign in with a password alone."),
        "{}",
        many.body
    );
}

#[actix_web::test]
async fn the_page_names_the_accounts_that_close_without_a_second_factor() {
    let dashboard = Dashboard::start().await;
    let (owner, _) = people(&dashboard).await;
    let page = owner.get(PAGE).await;
    assert!(page.body.contains("None of your accounts requires a second factor."), "{}", page.body);
    require(&owner).await;
    let page = owner.get(PAGE).await;
    let names = "close to you at once until you set one up again: <bdi>team@example.com</bdi>";
    assert!(page.body.contains(names), "{}", page.body);
    for number in 0..99 {
        let account = dashboard.account(&format!("a{number}@example.com"), "free").await;
        join(&dashboard, "owner@example.com", account).await;
    }
    let page = owner.get(PAGE).await;
    let more = "<bdi>team@example.com</bdi>. Accounts beyond the first 100 are not checked.";
    assert!(page.body.contains(more), "{}", page.body);
    let named = dashboard.also_behind_proxy().await.named("owner@example.com");
    let page = named.get(PAGE).await;
    assert!(page.body.contains("No account closes to you."), "{}", page.body);
}

/// Checks that a form is kept. Returns the kept form.
async fn kept(editor: &Browser, path: &str, form: &[(&str, &str)]) -> Answer {
    let kept = editor.post(path, form).await;
    assert_eq!(kept.status, 403, "{} {}", kept.location(), kept.body);
    assert!(kept.body.contains("This account now requires a second factor"), "{}", kept.body);
    assert!(kept.body.contains("href=\"/me/second-factor\" target=\"_blank\""), "{}", kept.body);
    assert!(kept.body.contains(&format!("<form method=\"post\" action=\"{path}\"")), "{}", kept.body);
    kept
}

#[actix_web::test]
async fn a_form_is_kept_when_the_account_begins_to_require_a_second_factor() {
    let dashboard = Dashboard::start().await;
    let (owner, editor) = people(&dashboard).await;
    let page =
        [("kind", "landing"), ("title", "Menu"), ("slug", "menu"), ("theme", "auto"), ("is_active", "on")];
    let id = editor.post(&dashboard.path("links"), &page).await.followed_id();
    require(&owner).await;
    let groups = dashboard.path("groups");
    let form = [("idempotency_key", "form-1"), ("name", "Spring")];
    assert_eq!(kept(&editor, &groups, &form).await.hidden("name"), "Spring");
    // The form of the editor is large, so it is read after the member was admitted.
    let content = dashboard.path(&format!("links/{id}/page"));
    let large = kept(&editor, &content, &[("title", "Bread"), ("w0.text", "Every day")]).await;
    assert_eq!(large.hidden("w0.text"), "Every day");
    let long = "x".repeat(200 * 1024);
    assert_eq!(kept(&editor, &content, &[("w0.text", &long)]).await.hidden("w0.text"), long);
    let too_large = editor.post(&content, &[("w0.text", &long.repeat(32))]).await;
    assert_eq!(too_large.location(), "/me/second-factor?said=factor-needed");
    set_up(&editor).await;
    assert_eq!(editor.post(&groups, &form).await.status, 303);
    assert!(editor.get(&groups).await.body.contains("Spring"));
}

#[actix_web::test]
async fn the_set_up_leads_back_to_where_the_person_was_going() {
    let dashboard = Dashboard::start().await;
    let (owner, editor) = people(&dashboard).await;
    require(&owner).await;
    let links = dashboard.path("links?q=a%20b&sort=clicks");
    let led = editor.get(&links).await;
    assert_eq!(led.location(), needed_before(&links));
    let page = editor.get(led.location()).await.body;
    let (_, rest) = page.split_once("href=\"/me/second-factor/set-up?next=").expect("a way on");
    let set_up_page = format!("/me/second-factor/set-up?next={}", rest.split('"').next().unwrap());
    // The password has to be confirmed first.
    dashboard.memory.clock.advance(Duration::from_mins(16));
    let confirm = editor.get(&set_up_page).await;
    let next = editor.get(confirm.location()).await.hidden("next");
    assert_eq!(next, set_up_page);
    assert_eq!(editor.post("/confirm", &[("password", PASSWORD), ("next", &next)]).await.status, 303);
    let form = editor.get(&set_up_page).await;
    let next = form.hidden("next").replace("&#38;", "&");
    assert_eq!(next, links);
    let sealed = form.hidden("sealed");
    let wrong_form = [("sealed", &*sealed), ("code", "000000"), ("next", &next)];
    let wrong = editor.post("/me/second-factor/set-up", &wrong_form).await;
    assert_eq!(wrong.hidden("next"), form.hidden("next"));
    let codes = set_up_at(&editor, &set_up_page).await.1.body;
    let way_on = format!("href=\"{}\">I have saved them", form.hidden("next"));
    assert!(codes.contains(&way_on), "{codes}");
    // `next` cannot lead to another site.
    let other = dashboard.member("other@example.com", Role::Viewer).await;
    let codes = set_up_at(&other, "/me/second-factor/set-up?next=//evil.test").await.1.body;
    assert!(codes.contains("href=\"/me/second-factor\">I have saved them"), "{codes}");
}

#[actix_web::test]
async fn d77_a_proxy_decides_on_second_factors_itself() {
    let dashboard = Dashboard::start().await;
    let (ada, ..) = ada_with_factor(&dashboard).await;
    let path = dashboard.path("settings/second-factor");
    assert_eq!(ada.post(&path, &[("required", "true")]).await.status, 303);
    let behind = dashboard.also_behind_proxy().await;
    let named = behind.named_member("bob@example.com", Role::Viewer).await;
    assert_eq!(named.get(&behind.path("links")).await.status, 200);
    assert!(named.get(PAGE).await.body.contains("You have no password here."));
    assert_eq!(named.get(SET_UP).await.status, 403);
}
