//! Signing in at an identity provider (D77): pages, cookies and forms. The use cases have tests of their own.

use std::sync::Arc;
use std::time::Duration;

use signpost_app::Operator;
use signpost_app::idempotency::Idempotency;
use signpost_app::people::users::{self, Invite};
use signpost_app::ports::{Clock as _, IdentityClaims, ProviderError};
use signpost_domain::{Email, Name, Role, SecretToken};
use signpost_memory::FakeIdentityProvider;

use crate::harness::{Answer, Browser, Dashboard, ORIGIN, PASSWORD};

const ADA: &str = "ada@example.com";
const FLOW: &str = "__Host-signpost-flow";

async fn world() -> (Dashboard, Arc<FakeIdentityProvider>) {
    Dashboard::with_provider(ORIGIN).await
}

/// The provider names somebody who has just signed in there.
fn name(dashboard: &Dashboard, provider: &FakeIdentityProvider, subject: &str) {
    provider.name(subject, Some(dashboard.memory.clock.now()));
}

/// The way back from the provider.
async fn come_back(browser: &mut Browser, provider: &FakeIdentityProvider) -> Answer {
    let state = provider.last_request().unwrap().state;
    let own = browser.site.replace("cross-site");
    let answer = browser.get(&format!("/sign-in/provider/callback?code=c0de&state={state}")).await;
    browser.site = own;
    answer
}

/// Opens a link to the provider, and comes back.
async fn go(browser: &mut Browser, provider: &FakeIdentityProvider, path: &str) -> Answer {
    let left = browser.get(path).await;
    assert!(left.location().starts_with("https://login.example.com/authorize?state="), "{left:?}");
    come_back(browser, provider).await
}

async fn bound_ada(dashboard: &Dashboard, provider: &FakeIdentityProvider) -> Browser {
    let mut ada = dashboard.member(ADA, Role::Owner).await;
    name(dashboard, provider, "1");
    let page = go(&mut ada, provider, "/me/identity").await;
    let bound = ada.post("/me/identity", &[("identity", &page.hidden("identity"))]).await;
    assert_eq!(bound.location(), "/me?said=connected");
    ada
}

#[actix_web::test]
async fn d77_without_a_provider_no_page_offers_one() {
    let dashboard = Dashboard::start().await;
    let ada = dashboard.member(ADA, Role::Owner).await;
    for (browser, path) in
        [(dashboard.browser(), "/sign-in"), (dashboard.member("b@example.com", Role::Owner).await, "/me")]
    {
        let page = browser.get(path).await.body;
        assert!(!page.contains("provider") && !page.contains("/me/identity"), "{page}");
    }
    let stranger = dashboard.browser();
    for path in
        ["/sign-in/provider", "/sign-in/provider/callback", "/sign-in/provider/callback?code=x&state=y"]
    {
        assert_eq!(stranger.get(path).await.status, 404, "{path}");
    }
    for path in ["/confirm/provider", "/me/identity"] {
        assert_eq!(ada.get(path).await.status, 404, "{path}");
    }
    for path in ["/me/identity", "/me/identity/disconnect"] {
        assert_eq!(ada.post(path, &[("identity", "x")]).await.status, 404, "{path}");
    }
}

#[actix_web::test]
async fn d77_a_connected_user_signs_in_by_a_link() {
    let (dashboard, provider) = world().await;
    bound_ada(&dashboard, &provider).await;
    let mut browser = dashboard.browser();
    let page = browser.get("/sign-in?next=/me").await.body;
    assert!(
        page.contains(
            r#"<a class="b" href="/sign-in/provider?next=%2Fme">Sign in with login.example.com</a>"#
        )
    );
    let left = browser.get("/sign-in/provider?next=/me").await;
    assert_eq!(left.status, 303);
    let cookie = left.header("set-cookie").to_owned();
    assert!(cookie.starts_with(&format!("{FLOW}=")), "{cookie}");
    assert!(cookie.ends_with("; Path=/; HttpOnly; SameSite=Lax; Secure; Max-Age=600"), "{cookie}");
    let back = come_back(&mut browser, &provider).await;
    assert_eq!((back.status, back.location()), (303, "/me"));
    assert!(browser.is_signed_in().await);
    assert!(!browser.cookies.borrow().contains_key(FLOW), "the flow is over");
    assert_eq!(browser.get("/sign-in/provider?next=/me").await.location(), "/me", "already signed in");
    // `next` cannot lead to another site.
    let mut other = dashboard.browser();
    assert_eq!(go(&mut other, &provider, "/sign-in/provider?next=//evil.test").await.location(), "/");
}

#[actix_web::test]
async fn d72_the_cookies_prefix_of_a_flow_needs_https() {
    let (dashboard, _) = Dashboard::with_provider("http://localhost:8082").await;
    let request = actix_web::test::TestRequest::get()
        .uri("/sign-in/provider")
        .insert_header(("host", "localhost:8082"));
    let left = dashboard.browser().send_raw(request).await;
    let cookie = left.header("set-cookie").to_owned();
    assert!(cookie.starts_with("signpost-flow=") && !cookie.contains("Secure"), "{cookie}");
}

#[actix_web::test]
async fn d77_people_read_why_they_do_not_get_in_and_what_to_do() {
    let (dashboard, provider) = world().await;
    dashboard.member(ADA, Role::Owner).await;
    let mut browser = dashboard.browser();
    name(&dashboard, &provider, "1");
    let unknown = go(&mut browser, &provider, "/sign-in/provider").await;
    assert_eq!(unknown.status, 403);
    assert!(unknown.body.contains("You have no access yet") && unknown.body.contains("login.example.com"));
    let claims = |email: &str| IdentityClaims {
        identity: provider.identity("1"),
        email: Email::parse(email).ok(),
        is_email_verified: true,
        name: None,
        authenticated_at: None,
    };
    let verified = "does not say that it has verified the e-mail address";
    assert!(unknown.body.contains("the person with the id 1."), "{}", unknown.body);
    assert!(!unknown.body.contains(verified), "there is no address: {}", unknown.body);
    for is_email_verified in [true, false] {
        let name = Name::parse("<b>Bob</b>").ok();
        provider.claim(IdentityClaims { is_email_verified, name, ..claims("bob@example.com") });
        let page = go(&mut browser, &provider, "/sign-in/provider").await.body;
        assert!(page.contains("login.example.com says that you are"), "{page}");
        assert!(
            page.contains("Bob") && page.contains("(bob@example.com)") && !page.contains("<b>Bob"),
            "{page}"
        );
        assert_eq!(page.contains(verified), !is_email_verified, "{page}");
    }
    provider.claim(claims(ADA));
    let taken = go(&mut browser, &provider, "/sign-in/provider").await;
    assert_eq!(taken.status, 403);
    assert!(taken.body.contains("Connect your sign-in first"), "{}", taken.body);
    for refused in [&unknown, &taken] {
        assert!(refused.body.contains("in your settings, under “Sign-in elsewhere”"), "{}", refused.body);
    }
    let state = {
        browser.get("/sign-in/provider").await;
        provider.last_request().unwrap().state
    };
    let denied = browser.get(&format!("/sign-in/provider/callback?error=access_denied&state={state}")).await;
    assert_eq!(denied.status, 403);
    assert!(denied.body.contains("access_denied"), "{}", denied.body);
    assert!(!browser.cookies.borrow().contains_key(FLOW));
    let lost = browser.get(&format!("/sign-in/provider/callback?code=x&state={state}")).await;
    assert_eq!(lost.status, 400);
    assert!(lost.body.contains("This sign-in has come to an end"), "{}", lost.body);
    provider.fail(ProviderError::Refused { reason: "the detail".to_owned() });
    let failed = browser.get("/sign-in/provider").await;
    assert_eq!(failed.status, 502);
    assert!(failed.body.contains("Signing in elsewhere failed") && !failed.body.contains("the detail"));
}

#[actix_web::test]
async fn d77_a_newcomer_of_the_domains_gets_a_user_without_an_account() {
    let (dashboard, provider) = world().await;
    dashboard.member(ADA, Role::Owner).await;
    provider.claim(IdentityClaims {
        identity: provider.identity("9"),
        email: Email::parse("new@staff.example").ok(),
        is_email_verified: true,
        name: Name::parse("Nia New").ok(),
        authenticated_at: Some(dashboard.memory.clock.now()),
    });
    let mut browser = dashboard.browser();
    assert_eq!(go(&mut browser, &provider, "/sign-in/provider").await.location(), "/");
    let me = browser.get("/me").await.body;
    assert!(me.contains("new@staff.example") && me.contains("Nia New"), "{me}");
    assert!(me.contains("You have no password, so you could not sign in any more"), "{me}");
    assert_eq!(browser.get(&dashboard.path("links")).await.status, 404);
    let refused = browser.post("/me/identity/disconnect", &[]).await;
    assert_eq!(refused.status, 409);
    // Without a password, the page asks for the provider only.
    dashboard.memory.clock.advance(Duration::from_mins(16));
    let confirm = browser.get("/confirm?next=/me").await.body;
    assert!(
        confirm.contains("/confirm/provider?next=%2Fme") && !confirm.contains("type=\"password\""),
        "{confirm}"
    );
}

#[actix_web::test]
async fn d70_d77_the_way_back_binds_nothing_until_the_form_is_sent() {
    let (dashboard, provider) = world().await;
    let mut ada = dashboard.member(ADA, Role::Owner).await;
    assert!(ada.get("/me").await.body.contains(r#"href="/me/identity">Connect login.example.com</a>"#));
    name(&dashboard, &provider, "1");
    let page = go(&mut ada, &provider, "/me/identity").await;
    assert_eq!(page.status, 200);
    assert!(page.body.contains("the person with the id 1"), "{}", page.body);
    assert!(ada.get("/me").await.body.contains("Connect login.example.com"), "nothing is bound yet");
    let identity = page.hidden("identity");
    let bob = dashboard.member("bob@example.com", Role::Owner).await;
    assert_eq!(bob.post("/me/identity", &[("identity", &identity)]).await.status, 400, "another session");
    assert_eq!(ada.post("/me/identity", &[("identity", &identity)]).await.location(), "/me?said=connected");
    let me = ada.get("/me?said=connected").await.body;
    assert!(
        me.contains("Connected to login.example.com since") && me.contains("From now on you can"),
        "{me}"
    );
    let gone = ada.post("/me/identity/disconnect", &[]).await;
    assert_eq!(gone.location(), "/me?said=disconnected");
    assert!(ada.get("/me").await.body.contains("Connect login.example.com"));
}

#[actix_web::test]
async fn d73_connecting_and_disconnecting_take_a_confirmed_session() {
    let (dashboard, provider) = world().await;
    let mut ada = bound_ada(&dashboard, &provider).await;
    dashboard.memory.clock.advance(Duration::from_mins(16));
    assert_eq!(ada.get("/me/identity").await.location(), "/confirm?next=%2Fme%3Fsaid%3Dconnect-now");
    assert_eq!(ada.post("/me/identity/disconnect", &[]).await.location(), "/confirm?next=%2Fme");
    assert_eq!(
        ada.post("/me/identity", &[("identity", "x")]).await.location(),
        "/confirm?next=%2Fme%3Fsaid%3Dconnect-now"
    );
    // The provider confirms by a new sign-in of the same person.
    let confirm = ada.get("/confirm?next=/me").await.body;
    assert!(
        confirm.contains("Sign in again with login.example.com") && confirm.contains("type=\"password\"")
    );
    let before = ada.token();
    provider.name("1", None);
    let stale = go(&mut ada, &provider, "/confirm/provider?next=/me").await;
    assert_eq!(stale.status, 403);
    assert!(stale.body.contains("You were not asked to sign in again"), "{}", stale.body);
    name(&dashboard, &provider, "1");
    assert_eq!(go(&mut ada, &provider, "/confirm/provider?next=/me").await.location(), "/me");
    assert!(provider.last_request().unwrap().must_sign_in_again);
    assert_ne!(ada.token(), before);
    assert_eq!(ada.post("/me/identity/disconnect", &[]).await.location(), "/me?said=disconnected");
}

#[actix_web::test]
async fn d77_an_invitation_is_accepted_with_the_provider() {
    let (dashboard, provider) = world().await;
    let email = Email::parse("bob@example.com").unwrap();
    let invite = Invite { email, joins: Some((dashboard.account, Role::Editor)), is_operator: false };
    let token: SecretToken =
        users::invite(&dashboard.app, &Operator::COMMAND, invite, Idempotency::disabled()).await.unwrap();
    let (mut bob, path) = (dashboard.browser(), format!("/invitation/{}", token.expose()));
    let page = bob.get(&path).await.body;
    assert!(
        page.contains(&format!("{path}/provider")) && page.contains("Accept with login.example.com"),
        "{page}"
    );
    name(&dashboard, &provider, "7");
    let form = go(&mut bob, &provider, &format!("{path}/provider")).await;
    assert_eq!(form.status, 200);
    assert!(form.body.contains("bob@example.com"), "{}", form.body);
    let identity = form.hidden("identity");
    let typed = [("identity", identity.as_str()), ("name", ""), ("time_zone", "Nowhere/Land")];
    let refused = bob.post(&format!("{path}/provider"), &typed).await;
    assert_eq!(refused.status, 422);
    assert!(refused.body.contains("the person with the id 7"), "{}", refused.body);
    let typed = [("identity", identity.as_str()), ("name", "Bob"), ("time_zone", "Europe/Berlin")];
    assert_eq!(bob.post(&format!("{path}/provider"), &typed).await.location(), "/");
    assert_eq!(bob.get(&dashboard.path("links")).await.status, 200);
    let mut later = dashboard.browser();
    assert_eq!(go(&mut later, &provider, "/sign-in/provider").await.location(), "/");
    assert_eq!(later.get(&dashboard.path("links")).await.status, 200);
    let void = bob.get(&format!("{path}/provider")).await;
    assert_eq!(void.status, 410);
    // A password that was never set opens nothing.
    assert_eq!(dashboard.browser().sign_in("bob@example.com", PASSWORD).await.status, 422);
}

#[actix_web::test]
async fn d73_after_confirming_people_connect_by_a_link() {
    let (dashboard, provider) = world().await;
    let mut ada = dashboard.member(ADA, Role::Owner).await;
    dashboard.memory.clock.advance(Duration::from_mins(16));
    let first = ada.get("/me/identity").await;
    assert_eq!(first.location(), "/confirm?next=%2Fme%3Fsaid%3Dconnect-now", "no form leads to the provider");
    let form = [("password", PASSWORD), ("next", "/me?said=connect-now")];
    let confirmed = ada.post("/confirm", &form).await;
    assert_eq!(confirmed.location(), "/me?said=connect-now");
    assert!(ada.get(confirmed.location()).await.body.contains("Connect the provider now."));
    name(&dashboard, &provider, "1");
    assert_eq!(go(&mut ada, &provider, "/me/identity").await.status, 200);
    assert_eq!(dashboard.browser().get("/me/identity").await.location(), "/sign-in?next=%2Fme");
}

#[actix_web::test]
async fn d77_an_answer_to_another_flow_leaves_this_one_alone() {
    let (dashboard, provider) = world().await;
    bound_ada(&dashboard, &provider).await;
    let mut browser = dashboard.browser();
    browser.get("/sign-in/provider").await;
    let foreign = format!("/sign-in/provider/callback?code=c0de&state={}", "0".repeat(64));
    assert_eq!(browser.get(&foreign).await.status, 400);
    assert!(browser.cookies.borrow().contains_key(FLOW));
    assert_eq!(come_back(&mut browser, &provider).await.location(), "/");
}

#[actix_web::test]
async fn d77_an_operator_disconnects_a_user() {
    let (dashboard, provider) = world().await;
    let ada = bound_ada(&dashboard, &provider).await;
    let operator = dashboard.invited("op@example.com", None, true).await;
    let found = operator.get("/operator/users?q=ada%40example.com").await;
    let (_, rest) = found.body.split_once("/operator/users/usr_").unwrap();
    let path = format!("/operator/users/usr_{}", rest.split('"').next().unwrap());
    let page = operator.get(&path).await.body;
    assert!(page.contains("connected since") && page.contains("/disconnect"), "{page}");
    assert_eq!(ada.post(&format!("{path}/disconnect"), &[]).await.status, 404);
    assert_eq!(operator.post(&format!("{path}/disconnect"), &[]).await.status, 303);
    assert!(!operator.get(&path).await.body.contains("connected since"));
    let mut browser = dashboard.browser();
    assert_eq!(go(&mut browser, &provider, "/sign-in/provider").await.status, 403);
    assert!(operator.get("/audit?action=identity_unbound").await.body.contains("ada@example.com"));
}

#[actix_web::test]
async fn a_second_factor_and_a_provider_go_beside_each_other() {
    let (dashboard, provider) = world().await;
    let ada = bound_ada(&dashboard, &provider).await;
    let path = dashboard.path("settings/second-factor");
    let required = ada.post(&path, &[("required", "true")]).await;
    assert_eq!(
        required.location(),
        "/me/second-factor?said=own-factor-first",
        "her password alone lets her in"
    );
    crate::second_factor::set_up(&ada).await;
    assert_eq!(ada.post(&path, &[("required", "true")]).await.status, 303);
    // The provider decides on further factors.
    let mut at_provider = dashboard.browser();
    assert_eq!(go(&mut at_provider, &provider, "/sign-in/provider").await.location(), "/");
    assert_eq!(at_provider.get(&dashboard.path("links")).await.status, 200);
    // Somebody without a password has no way in that lacks a factor.
    let invited = dashboard.browser();
    let email = Email::parse("eve@example.com").unwrap();
    let joins = Some((dashboard.account, Role::Viewer));
    let invite = Invite { email, joins, is_operator: false };
    let token =
        users::invite(&dashboard.app, &Operator::COMMAND, invite, Idempotency::disabled()).await.unwrap();
    let mut invited = invited;
    name(&dashboard, &provider, "2");
    let accept = format!("/invitation/{}/provider", token.expose());
    let page = go(&mut invited, &provider, &accept).await;
    let form = [("identity", &*page.hidden("identity")), ("name", "Eve"), ("time_zone", "UTC")];
    assert_eq!(invited.post(&accept, &form).await.status, 303);
    assert_eq!(invited.get(&dashboard.path("links")).await.status, 200);
    // A password would be such a way.
    let form = [("password", "another fine password")];
    assert_eq!(invited.post("/me/password", &form).await.location(), "/me?said=password-changed");
    let closed = invited.get(&dashboard.path("links")).await;
    assert_eq!(closed.location(), crate::second_factor::needed_before(&dashboard.path("links")));
}
