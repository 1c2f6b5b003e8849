//! Nothing typed is lost when a form does not count: the answer has it, and sends it again (D69, D76).

use std::time::Duration;

use signpost_app::people::users::UserReference;
use signpost_app::{Operator, accounts};
use signpost_dashboard::{Access, ROUTES, RouteMethod};
use signpost_domain::{Email, PageContent, Role, Widgets};
use signpost_memory::{Fault, Step};

use crate::harness::{Answer, Browser, Dashboard};

const TYPED: &str = "Spring & summer";

/// Checks that a page keeps a form: it goes where it was sent to, and has what was typed.
fn assert_kept(answer: &Answer, status: u16, path: &str, sentence: &str) {
    assert_eq!(answer.status, status, "{path}: {} {}", answer.location(), answer.body);
    let form = format!("<form method=\"post\" action=\"{path}\"");
    for part in [sentence, &form, "value=\"Spring &#38; summer\"", "Send again</button>"] {
        assert!(answer.body.contains(part), "{path} without {part}: {}", answer.body);
    }
}

/// Makes a landing page, and returns the path of its editor.
async fn editor_of(browser: &Browser) -> String {
    let dashboard = &browser.dashboard;
    let form = [("kind", "landing"), ("title", "Menu"), ("theme", "auto"), ("is_active", "on")];
    let id = browser.post(&dashboard.path("links"), &form).await.followed_id();
    dashboard.path(&format!("links/{id}/page"))
}

#[actix_web::test]
async fn every_form_is_kept_while_the_store_is_away() {
    let dashboard = Dashboard::start().await;
    let owner = dashboard.member("owner@example.com", Role::Owner).await;
    dashboard.memory.store.faults().set_unavailable(true);
    let mut kept = 0;
    for route in ROUTES.iter().filter(|route| route.method == RouteMethod::Post) {
        if route.access == Access::Anybody {
            continue;
        }
        let path = route
            .pattern
            .replace("{account}", &dashboard.account.to_string())
            .replace("{id}", &format!("pag_{}", "0".repeat(32)));
        let answer = owner.post(&path, &[("idempotency_key", "form-1"), ("name", TYPED)]).await;
        assert_kept(&answer, 503, &path, "We cannot reach the database");
        assert_eq!(answer.header("retry-after"), "5", "{path}");
        assert!(answer.body.contains("Send the form again in 5 seconds."), "{path}: {}", answer.body);
        kept += 1;
    }
    assert!(kept > 30, "{kept}");
    dashboard.memory.store.faults().set_unavailable(false);
    let groups = dashboard.path("groups");
    assert_eq!(owner.post(&groups, &[("idempotency_key", "form-1"), ("name", TYPED)]).await.status, 303);
}

#[actix_web::test]
async fn a_form_is_kept_while_the_store_takes_no_changes() {
    let dashboard = Dashboard::start().await;
    let owner = dashboard.member("owner@example.com", Role::Owner).await;
    dashboard.memory.store.faults().set_unwritable(true);
    let groups = dashboard.path("groups");
    let answer = owner.post(&groups, &[("idempotency_key", "form-1"), ("name", TYPED)]).await;
    assert_kept(&answer, 503, &groups, "Nothing can be changed right now");
    assert!(answer.body.contains("The database can be read"), "{}", answer.body);
    assert_eq!(owner.get(&groups).await.status, 200, "it can be read");
}

#[actix_web::test]
async fn a_form_with_a_secret_is_not_kept() {
    let dashboard = Dashboard::start().await;
    let owner = dashboard.member("owner@example.com", Role::Owner).await;
    dashboard.memory.store.faults().set_unavailable(true);
    for secret in ["password", "code"] {
        let answer = owner.post("/me/password", &[("name", TYPED), (secret, "plover egg tin")]).await;
        assert_eq!(answer.status, 503);
        assert!(!answer.body.contains("plover") && !answer.body.contains("Spring"), "{}", answer.body);
    }
}

#[actix_web::test]
async fn d76_a_form_beyond_the_limit_of_requests_is_kept() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let page = editor_of(&editor).await;
    while editor.get("/accounts").await.status == 200 {}
    for path in [dashboard.path("groups"), dashboard.path("links"), page] {
        let answer = editor.post(&path, &[("name", TYPED)]).await;
        assert_kept(&answer, 429, &path, "That was a bit fast");
        let seconds = answer.header("retry-after");
        assert!(answer.body.contains(&format!("again in {seconds} seconds.")), "{}", answer.body);
    }
}

#[actix_web::test]
async fn d69_a_form_is_kept_after_the_role_was_lowered() {
    let dashboard = Dashboard::start().await;
    let owner = dashboard.member("owner@example.com", Role::Owner).await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let page = editor_of(&editor).await;
    let user = signpost_app::people::users::find(
        &dashboard.app,
        &Operator::COMMAND,
        &UserReference::Email(Email::parse("editor@example.com").unwrap()),
    )
    .await
    .unwrap();
    let role = dashboard.path(&format!("members/{}", user.id));
    assert_eq!(owner.post(&role, &[("role", "viewer")]).await.status, 303);
    let groups = dashboard.path("groups");
    for path in [&groups, &dashboard.path("domains"), &page] {
        let answer = editor.post(path, &[("hostname", TYPED), ("name", TYPED)]).await;
        assert_kept(&answer, 403, path, "Ask an owner of the account for the role.");
    }
    let button = editor.post(&format!("{groups}/grp_{}/delete", "0".repeat(32)), &[]).await;
    assert!(button.status == 403 && !button.body.contains("Send again"), "{}", button.body);
    assert_eq!(owner.post(&role, &[("role", "editor")]).await.status, 303);
    assert_eq!(editor.post(&groups, &[("name", TYPED)]).await.status, 303);
}

/// Sending it again would not help, so the page has what was typed as text.
#[actix_web::test]
async fn what_was_typed_into_the_form_of_a_deleted_thing_is_shown() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let page = editor_of(&editor).await;
    let link = page.trim_end_matches("/page");
    let form = [("title", TYPED), ("note", "<b>"), ("revision", "1"), ("idempotency_key", "form-1")];
    assert_eq!(editor.post(&format!("{link}/delete"), &[]).await.status, 303);
    let gone = editor.post(link, &form).await;
    assert_eq!(gone.status, 404, "{}", gone.body);
    for part in ["Spring &#38; summer", "&#60;b&#62;", "Copy what you still need."] {
        assert!(gone.body.contains(part), "{part}: {}", gone.body);
    }
    assert!(!gone.body.contains("Send again") && !gone.body.contains("form-1"), "{}", gone.body);
    // A button has nothing to show.
    let button = editor.post(&format!("{link}/delete"), &[("idempotency_key", "form-2")]).await;
    assert!(button.status == 404 && !button.body.contains("Copy what"), "{}", button.body);
}

#[actix_web::test]
async fn d76_a_form_is_kept_when_the_account_was_suspended() {
    let dashboard = Dashboard::start().await;
    let owner = dashboard.member("owner@example.com", Role::Owner).await;
    let page = editor_of(&owner).await;
    accounts::suspend(&dashboard.app, &Operator::COMMAND, dashboard.account).await.unwrap();
    for path in [dashboard.path("groups"), dashboard.path("settings"), page] {
        let form = [("name", TYPED), ("email", "new@example.com")];
        let answer = owner.post(&path, &form).await;
        assert_kept(&answer, 409, &path, "is suspended, so nothing");
    }
}

#[actix_web::test]
async fn a_form_is_kept_when_something_breaks() {
    let dashboard = Dashboard::start().await;
    let owner = dashboard.member("owner@example.com", Role::Owner).await;
    dashboard.memory.store.faults().fail_next(Step::Read, Fault::Corrupt, 1);
    let groups = dashboard.path("groups");
    let answer = owner.post(&groups, &[("name", TYPED)]).await;
    assert_kept(&answer, 500, &groups, "If it fails again, tell the operator");
}

#[actix_web::test]
async fn a_large_form_is_kept_after_the_session_has_ended() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let page = editor_of(&editor).await;
    let long = "x".repeat(200 * 1024);
    dashboard.memory.clock.advance(Duration::from_hours(12));
    let form = [("title", TYPED), ("w0.text", long.as_str())];
    let answer = editor.post(&page, &form).await;
    assert_kept(&answer, 403, &page, "Your session has ended");
    assert_eq!(answer.hidden("w0.text"), long);
    editor.sign_in("editor@example.com", crate::harness::PASSWORD).await;
    dashboard.memory.store.faults().set_unavailable(true);
    let away = editor.post(&page, &form).await;
    assert_kept(&away, 503, &page, "We cannot reach the database");
    assert_eq!(away.hidden("w0.text"), long);
}

/// The fields of the fullest page. Its widgets are images, which have two addresses and a text; no other type has more characters.
fn fullest(revision: &str) -> Vec<(String, String)> {
    let long = |beginning: &str, characters: usize| {
        let rest = characters - beginning.chars().count();
        format!("{beginning}{}", "\u{1f600}".repeat(rest))
    };
    let address = long("https://example.com/", 2_048);
    let mut fields = vec![
        ("revision".to_owned(), revision.to_owned()),
        ("title".to_owned(), long("", 100)),
        ("description".to_owned(), long("", 500)),
        ("avatar_url".to_owned(), address.clone()),
        ("has_widgets".to_owned(), "true".to_owned()),
        ("do".to_owned(), "save".to_owned()),
    ];
    for number in 0..Widgets::MAX {
        fields.push(("widget".to_owned(), format!("w{number}")));
        for (name, value) in [
            ("type", "image"),
            ("id", &format!("wgt_{number:032x}")),
            ("image_url", &address),
            ("url", &address),
            ("alt", &long("", 200)),
        ] {
            fields.push((format!("w{number}.{name}"), value.to_owned()));
        }
    }
    fields
}

#[actix_web::test]
async fn d35_the_form_of_the_fullest_page_is_read_and_a_larger_one_says_the_limit() {
    const MIB: usize = 1024 * 1024;
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let page = editor_of(&editor).await;
    let fields = fullest(&editor.get(&page).await.hidden("revision"));
    let mut pairs: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (&**name, &**value)).collect();
    let body = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(&pairs).finish();
    assert!((4 * MIB..6 * MIB).contains(&body.len()), "{}", body.len());
    let saved = editor.post(&page, &pairs).await;
    assert_eq!(
        (saved.status, saved.location()),
        (303, format!("{page}?said=saved").as_str()),
        "{}",
        saved.body
    );
    let id = page.trim_end_matches("/page").rsplit('/').next().unwrap();
    let stored = dashboard.app.store.landing_page(dashboard.account, id.parse().unwrap()).await.unwrap();
    let PageContent { widgets, .. } = stored.unwrap().content;
    assert_eq!(widgets.as_slice().len(), Widgets::MAX);
    // The largest form is kept as well.
    dashboard.memory.store.faults().set_unavailable(true);
    assert_eq!(editor.post(&page, &pairs).await.hidden("revision"), fields[0].1);
    dashboard.memory.store.faults().set_unavailable(false);
    let padding = "x".repeat(2 * MIB);
    pairs.push(("padding", &padding));
    let refused = editor.post(&page, &pairs).await;
    assert_eq!(refused.status, 413);
    let small = editor.post(&dashboard.path("groups"), &[("name", &padding)]).await;
    for (answer, limit) in [(refused, "6 MB"), (small, "160 KB")] {
        for part in [&format!("The form takes at most {limit}"), "This page does not have what you typed"] {
            assert!(answer.body.contains(part), "{part}: {}", answer.body);
        }
    }
}
