//! First start, invitation and password reset (D70, D79).

use futures_util::future::join_all;
use signpost_app::Operator;
use signpost_app::idempotency::Idempotency;
use signpost_app::people::users::{self, Invite, UserReference};
use signpost_domain::{Email, Role};

use crate::harness::{Dashboard, PASSWORD};

const PERSON: [(&str, &str); 4] =
    [("name", "Ada"), ("email", "ada@example.com"), ("password", PASSWORD), ("time_zone", "Europe/Berlin")];

fn email(text: &str) -> Email {
    Email::parse(text).unwrap()
}

#[actix_web::test]
async fn d79_the_first_user_becomes_owner_of_the_oldest_account_and_operator() {
    let dashboard = Dashboard::start().await;
    dashboard.account("later@example.com", "agency").await;
    let path = format!("/start/{}", dashboard.first_start().await.unwrap().expose());
    let browser = dashboard.browser();
    for _ in 0..100 {
        assert_eq!(browser.get(&path).await.status, 200, "looking consumes nothing");
    }
    assert_eq!(browser.post(&path, &PERSON).await.location(), "/first");
    let first_link = browser.get("/first").await;
    assert_eq!(first_link.location(), format!("/{}/links/new", dashboard.account));
    assert_eq!(browser.get("/").await.location(), format!("/{}/links", dashboard.account));
    let user = dashboard.app.store.user_with_email(&email("ada@example.com")).await.unwrap().unwrap();
    assert!(user.is_operator);
    let again = dashboard.browser();
    assert_eq!(again.post(&path, &PERSON).await.status, 410, "one use");
    let void = again.get(&path).await;
    assert!(void.status == 410 && void.body.contains("each start makes a new link"), "{}", void.body);
    for other in ["/start/x", "/invitation/x"] {
        let malformed = again.get(other).await;
        let has_advice = malformed.body.contains("each start makes a new link");
        assert_eq!((malformed.status, has_advice), (410, other == "/start/x"), "{other}: {}", malformed.body);
    }
    assert!(dashboard.first_start().await.is_none(), "there is a user");
}

#[actix_web::test]
async fn d70_of_many_uses_at_once_one_gets_in() {
    let dashboard = Dashboard::start().await;
    let path = format!("/start/{}", dashboard.first_start().await.unwrap().expose());
    let browsers: Vec<_> = (0..20).map(|_| dashboard.browser()).collect();
    let answers = join_all(browsers.iter().map(|browser| browser.post(&path, &PERSON))).await;
    let statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
    assert_eq!(statuses.iter().filter(|status| **status == 303).count(), 1, "{statuses:?}");
    assert!(statuses.iter().all(|status| [303, 410].contains(status)), "{statuses:?}");
}

/// Both requests find the ticket before either takes it.
#[actix_web::test]
async fn d79_of_two_uses_at_once_the_second_learns_where_start_links_come_from() {
    let dashboard = Dashboard::start().await;
    let path = format!("/start/{}", dashboard.first_start().await.unwrap().expose());
    dashboard.memory.passwords.let_meet(2);
    let browsers = [dashboard.browser(), dashboard.browser()];
    let mut answers = join_all(browsers.iter().map(|browser| browser.post(&path, &PERSON))).await;
    answers.sort_by_key(|answer| answer.status);
    assert_eq!(answers[0].location(), "/first");
    assert_eq!(answers[1].status, 410);
    assert!(answers[1].body.contains("each start makes a new link"), "{}", answers[1].body);
}

#[actix_web::test]
async fn d79_a_newer_start_voids_the_older() {
    let dashboard = Dashboard::start().await;
    let older = dashboard.first_start().await.unwrap();
    let newer = dashboard.first_start().await.unwrap();
    let browser = dashboard.browser();
    assert_eq!(browser.get(&format!("/start/{}", older.expose())).await.status, 410);
    assert_eq!(browser.get(&format!("/start/{}", newer.expose())).await.status, 200);
}

#[actix_web::test]
async fn d70_tickets_expire() {
    let dashboard = Dashboard::start().await;
    let start = format!("/start/{}", dashboard.first_start().await.unwrap().expose());
    let invite = Invite {
        email: email("bob@example.com"),
        joins: Some((dashboard.account, Role::Viewer)),
        is_operator: false,
    };
    let invitation = format!(
        "/invitation/{}",
        users::invite(&dashboard.app, &Operator::COMMAND, invite, Idempotency::disabled())
            .await
            .unwrap()
            .expose()
    );
    let browser = dashboard.browser();
    let hours = |hours: u64| std::time::Duration::from_hours(hours);
    dashboard.memory.clock.advance(hours(24));
    assert_eq!(browser.post(&start, &PERSON).await.status, 410);
    assert_eq!(browser.get(&invitation).await.status, 200);
    dashboard.memory.clock.advance(hours(6 * 24));
    assert_eq!(browser.get(&invitation).await.status, 410);
    assert_eq!(browser.post(&invitation, &PERSON).await.status, 410);
}

#[actix_web::test]
async fn d70_a_ticket_is_for_its_own_purpose() {
    let dashboard = Dashboard::start().await;
    let token = dashboard.first_start().await.unwrap();
    let browser = dashboard.browser();
    for kind in ["invitation", "reset"] {
        let path = format!("/{kind}/{}", token.expose());
        assert_eq!(browser.get(&path).await.status, 410, "{kind}");
        assert_eq!(browser.post(&path, &PERSON).await.status, 410, "{kind}");
    }
    assert_eq!(browser.get(&format!("/start/{}", token.expose())).await.status, 200);
}

#[actix_web::test]
async fn d70_an_invitation_is_for_its_address_alone() {
    let dashboard = Dashboard::start().await;
    let elsewhere = dashboard.account("else@example.com", "agency").await;
    let ada = dashboard.member("ada@example.com", Role::Viewer).await;
    let bob = dashboard.member("bob@example.com", Role::Viewer).await;
    let invite = Invite {
        email: email("ADA@example.com"),
        joins: Some((elsewhere, Role::Editor)),
        is_operator: false,
    };
    let path = format!(
        "/invitation/{}",
        users::invite(&dashboard.app, &Operator::COMMAND, invite, Idempotency::disabled())
            .await
            .unwrap()
            .expose()
    );
    assert!(dashboard.browser().get(&path).await.body.contains("Sign in"), "ada has a user");
    assert_eq!(bob.post(&path, &[]).await.status, 403, "the invitation is another's");
    assert_eq!(ada.post(&path, &[]).await.location(), format!("/{elsewhere}/links"));
    assert_eq!(ada.get(&format!("/{elsewhere}/links")).await.status, 200);
    assert_eq!(ada.get("/").await.location(), "/accounts", "two accounts to choose from");
}

#[actix_web::test]
async fn d70_a_reset_sets_the_password_and_ends_all_sessions() {
    let dashboard = Dashboard::start().await;
    let ada = dashboard.member("ada@example.com", Role::Owner).await;
    let reference = UserReference::Email(email("ada@example.com"));
    let (_, token) =
        users::reset(&dashboard.app, &Operator::COMMAND, &reference, Idempotency::disabled()).await.unwrap();
    let path = format!("/reset/{}", token.expose());
    assert!(ada.is_signed_in().await, "making a link changes nothing");
    let browser = dashboard.browser();
    let weak = browser.post(&path, &[("password", "password123")]).await;
    assert_eq!(weak.status, 422, "a refused password consumes nothing");
    assert_eq!(browser.post(&path, &[("password", "another fine password")]).await.status, 303);
    assert!(browser.is_signed_in().await && !ada.is_signed_in().await);
    let void = browser.post(&path, &[("password", "another fine password")]).await;
    assert!(void.status == 410 && !void.body.contains("each start"), "{}", void.body);
    assert_eq!(dashboard.browser().sign_in("ada@example.com", PASSWORD).await.status, 422);
    assert_eq!(dashboard.browser().sign_in("ada@example.com", "another fine password").await.status, 303);
}

#[actix_web::test]
async fn d70_a_changed_password_voids_a_reset() {
    let dashboard = Dashboard::start().await;
    let ada = dashboard.member("ada@example.com", Role::Owner).await;
    let reference = UserReference::Email(email("ada@example.com"));
    let (_, token) =
        users::reset(&dashboard.app, &Operator::COMMAND, &reference, Idempotency::disabled()).await.unwrap();
    assert_eq!(ada.post("/me/password", &[("password", "another fine password")]).await.status, 303);
    assert_eq!(dashboard.browser().get(&format!("/reset/{}", token.expose())).await.status, 410);
}
