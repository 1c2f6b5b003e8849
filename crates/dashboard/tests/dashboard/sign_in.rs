//! Signing in, and its limits (D72, D75).

use std::time::Duration;

use signpost_app::Operator;
use signpost_app::people::users::{self, UserReference};
use signpost_domain::{Email, Role};

use crate::harness::{COOKIE, Dashboard, PASSWORD};

fn user(text: &str) -> UserReference {
    UserReference::Email(Email::parse(text).unwrap())
}

#[actix_web::test]
async fn d75_nobody_learns_whether_a_user_exists() {
    let dashboard = Dashboard::start().await;
    dashboard.member("ada@example.com", Role::Owner).await;
    dashboard.member("off@example.com", Role::Owner).await;
    users::disable(&dashboard.app, &Operator::COMMAND, &user("off@example.com")).await.unwrap();
    let mut bodies = vec![];
    for (email, password) in [
        ("nobody@example.com", PASSWORD),
        ("ada@example.com", "a wrong password"),
        ("off@example.com", PASSWORD),
    ] {
        let before = dashboard.memory.passwords.work();
        let answer = dashboard.browser().sign_in(email, password).await;
        assert_eq!(answer.status, 422);
        assert_eq!(dashboard.memory.passwords.work() - before, 1, "one hash for {email}");
        // What was typed and the key of the form differ; everything else is the same.
        let key = answer.hidden("idempotency_key");
        bodies.push(answer.body.replace(email, "EMAIL").replace(&key, "KEY"));
    }
    assert!(bodies.iter().all(|body| *body == bodies[0]), "{bodies:#?}");
}

#[actix_web::test]
async fn d75_the_fifth_failure_asks_for_a_wait_that_doubles() {
    let dashboard = Dashboard::start().await;
    let ada = dashboard.member("ada@example.com", Role::Owner).await;
    let attacker = dashboard.browser();
    for _ in 0..5 {
        assert_eq!(attacker.sign_in("ada@example.com", "a wrong password").await.status, 422);
    }
    let before = dashboard.memory.passwords.work();
    let waits = attacker.sign_in("ADA@example.com", PASSWORD).await;
    assert_eq!(waits.status, 429, "also for the right password");
    assert!(waits.body.contains("Wait 30 seconds"), "{}", waits.body);
    assert_eq!(dashboard.memory.passwords.work(), before, "nothing is hashed");
    let mut elsewhere = dashboard.browser();
    elsewhere.address = "198.51.100.7".to_owned();
    assert_eq!(elsewhere.sign_in("ada@example.com", PASSWORD).await.status, 303, "another address signs in");
    assert!(ada.is_signed_in().await, "no session ends");
    dashboard.memory.clock.advance(Duration::from_secs(30));
    assert_eq!(attacker.sign_in("ada@example.com", "a wrong password").await.status, 422);
    assert!(attacker.sign_in("ada@example.com", PASSWORD).await.body.contains("Wait 60 seconds"));
    dashboard.memory.clock.advance(Duration::from_mins(1));
    assert_eq!(attacker.sign_in("ada@example.com", PASSWORD).await.status, 303);
    assert_eq!(
        attacker.sign_in("ada@example.com", "a wrong password").await.status,
        422,
        "success starts anew"
    );
}

#[actix_web::test]
async fn d75_an_address_has_thirty_failures_a_minute() {
    let dashboard = Dashboard::start().await;
    dashboard.member("ada@example.com", Role::Owner).await;
    let attacker = dashboard.browser();
    for number in 0..30 {
        let email = format!("nobody{number}@example.com");
        assert_eq!(attacker.sign_in(&email, "a wrong password").await.status, 422, "{number}");
    }
    assert_eq!(attacker.sign_in("ada@example.com", PASSWORD).await.status, 429);
    dashboard.memory.clock.advance(Duration::from_mins(1));
    assert_eq!(attacker.sign_in("ada@example.com", PASSWORD).await.status, 303);
}

#[actix_web::test]
async fn d75_too_many_hashes_at_once_are_503() {
    let dashboard = Dashboard::start().await;
    dashboard.member("ada@example.com", Role::Owner).await;
    dashboard.memory.passwords.set_busy(true);
    for _ in 0..6 {
        let answer = dashboard.browser().sign_in("ada@example.com", PASSWORD).await;
        assert_eq!((answer.status, answer.header("retry-after")), (503, "2"));
    }
    // None of these was a failed sign-in, so nobody has to wait.
    dashboard.memory.passwords.set_busy(false);
    assert_eq!(dashboard.browser().sign_in("ada@example.com", PASSWORD).await.status, 303);
}

#[actix_web::test]
async fn d75_strangers_cannot_keep_the_signed_in_from_confirming() {
    let dashboard = Dashboard::start().await;
    let browser = dashboard.member("ada@example.com", Role::Owner).await;
    dashboard.memory.passwords.set_busy(true);
    let form = [("password", PASSWORD), ("next", "/me")];
    assert_eq!(browser.post("/confirm", &form).await.status, 303);
}

#[actix_web::test]
async fn d72_the_cookie_of_a_session() {
    let dashboard = Dashboard::start().await;
    dashboard.member("ada@example.com", Role::Owner).await;
    let browser = dashboard.browser();
    let short = browser.sign_in("ada@example.com", PASSWORD).await;
    let cookie = short.header("set-cookie").to_owned();
    assert!(cookie.starts_with(&format!("{COOKIE}=")), "{cookie}");
    assert!(cookie.ends_with("; Path=/; HttpOnly; SameSite=Lax; Secure"), "{cookie}");
    let form = [("email", "ada@example.com"), ("password", PASSWORD), ("remember", "on")];
    let kept = dashboard.browser().post("/sign-in", &form).await;
    assert!(kept.header("set-cookie").ends_with("; Secure; Max-Age=2592000"), "{kept:?}");
    let plain = Dashboard::at("http://localhost:8082").await;
    let request = actix_web::test::TestRequest::post()
        .uri("/sign-out")
        .insert_header(("host", "localhost:8082"))
        .insert_header(("sec-fetch-site", "same-origin"))
        .insert_header(("content-type", "application/x-www-form-urlencoded"));
    let out = plain.browser().send_raw(request).await;
    assert_eq!(out.header("set-cookie"), "signpost=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0");
}

#[actix_web::test]
async fn a_session_leads_on_only_within_the_dashboard() {
    let dashboard = Dashboard::start().await;
    dashboard.member("ada@example.com", Role::Owner).await;
    for (next, followed) in [
        ("/me", "/me"),
        ("//evil.example", "/"),
        ("https://evil.example", "/"),
        ("/\\evil.example", "/"),
        ("javascript:alert(1)", "/"),
    ] {
        let form = [("email", "ada@example.com"), ("password", PASSWORD), ("next", next)];
        assert_eq!(dashboard.browser().post("/sign-in", &form).await.location(), followed, "{next}");
    }
}

#[actix_web::test]
async fn d71_an_outdated_hash_is_replaced_at_sign_in() {
    let dashboard = Dashboard::start().await;
    dashboard.member("ada@example.com", Role::Owner).await;
    dashboard.memory.passwords.set_outdated(true);
    let before = dashboard.memory.passwords.work();
    assert_eq!(dashboard.browser().sign_in("ada@example.com", PASSWORD).await.status, 303);
    assert_eq!(dashboard.memory.passwords.work() - before, 2, "verified and hashed again");
}
