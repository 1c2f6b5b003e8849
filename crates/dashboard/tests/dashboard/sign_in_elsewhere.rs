//! A proxy that signs people in by a header (D77).

use std::time::Duration;

use actix_web::test::TestRequest;
use signpost_app::Operator;
use signpost_app::idempotency::Idempotency;
use signpost_app::people::users::{self, Invite, UserReference};
use signpost_dashboard::{ROUTES, RouteMethod};
use signpost_domain::{AuditAction, Email, PageLimit, Role, User};

use crate::harness::{Browser, COOKIE, Dashboard, PASSWORD, PROXY};

const ADA: &str = "ada@example.com";

fn user(text: &str) -> UserReference {
    UserReference::Email(Email::parse(text).unwrap())
}

/// How many sign-ins the audit has.
async fn sign_ins(dashboard: &Dashboard) -> usize {
    let scope = signpost_app::ports::AuditScope::Installation;
    let entries = dashboard.app.store.audit_entries(scope, PageLimit::new(100).unwrap(), None).await.unwrap();
    entries.items.iter().filter(|entry| entry.action == AuditAction::SignedIn).count()
}

#[actix_web::test]
async fn d77_the_header_signs_an_existing_user_in() {
    let dashboard = Dashboard::behind_proxy().await;
    let ada = dashboard.named_member(ADA, Role::Owner).await;
    assert_eq!(ada.get(&dashboard.path("links")).await.status, 200);
    // The same address in another spelling, in a browser of its own.
    let other = dashboard.named("ADA@Example.com");
    let first = other.get("/me").await;
    assert_eq!(first.status, 200);
    let cookie = first.header("set-cookie");
    assert!(cookie.starts_with(&format!("{COOKIE}=")), "{cookie}");
    assert!(cookie.ends_with("; Path=/; HttpOnly; SameSite=Lax; Secure"), "{cookie}");
    assert_eq!(other.get("/sign-in?next=/me").await.location(), "/me");
}

#[actix_web::test]
async fn d77_the_audit_has_each_browser_once_and_not_each_request() {
    let dashboard = Dashboard::behind_proxy().await;
    let ada = dashboard.named_member(ADA, Role::Owner).await;
    for _ in 0..5 {
        ada.get("/me").await;
        ada.get(&dashboard.path("links")).await;
        ada.post(&dashboard.path("groups"), &[("name", "one")]).await;
    }
    assert_eq!(sign_ins(&dashboard).await, 1);
    dashboard.named(ADA).get("/me").await;
    assert_eq!(sign_ins(&dashboard).await, 2);
    // A session ends after twelve hours, and the next request signs in again.
    dashboard.memory.clock.advance(Duration::from_hours(12));
    assert!(ada.is_signed_in().await);
    assert_eq!(sign_ins(&dashboard).await, 3);
}

#[actix_web::test]
async fn d77_a_session_does_not_outlive_the_header() {
    let dashboard = Dashboard::behind_proxy().await;
    let mut ada = dashboard.named_member(ADA, Role::Owner).await;
    assert!(ada.is_signed_in().await);
    let token = ada.token();
    ada.named = None;
    let answer = ada.get(&dashboard.path("links")).await;
    assert_eq!(answer.location(), format!("/sign-in?next=%2F{}%2Flinks", dashboard.account));
    assert_eq!(ada.token(), token, "the browser still has it");
    let answer = ada.post(&dashboard.path("groups"), &[("name", "one")]).await;
    assert!(answer.location().starts_with("/sign-in"), "{answer:?}");
    assert!(dashboard.app.store.sessions(person(&dashboard, ADA).await.id).await.unwrap().len() == 1);
    let nobody = ada.get("/sign-in").await;
    assert_eq!((nobody.status, ada.token()), (403, String::new()), "the cookie is taken away");
}

#[actix_web::test]
async fn d77_a_session_does_not_contradict_the_header() {
    let dashboard = Dashboard::behind_proxy().await;
    let mut browser = dashboard.named_member(ADA, Role::Owner).await;
    assert!(browser.is_signed_in().await);
    dashboard.named_member("bob@example.com", Role::Viewer).await;
    let before = browser.token();
    browser.named = Some("bob@example.com".to_owned());
    let answer = browser.post(&dashboard.path("groups"), &[("name", "one")]).await;
    assert_eq!(answer.status, 403, "Bob reads only");
    assert_ne!(browser.token(), before);
    assert!(browser.get("/me").await.body.contains("bob@example.com"));
    let of_ada = dashboard.app.store.sessions(person(&dashboard, ADA).await.id).await.unwrap();
    assert!(of_ada.is_empty(), "it has ended: {of_ada:?}");
}

#[actix_web::test]
async fn d77_sessions_of_passwords_and_of_the_header_are_strangers() {
    let plain = Dashboard::start().await;
    let ada = plain.member(ADA, Role::Owner).await;
    let behind = plain.also_behind_proxy().await;
    let mut browser = behind.named(ADA);
    browser.cookies.borrow_mut().clone_from(&ada.cookies.borrow());
    assert!(browser.is_signed_in().await);
    assert_ne!(browser.token(), ada.token(), "the header opens a session of its own");
    browser.named = None;
    browser.cookies.borrow_mut().clone_from(&ada.cookies.borrow());
    assert!(!browser.is_signed_in().await, "a password's session is worth nothing");
    // Without the header's setting, its session is worth nothing either.
    let named = behind.named(ADA);
    assert!(named.is_signed_in().await);
    let later = plain.browser();
    later.cookies.borrow_mut().clone_from(&named.cookies.borrow());
    assert!(!later.is_signed_in().await);
}

#[actix_web::test]
async fn d77_any_other_peer_gets_403_at_every_route() {
    let dashboard = Dashboard::behind_proxy().await;
    let mut ada = dashboard.named_member(ADA, Role::Owner).await;
    assert!(ada.is_signed_in().await);
    for address in ["203.0.113.9", "127.0.0.1", "10.0.0.6"] {
        ada.address = address.to_owned();
        for route in ROUTES {
            let path = route.pattern.replace("{account}", &dashboard.account.to_string());
            let answer = match route.method {
                RouteMethod::Get => ada.get(&path).await,
                RouteMethod::Post => ada.post(&path, &[]).await,
            };
            assert_eq!(answer.status, 403, "{address} at {path}");
            assert!(answer.body.contains("Open the dashboard through its proxy"), "{path}: {}", answer.body);
        }
        // The peer counts, and not what it says about others.
        let request = TestRequest::get().uri("/me").insert_header(("x-forwarded-for", PROXY));
        assert_eq!(ada.send(request).await.status, 403);
    }
}

#[actix_web::test]
async fn d77_an_empty_or_repeated_header_is_no_name() {
    let dashboard = Dashboard::behind_proxy().await;
    let ada = dashboard.named_member(ADA, Role::Owner).await;
    assert!(ada.is_signed_in().await);
    for values in
        [&[][..], &[""], &[" "], &[ADA, ADA], &["", ADA], &["ada"], &["ada@example.com,bob@example.com"]]
    {
        let with = |path| {
            let request = TestRequest::get().uri(path);
            values.iter().fold(request, |request, value| request.append_header(("remote-email", *value)))
        };
        let browser = Browser { named: None, ..dashboard.named(ADA) };
        browser.cookies.borrow_mut().clone_from(&ada.cookies.borrow());
        assert_eq!(browser.send(with("/me")).await.location(), "/sign-in?next=%2Fme", "{values:?}");
        let page = browser.send(with("/sign-in?next=%2Fme")).await;
        assert_eq!(page.status, 403, "{values:?}");
        assert!(
            page.body.contains("The proxy sent no name") && page.body.contains("Remote-Email"),
            "{}",
            page.body
        );
        assert!(page.body.contains("href=\"/me\""), "{}", page.body);
    }
    assert!(ada.is_signed_in().await);
}

#[actix_web::test]
async fn d77_an_unknown_and_a_disabled_user_have_no_access() {
    let dashboard = Dashboard::behind_proxy().await;
    let ada = dashboard.named_member(ADA, Role::Owner).await;
    assert!(ada.is_signed_in().await);
    let stranger = dashboard.named("bob@example.com");
    assert_eq!(stranger.get("/").await.location(), "/sign-in");
    let page = stranger.get("/sign-in").await;
    assert_eq!(page.status, 403);
    assert!(page.body.contains("The proxy says that you are bob@example.com."), "{}", page.body);
    assert!(
        dashboard
            .app
            .store
            .user_with_email(&Email::parse("bob@example.com").unwrap())
            .await
            .unwrap()
            .is_none()
    );
    users::disable(&dashboard.app, &Operator::COMMAND, &user(ADA)).await.unwrap();
    assert!(!ada.is_signed_in().await);
    assert_eq!(ada.get("/sign-in").await.status, 403);
    users::enable(&dashboard.app, &Operator::COMMAND, &user(ADA)).await.unwrap();
    assert!(ada.is_signed_in().await);
}

#[actix_web::test]
async fn d77_passwords_are_off() {
    let dashboard = Dashboard::start().await;
    dashboard.member(ADA, Role::Owner).await;
    let (_, reset) =
        users::reset(&dashboard.app, &Operator::COMMAND, &user(ADA), Idempotency::disabled()).await.unwrap();
    let dashboard = dashboard.also_behind_proxy().await;
    let ada = dashboard.named(ADA);
    let reset = format!("/reset/{}", reset.expose());
    let before = dashboard.memory.passwords.work();
    for answer in [
        ada.sign_in(ADA, PASSWORD).await,
        ada.get("/confirm").await,
        ada.post("/confirm", &[("password", PASSWORD)]).await,
        ada.post("/me/password", &[("password", "another fine password")]).await,
        ada.get(&reset).await,
        ada.post(&reset, &[("password", "another fine password")]).await,
    ] {
        assert_eq!(answer.status, 403, "{}", answer.body);
        assert!(answer.body.contains("Passwords are off"), "{}", answer.body);
    }
    assert_eq!(dashboard.memory.passwords.work(), before, "nothing is hashed");
    let me = ada.get("/me").await;
    assert!(me.body.contains("so you have no password here"), "{}", me.body);
    assert!(!me.body.contains("type=\"password\""), "{}", me.body);
    let refused = users::reset(&dashboard.app, &Operator::COMMAND, &user(ADA), Idempotency::disabled())
        .await
        .unwrap_err();
    assert_eq!(refused.to_string(), "passwords are off, because `sign-in-header` is set");
}

#[actix_web::test]
async fn d77_the_header_counts_as_confirmed() {
    let dashboard = Dashboard::behind_proxy().await;
    let ada = dashboard.named_member(ADA, Role::Owner).await;
    assert!(ada.is_signed_in().await);
    dashboard.memory.clock.advance(Duration::from_hours(1));
    let form = [("name", "key"), ("expires", "never"), ("all_scopes", "yes")];
    let issued = ada.post(&dashboard.path("keys"), &form).await;
    assert_eq!(issued.status, 200, "{}", issued.body);
}

#[actix_web::test]
async fn d77_the_address_that_the_proxy_names_cannot_be_changed() {
    let dashboard = Dashboard::behind_proxy().await;
    let ada = dashboard.named_member(ADA, Role::Owner).await;
    let form = |email| [("name", "Ada L"), ("email", email), ("time_zone", "UTC"), ("theme", "auto")];
    let refused = ada.post("/me", &form("boss@example.com")).await;
    assert_eq!(refused.status, 422);
    assert!(refused.body.contains("so it cannot be changed here"), "{}", refused.body);
    assert!(!ada.get("/me?email=boss@example.com").await.body.contains("boss@example.com"));
    assert_eq!(ada.post("/me", &form(ADA)).await.location(), "/me?said=saved");
    assert!(ada.is_signed_in().await);
}

#[actix_web::test]
async fn d77_the_first_user_and_the_invited_come_in_without_a_password() {
    let dashboard = Dashboard::behind_proxy().await;
    let start = format!("/start/{}", dashboard.first_start().await.unwrap().expose());
    let (ada, nobody) = (dashboard.named(ADA), Browser { named: None, ..dashboard.named(ADA) });
    assert!(nobody.get(&start).await.location().starts_with("/sign-in?next="));
    let page = ada.get(&start).await;
    assert!(page.body.contains(ADA) && !page.body.contains("type=\"password\""), "{}", page.body);
    // The address is the header's, whatever the form says.
    let form = [("name", "Ada"), ("email", "boss@example.com"), ("time_zone", "UTC")];
    let wrong = ada.post(&start, &[("name", "Ada"), ("time_zone", "Nowhere")]).await;
    assert_eq!(wrong.status, 422);
    assert_eq!(ada.post(&start, &form).await.location(), "/first");
    assert_eq!(ada.get("/first").await.location(), format!("/{}/links/new", dashboard.account));
    let first = person(&dashboard, ADA).await;
    assert!(first.is_operator && first.password.is_none());

    let email = Email::parse("bob@example.com").unwrap();
    let joins = Some((dashboard.account, Role::Editor));
    let token = users::invite(
        &dashboard.app,
        &Operator::COMMAND,
        Invite { email, joins, is_operator: false },
        Idempotency::disabled(),
    )
    .await
    .unwrap();
    let invitation = format!("/invitation/{}", token.expose());
    let other = ada.get(&invitation).await;
    assert!(other.body.contains("the proxy says that you are ada@example.com"), "{}", other.body);
    assert_eq!(ada.post(&invitation, &form).await.status, 403, "it is for Bob alone");
    let bob = dashboard.named("Bob@example.com");
    assert!(!bob.get(&invitation).await.body.contains("type=\"password\""));
    assert_eq!(bob.post(&invitation, &form).await.location(), "/");
    assert_eq!(bob.get(&dashboard.path("links/new")).await.status, 200);
    assert_eq!(bob.post(&invitation, &form).await.status, 410, "one use");
}

#[actix_web::test]
async fn d77_an_existing_user_accepts_an_invitation() {
    let dashboard = Dashboard::behind_proxy().await;
    let ada = dashboard.named_member(ADA, Role::Owner).await;
    let account = dashboard.account("else@example.com", "agency").await;
    let joins = Some((account, Role::Editor));
    let invite = Invite { email: Email::parse(ADA).unwrap(), joins, is_operator: false };
    let invitation = format!(
        "/invitation/{}",
        users::invite(&dashboard.app, &Operator::COMMAND, invite, Idempotency::disabled())
            .await
            .unwrap()
            .expose()
    );
    let other = dashboard.named_member("bob@example.com", Role::Viewer).await;
    assert_eq!(other.post(&invitation, &[]).await.status, 403);
    assert_eq!(ada.post(&invitation, &[]).await.location(), format!("/{account}/links"));
}

#[actix_web::test]
async fn d77_signing_out_says_that_the_proxy_signs_in_again() {
    let dashboard = Dashboard::behind_proxy().await;
    let ada = dashboard.named_member(ADA, Role::Owner).await;
    assert!(ada.is_signed_in().await);
    let answer = ada.post("/sign-out", &[]).await;
    assert_eq!((answer.location(), ada.token()), ("/sign-in?said=signed-out", String::new()));
    let page = ada.get(answer.location()).await;
    assert_eq!(page.status, 200);
    assert!(page.body.contains("not at the proxy") && ada.token().is_empty(), "{}", page.body);
}

#[actix_web::test]
async fn d77_a_program_without_cookies_opens_thirty_sessions_a_minute() {
    let dashboard = Dashboard::behind_proxy().await;
    let ada = dashboard.named_member(ADA, Role::Owner).await;
    assert!(ada.is_signed_in().await);
    for _ in 0..29 {
        assert!(dashboard.named(ADA).is_signed_in().await);
    }
    assert_eq!(dashboard.named(ADA).get("/me").await.status, 429);
    assert!(ada.is_signed_in().await, "a browser with its session goes on");
    dashboard.memory.clock.advance(Duration::from_mins(1));
    assert!(dashboard.named(ADA).is_signed_in().await);
}

#[actix_web::test]
async fn d74_a_form_of_another_site_is_refused_behind_the_proxy_too() {
    let dashboard = Dashboard::behind_proxy().await;
    let mut ada = dashboard.named_member(ADA, Role::Owner).await;
    assert!(ada.is_signed_in().await);
    ada.site = Some("cross-site");
    let answer = ada.post(&dashboard.path("groups"), &[("name", "one")]).await;
    assert_eq!(answer.status, 403);
    assert!(answer.body.contains("This form came from another site"), "{}", answer.body);
    // Another site may link here, and embed nothing.
    let link = TestRequest::get().uri("/me").insert_header(("sec-fetch-dest", "document"));
    assert_eq!(ada.send(link).await.status, 200);
    let image = TestRequest::get().uri("/me").insert_header(("sec-fetch-dest", "image"));
    assert_eq!(ada.send(image).await.status, 403);
    let other = TestRequest::get().uri("/me").insert_header(("host", "evil.test"));
    assert_eq!(ada.send_raw(other).await.status, 421, "before all else");
}

#[actix_web::test]
async fn d77_without_the_setting_the_header_is_ignored() {
    let dashboard = Dashboard::start().await;
    dashboard.member(ADA, Role::Owner).await;
    assert_eq!(dashboard.named(ADA).get("/me").await.location(), "/sign-in?next=%2Fme");
}

async fn person(dashboard: &Dashboard, email: &str) -> User {
    dashboard.app.store.user_with_email(&Email::parse(email).unwrap()).await.unwrap().unwrap()
}
