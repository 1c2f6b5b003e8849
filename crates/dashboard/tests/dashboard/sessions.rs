//! How long sessions last, and what ends them (D72, D73).

use std::time::Duration;

use actix_web::http::header::{COOKIE as COOKIE_HEADER, HeaderValue};
use actix_web::test::TestRequest;
use signpost_app::Operator;
use signpost_app::admission::recognise;
use signpost_app::people::users::{self, UserReference};
use signpost_app::people::{Client, PersonError, profile};
use signpost_domain::{Email, Role, SecretToken};

use crate::harness::{Browser, COOKIE, Dashboard, ORIGIN, PASSWORD};

fn user(text: &str) -> UserReference {
    UserReference::Email(Email::parse(text).unwrap())
}

#[actix_web::test]
async fn d72_a_short_session_ends_twelve_hours_after_sign_in() {
    let dashboard = Dashboard::start().await;
    let ada = dashboard.member("ada@example.com", Role::Owner).await;
    dashboard.memory.clock.advance(Duration::from_mins(12 * 60 - 1));
    assert!(ada.is_signed_in().await);
    dashboard.memory.clock.advance(Duration::from_mins(1));
    let answer = ada.get(&dashboard.path("links?q=a")).await;
    assert_eq!(answer.location(), format!("/sign-in?next=%2F{}%2Flinks%3Fq%3Da", dashboard.account));
}

#[actix_web::test]
async fn d72_signing_out_ends_the_session_for_whoever_has_the_token() {
    let dashboard = Dashboard::start().await;
    let ada = dashboard.member("ada@example.com", Role::Owner).await;
    let thief = dashboard.browser();
    thief.cookies.borrow_mut().clone_from(&ada.cookies.borrow());
    assert!(thief.is_signed_in().await);
    assert_eq!(ada.post("/sign-out", &[]).await.location(), "/sign-in?said=signed-out");
    assert!(!thief.is_signed_in().await && ada.token().is_empty());
}

#[actix_web::test]
async fn d72_a_changed_password_ends_every_other_session() {
    let dashboard = Dashboard::start().await;
    let ada = dashboard.member("ada@example.com", Role::Owner).await;
    let other = dashboard.browser();
    other.sign_in("ada@example.com", PASSWORD).await;
    let before = ada.token();
    assert_eq!(ada.post("/me/password", &[("password", "another fine password")]).await.status, 303);
    assert_ne!(ada.token(), before, "a new token");
    assert!(ada.is_signed_in().await && !other.is_signed_in().await);
}

#[actix_web::test]
async fn d72_a_session_that_ends_during_a_request_changes_no_password() {
    let dashboard = Dashboard::start().await;
    let ada = dashboard.member("ada@example.com", Role::Owner).await;
    let token = SecretToken::parse(&ada.token()).unwrap();
    let signed_in = recognise(&dashboard.app, Some(&token)).await.unwrap();
    ada.post("/sign-out", &[]).await;
    let client = Client { address: [203, 0, 113, 9].into(), agent: None };
    let changed =
        profile::change_password(&dashboard.app, &signed_in, "another fine password", &client).await;
    assert!(matches!(changed, Err(PersonError::Gone)), "{changed:?}");
    assert_eq!(dashboard.browser().sign_in("ada@example.com", PASSWORD).await.status, 303);
}

#[actix_web::test]
async fn a_cookie_of_another_application_that_is_no_text_hides_no_session() {
    let dashboard = Dashboard::start().await;
    let ada = dashboard.member("ada@example.com", Role::Owner).await;
    let cookies = [format!("{COOKIE}={}; other=", ada.token()).into_bytes(), b"\xff".to_vec()].concat();
    let request = TestRequest::get()
        .uri("/me")
        .insert_header((COOKIE_HEADER, HeaderValue::from_bytes(&cookies).unwrap()));
    assert_eq!(dashboard.browser().send(request).await.status, 200);
}

#[actix_web::test]
async fn after_signing_in_the_browser_gets_the_page_of_the_form_that_it_sent() {
    let dashboard = Dashboard::start().await;
    let ada = dashboard.member("ada@example.com", Role::Owner).await;
    dashboard.memory.clock.advance(Duration::from_hours(13));
    let post = |referer: &str| {
        TestRequest::post()
            .uri(&dashboard.path("groups"))
            .set_form([("password", "x")])
            .insert_header(("referer", referer))
    };
    let page = format!("{ORIGIN}{}", dashboard.path("groups"));
    let next = format!("/sign-in?next=%2F{}%2Fgroups", dashboard.account);
    assert_eq!(ada.send(post(&page)).await.location(), next);
    assert_eq!(ada.send(post("https://evil.test/groups")).await.location(), "/sign-in");
}

#[actix_web::test]
async fn a_form_that_comes_after_the_session_has_ended_can_be_sent_again() {
    let dashboard = Dashboard::start().await;
    let ada = dashboard.member("ada@example.com", Role::Owner).await;
    dashboard.memory.clock.advance(Duration::from_hours(13));
    let (path, payload) = (dashboard.path("groups?a=b"), "\"><script>alert(1)</script>");
    let form = [("idempotency_key", "form-1"), ("name", "Spring & summer"), ("other", payload)];
    let ended = ada.post(&path, &form).await;
    assert_eq!(ended.status, 403);
    assert!(ended.body.contains("Your session has ended"), "{}", ended.body);
    assert!(ended.body.contains(&format!("<form method=\"post\" action=\"{path}\"")), "{}", ended.body);
    assert!(ended.body.contains("href=\"/sign-in\" target=\"_blank\" rel=\"noopener\""), "{}", ended.body);
    assert!(!ended.body.contains("<script>alert"), "{}", ended.body);
    assert_eq!(ended.hidden("idempotency_key"), "form-1");
    assert_eq!(ended.hidden("name"), "Spring &#38; summer");
    ada.sign_in("ada@example.com", PASSWORD).await;
    assert_eq!(ada.post(&path, &form).await.status, 303);
    let groups = ada.get(&dashboard.path("groups")).await;
    assert!(groups.body.contains("Spring &#38; summer"), "{}", groups.body);
}

#[actix_web::test]
async fn forms_with_secrets_and_forms_beyond_the_limit_are_not_shown_again() {
    let dashboard = Dashboard::start().await;
    let stranger = dashboard.browser();
    let page = dashboard.path(&format!("links/lnd_{}/page", "0".repeat(32)));
    for path in ["/me/password", "/confirm", "/me"] {
        let answer = stranger.post(path, &[("name", "x"), ("password", "another fine password")]).await;
        assert!(answer.status == 303 && answer.location().starts_with("/sign-in"), "{path}: {answer:?}");
    }
    let small = stranger.post(&page, &[("title", "Bread"), ("w0.text", "Every day")]).await;
    assert_eq!((small.status, small.hidden("w0.text")), (403, "Every day".to_owned()));
    let large = stranger.post(&page, &[("w0.text", &"x".repeat(6 * 1024 * 1024))]).await;
    assert_eq!((large.status, large.location()), (303, "/sign-in"));
    let foreign = Browser { site: Some("cross-site"), ..dashboard.browser() };
    let refused = foreign.post(&page, &[("title", "Bread")]).await;
    assert!(refused.status == 403 && !refused.body.contains("Bread"), "{}", refused.body);
}

#[actix_web::test]
async fn d72_sessions_are_listed_and_ended_one_by_one_and_all_others() {
    let dashboard = Dashboard::start().await;
    let ada = dashboard.member("ada@example.com", Role::Owner).await;
    let others = [dashboard.browser(), dashboard.browser(), dashboard.browser()];
    for other in &others {
        other.sign_in("ada@example.com", PASSWORD).await;
    }
    let page = others[0].get("/me").await;
    assert_eq!(page.body.matches("203.0.113.0/24").count(), 4, "{}", page.body);
    let bob = dashboard.member("bob@example.com", Role::Owner).await;
    let foreign = page.body.split("/me/sessions/ses_").nth(1).unwrap().split('/').next().unwrap().to_owned();
    bob.post(&format!("/me/sessions/ses_{foreign}/end"), &[]).await;
    for other in &others {
        assert!(other.is_signed_in().await, "nobody ends another's session");
    }
    assert_eq!(ada.post("/me/sessions/end-others", &[]).await.status, 303);
    assert!(ada.is_signed_in().await);
    for other in &others {
        assert!(!other.is_signed_in().await);
    }
}

#[actix_web::test]
async fn d72_a_disabled_user_is_out_at_once_and_in_again_when_enabled() {
    let dashboard = Dashboard::start().await;
    let ada = dashboard.member("ada@example.com", Role::Owner).await;
    users::disable(&dashboard.app, &Operator::COMMAND, &user("ada@example.com")).await.unwrap();
    assert!(!ada.is_signed_in().await);
    users::enable(&dashboard.app, &Operator::COMMAND, &user("ada@example.com")).await.unwrap();
    assert!(!ada.is_signed_in().await, "the sessions have ended");
    assert_eq!(dashboard.browser().sign_in("ada@example.com", PASSWORD).await.status, 303);
    users::sign_out(&dashboard.app, &Operator::COMMAND, &user("ada@example.com")).await.unwrap();
}

#[actix_web::test]
async fn d73_a_confirmed_password_is_asked_for_after_fifteen_minutes() {
    let dashboard = Dashboard::start().await;
    let ada = dashboard.member("ada@example.com", Role::Owner).await;
    dashboard.memory.clock.advance(Duration::from_mins(15));
    let issue = [("name", "Newsletter"), ("expires", "30"), ("scopes", "read"), ("scopes", "links")];
    let asked = ada.post(&dashboard.path("keys"), &issue).await;
    assert!(asked.location().starts_with("/confirm?next="), "{asked:?}");
    for (path, form) in [
        ("/me/password", &[("password", "another fine password")][..]),
        (&*dashboard.path(&format!("keys/key_{}/revoke", "0".repeat(32))), &[]),
    ] {
        assert!(ada.post(path, form).await.location().starts_with("/confirm"), "{path}");
    }
    let page = ada.get(asked.location()).await;
    let before = ada.token();
    let wrong = ada.post("/confirm", &[("password", "a wrong password"), ("next", "/me")]).await;
    assert_eq!(wrong.status, 422);
    let next = page.hidden("next").replace("&#38;", "&").replace("&amp;", "&");
    let confirmed = ada.post("/confirm", &[("password", PASSWORD), ("next", &next)]).await;
    assert_eq!(confirmed.location(), next, "{confirmed:?}");
    assert_ne!(ada.token(), before, "a new token");
    let form = ada.get(&next).await;
    assert!(form.body.contains("value=\"Newsletter\""), "what was typed is kept: {}", form.body);
    assert_eq!(ada.post(&dashboard.path("keys"), &issue).await.status, 200);
}

#[actix_web::test]
async fn d76_a_session_makes_600_requests_a_minute() {
    let dashboard = Dashboard::start().await;
    let ada = dashboard.member("ada@example.com", Role::Owner).await;
    for _ in 0..600 {
        assert_eq!(ada.get("/accounts").await.status, 200);
    }
    let answer = ada.get("/accounts").await;
    assert_eq!(answer.status, 429);
    assert!(!answer.header("retry-after").is_empty());
    dashboard.memory.clock.advance(Duration::from_mins(1));
    assert!(ada.is_signed_in().await);
}
