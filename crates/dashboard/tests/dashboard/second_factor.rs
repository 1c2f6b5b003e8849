//! Second factors: setting one up, signing in and confirming with it, and requiring it (ADR 73).

use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use futures_util::future::join;
use signpost_app::Operator;
use signpost_app::idempotency::Idempotency;
use signpost_app::people::users::{self, UserReference};
use signpost_domain::{Email, Role, TotpSeed};

use crate::harness::{Answer, Browser, Dashboard, PASSWORD};

pub const PAGE: &str = "/me/second-factor";
pub const SET_UP: &str = "/me/second-factor/set-up";
const ADA: &str = "ada@example.com";

/// The seed on the page that sets up a second factor. The sealer of tests leaves it readable at the end.
fn seed_on(page: &Answer) -> TotpSeed {
    let sealed = BASE64_URL_SAFE_NO_PAD.decode(page.hidden("sealed")).unwrap();
    TotpSeed::from_opened(&sealed[sealed.len() - TotpSeed::LENGTH..]).unwrap()
}

/// The code that the app shows now.
fn code(dashboard: &Dashboard, seed: &TotpSeed) -> String {
    seed.code(dashboard.app.clock.now())
}

/// The next code of the app.
fn next_code(dashboard: &Dashboard, seed: &TotpSeed) -> String {
    dashboard.memory.clock.advance(Duration::from_secs(30));
    code(dashboard, seed)
}

/// Sets up a second factor. Returns its seed, and the recovery codes.
pub async fn set_up(browser: &Browser) -> (TotpSeed, Vec<String>) {
    let (seed, page) = set_up_at(browser, SET_UP).await;
    (seed, codes_on(&page))
}

/// Sets up a second factor on the page at `path`. Returns its seed, and the page with the recovery codes.
pub async fn set_up_at(browser: &Browser, path: &str) -> (TotpSeed, Answer) {
    let page = browser.get(path).await;
    assert_eq!(page.status, 200, "{}", page.location());
    let seed = seed_on(&page);
    assert!(page.body.contains(&seed.typed()), "{}", page.body);
    let code = code(&browser.dashboard, &seed);
    let next = page.hidden("next").replace("&#38;", "&");
    let form = [("sealed", &*page.hidden("sealed")), ("code", &code), ("next", &next)];
    (seed, browser.post(SET_UP, &form).await)
}

fn codes_on(page: &Answer) -> Vec<String> {
    assert_eq!(page.status, 200, "{} {}", page.location(), page.body);
    let (_, list) = page.body.split_once("<pre>").unwrap();
    list.split_once("</pre>").unwrap().0.lines().map(str::to_owned).collect()
}

/// The browser of somebody who has a second factor, the seed, and the recovery codes.
pub async fn ada_with_factor(dashboard: &Dashboard) -> (Browser, TotpSeed, Vec<String>) {
    let ada = dashboard.member(ADA, Role::Owner).await;
    let (seed, codes) = set_up(&ada).await;
    (ada, seed, codes)
}

/// The redirect of a person who needs a second factor to see the page at `path`.
pub fn needed_before(path: &str) -> String {
    let next: String = url::form_urlencoded::byte_serialize(path.as_bytes()).collect();
    format!("{PAGE}?said=factor-needed&next={next}")
}

/// A browser in which the password was right.
async fn with_password(dashboard: &Dashboard) -> Browser {
    with_password_of(dashboard, PASSWORD).await
}

async fn with_password_of(dashboard: &Dashboard, password: &str) -> Browser {
    let browser = dashboard.browser();
    let answer = browser.sign_in(ADA, password).await;
    assert_eq!((answer.status, answer.location()), (303, "/sign-in/code"));
    browser
}

#[actix_web::test]
async fn a_second_factor_is_set_up_when_its_first_code_is_right() {
    let dashboard = Dashboard::start().await;
    let ada = dashboard.member(ADA, Role::Owner).await;
    let page = ada.get(SET_UP).await;
    let (sealed, seed) = (page.hidden("sealed"), seed_on(&page));
    let wrong = ada.post(SET_UP, &[("sealed", &sealed), ("code", "000000")]).await;
    assert_eq!(wrong.status, 422);
    assert_eq!(wrong.hidden("sealed"), sealed, "the same seed is shown again");
    assert!(wrong.body.contains(&seed.typed()) && wrong.body.contains("value=\"000000\""), "{}", wrong.body);
    let advice = "Scan the QR code on this page";
    assert!(wrong.body.contains(advice) && !wrong.body.contains("recovery code"), "{}", wrong.body);
    let ada_signs_in = async || dashboard.browser().sign_in(ADA, PASSWORD).await.location().to_owned();
    assert_eq!(ada_signs_in().await, "/", "nothing is stored yet");
    let other = dashboard.browser();
    other.sign_in(ADA, PASSWORD).await;
    let form = [("sealed", &*sealed), ("code", &code(&dashboard, &seed))];
    let codes = codes_on(&ada.post(SET_UP, &form).await);
    assert_eq!(codes.len(), 10);
    assert_eq!(ada_signs_in().await, "/sign-in/code");
    assert!(!other.is_signed_in().await && ada.is_signed_in().await, "every other session has ended");
    let again = ada.post(SET_UP, &form).await;
    assert_eq!((again.status, again.location()), (303, PAGE), "a reload draws no new recovery codes");
    assert!(ada.get(PAGE).await.body.contains("10 recovery codes are left."));
    let audit = ada.get("/audit").await;
    assert_eq!(audit.status, 404, "she is no operator");
}

#[actix_web::test]
async fn a_seed_is_set_up_by_the_user_that_it_was_drawn_for() {
    let dashboard = Dashboard::start().await;
    let ada = dashboard.member(ADA, Role::Owner).await;
    let mallory = dashboard.member("mallory@example.com", Role::Viewer).await;
    let page = mallory.get(SET_UP).await;
    let form = [("sealed", &*page.hidden("sealed")), ("code", &code(&dashboard, &seed_on(&page)))];
    let refused = ada.post(SET_UP, &form).await;
    assert_eq!((refused.status, refused.location()), (303, PAGE));
    for sealed in ["", "AAAA", "not base64!"] {
        let refused = ada.post(SET_UP, &[("sealed", sealed), ("code", "000000")]).await;
        assert_eq!((refused.status, refused.location()), (303, PAGE), "{sealed}");
    }
    assert_eq!(dashboard.browser().sign_in(ADA, PASSWORD).await.location(), "/");
}

#[actix_web::test]
async fn the_password_alone_opens_nothing() {
    let dashboard = Dashboard::start().await;
    let (_, seed, _) = ada_with_factor(&dashboard).await;
    let browser = with_password(&dashboard).await;
    assert!(browser.token().is_empty());
    for path in ["/", "/me", "/confirm", &dashboard.path("links")] {
        assert!(browser.get(path).await.location().starts_with("/sign-in"), "{path}");
    }
    assert_eq!(browser.get("/sign-in/code").await.status, 200);
    let wrong = browser.post("/sign-in/code", &[("code", "000000"), ("next", "/me")]).await;
    assert!(wrong.status == 422 && wrong.body.contains("The code is wrong"), "{}", wrong.body);
    assert_eq!(wrong.hidden("next"), "/me");
    let form = [("code", &*next_code(&dashboard, &seed)), ("next", "/me")];
    let answer = browser.post("/sign-in/code", &form).await;
    assert_eq!((answer.status, answer.location()), (303, "/me"));
    assert!(browser.is_signed_in().await);
    assert_eq!(browser.cookies.borrow().len(), 1, "the step's cookie is gone");
}

#[actix_web::test]
async fn a_code_lets_one_browser_in() {
    let dashboard = Dashboard::start().await;
    let (_, seed, _) = ada_with_factor(&dashboard).await;
    let code = next_code(&dashboard, &seed);
    let browsers = [with_password(&dashboard).await, with_password(&dashboard).await];
    let form = [("code", code.as_str())];
    let [one, other] = &browsers;
    let (first, second) = join(one.post("/sign-in/code", &form), other.post("/sign-in/code", &form)).await;
    let mut statuses = [first.status, second.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [303, 422]);
}

#[actix_web::test]
async fn a_recovery_code_stands_in_for_the_app_once() {
    let dashboard = Dashboard::start().await;
    let (ada, _, codes) = ada_with_factor(&dashboard).await;
    let typed = codes[3].to_uppercase().replace('-', " ");
    let browser = with_password(&dashboard).await;
    assert_eq!(browser.post("/sign-in/code", &[("code", &typed)]).await.location(), "/");
    let again = with_password(&dashboard).await;
    assert_eq!(again.post("/sign-in/code", &[("code", &codes[3])]).await.status, 422);
    assert!(ada.get(PAGE).await.body.contains("9 recovery codes are left."));
    let new = codes_on(&ada.post("/me/second-factor/recovery-codes", &[]).await);
    assert_eq!(again.post("/sign-in/code", &[("code", &codes[4])]).await.status, 422, "the earlier are void");
    assert_eq!(again.post("/sign-in/code", &[("code", &new[0])]).await.location(), "/");
    let audit = ada.get(&dashboard.path("audit")).await;
    assert_eq!(audit.status, 200);
    let operator = dashboard.invited("op@example.com", None, true).await;
    let audit = operator.get("/audit").await.body;
    for words in ["Set up a second factor", "Used a recovery code", "Made new recovery codes"] {
        assert!(audit.contains(words), "{words}");
    }
    assert!(audit.contains("ada@example.com, 9 left"), "{audit}");
}

#[actix_web::test]
async fn wrong_codes_wait_from_any_address_and_a_right_password_forgives_none() {
    let dashboard = Dashboard::start().await;
    let (ada, seed, _) = ada_with_factor(&dashboard).await;
    for number in 0..5 {
        let browser = Browser { address: format!("198.51.100.{number}"), ..dashboard.browser() };
        assert_eq!(browser.sign_in(ADA, PASSWORD).await.location(), "/sign-in/code");
        let answer = browser.post("/sign-in/code", &[("code", "000000")]).await;
        assert_eq!(answer.status, 422, "{number}");
    }
    let browser = with_password(&dashboard).await;
    let form = [("code", &*code(&dashboard, &seed))];
    let waits = browser.post("/sign-in/code", &form).await;
    assert_eq!(waits.status, 429);
    assert!(waits.body.contains("30 seconds"), "{}", waits.body);
    let wrong = browser.post("/sign-in/code", &[("code", "aaaa-aaaa-aaaa-aaaa")]).await;
    assert_eq!(wrong.status, 422, "a recovery code does not wait");
    let form = [("password", PASSWORD), ("code", &*next_code(&dashboard, &seed)), ("next", PAGE)];
    let confirmed = ada.post("/confirm", &form).await;
    assert_eq!(confirmed.location(), PAGE, "a live session still confirms");
    let form = [("code", &*next_code(&dashboard, &seed))];
    assert_eq!(browser.post("/sign-in/code", &form).await.status, 303);
}

#[actix_web::test]
async fn a_right_password_waits_twenty_minutes_for_its_code() {
    let dashboard = Dashboard::start().await;
    let (ada, seed, _) = ada_with_factor(&dashboard).await;
    let changed = with_password(&dashboard).await;
    let expired = |answer: &Answer| {
        let sign_in = "/sign-in?said=code-too-late&next=%2F";
        assert_eq!((answer.status, answer.location()), (303, sign_in));
    };
    let stranger = dashboard.browser();
    expired(&stranger.post("/sign-in/code", &[("code", "000000")]).await);
    assert_eq!(stranger.get("/sign-in/code").await.location(), "/sign-in");
    let password = "another fine password";
    assert_eq!(ada.post("/me/password", &[("password", password)]).await.status, 303);
    let form = [("code", &*next_code(&dashboard, &seed))];
    expired(&changed.post("/sign-in/code", &form).await);
    let user = UserReference::Email(Email::parse(ADA).unwrap());
    let (fresh, late) = (dashboard.browser(), dashboard.browser());
    for browser in [&fresh, &late] {
        assert_eq!(browser.sign_in(ADA, password).await.location(), "/sign-in/code");
    }
    users::disable(&dashboard.app, &Operator::COMMAND, &user).await.unwrap();
    expired(&fresh.post("/sign-in/code", &form).await);
    users::enable(&dashboard.app, &Operator::COMMAND, &user).await.unwrap();
    dashboard.memory.clock.advance(Duration::from_mins(20));
    let form = [("code", &*code(&dashboard, &seed))];
    expired(&late.post("/sign-in/code", &form).await);
    let fresh = dashboard.browser();
    assert_eq!(fresh.sign_in(ADA, password).await.location(), "/sign-in/code");
    assert_eq!(fresh.post("/sign-in/code", &form).await.location(), "/");
}

#[actix_web::test]
async fn d73_confirming_needs_a_code_as_well() {
    let dashboard = Dashboard::start().await;
    let (ada, seed, _) = ada_with_factor(&dashboard).await;
    dashboard.memory.clock.advance(Duration::from_mins(16));
    assert!(ada.get(SET_UP).await.location().starts_with("/confirm?next="));
    assert!(ada.get("/confirm").await.body.contains("name=\"code\""));
    let before = ada.token();
    for form in [
        [("password", PASSWORD), ("code", ""), ("next", PAGE)],
        [("password", PASSWORD), ("code", "000000"), ("next", PAGE)],
        [("password", "wrong password"), ("code", &code(&dashboard, &seed)), ("next", PAGE)],
    ] {
        let answer = ada.post("/confirm", &form).await;
        assert_eq!((answer.status, &*answer.hidden("next")), (422, PAGE), "{form:?}");
    }
    assert!(ada.post("/me/second-factor/remove", &[]).await.location().starts_with("/confirm"));
    let form = [("password", PASSWORD), ("code", &*next_code(&dashboard, &seed)), ("next", PAGE)];
    assert_eq!(ada.post("/confirm", &form).await.location(), PAGE);
    assert_ne!(ada.token(), before);
    let removed = ada.post("/me/second-factor/remove", &[]).await;
    assert_eq!(removed.location(), "/me/second-factor?said=factor-removed");
    assert_eq!(dashboard.browser().sign_in(ADA, PASSWORD).await.location(), "/");
    assert_eq!(ada.post("/me/second-factor/remove", &[]).await.location(), PAGE);
    assert_eq!(ada.post("/me/second-factor/recovery-codes", &[]).await.location(), PAGE);
}

#[actix_web::test]
async fn a_new_password_by_a_link_needs_the_code_as_well() {
    let dashboard = Dashboard::start().await;
    let (_, seed, _) = ada_with_factor(&dashboard).await;
    let user = UserReference::Email(Email::parse(ADA).unwrap());
    let (_, token) =
        users::reset(&dashboard.app, &Operator::COMMAND, &user, Idempotency::disabled()).await.unwrap();
    let browser = dashboard.browser();
    let form = [("password", "another fine password")];
    let answer = browser.post(&format!("/reset/{}", token.expose()), &form).await;
    assert_eq!((answer.status, answer.location()), (303, "/sign-in/code"));
    assert!(!browser.is_signed_in().await);
    let form = [("code", &*next_code(&dashboard, &seed))];
    assert_eq!(browser.post("/sign-in/code", &form).await.location(), "/");
    assert!(browser.is_signed_in().await);
}

#[actix_web::test]
async fn an_operator_removes_a_lost_second_factor() {
    let dashboard = Dashboard::start().await;
    let (ada, ..) = ada_with_factor(&dashboard).await;
    let operator = dashboard.invited("op@example.com", None, true).await;
    let found = operator.get("/operator/users?q=ada%40example.com").await;
    let (_, rest) = found.body.split_once("/operator/users/usr_").unwrap();
    let path = format!("/operator/users/usr_{}", rest.split('"').next().unwrap());
    let remove = format!("{path}/remove-second-factor");
    assert!(operator.get(&path).await.body.contains(&remove));
    assert_eq!(ada.post(&remove, &[]).await.status, 404);
    assert_eq!(operator.post(&remove, &[]).await.status, 303);
    assert!(!operator.get(&path).await.body.contains(&remove));
    assert_eq!(dashboard.browser().sign_in(ADA, PASSWORD).await.location(), "/");
}

#[actix_web::test]
async fn an_account_that_requires_a_second_factor_is_closed_to_a_password_alone() {
    let dashboard = Dashboard::start().await;
    let owner = dashboard.member(ADA, Role::Owner).await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let path = dashboard.path("settings/second-factor");
    assert_eq!(editor.post(&path, &[("required", "true")]).await.status, 403);
    let first = owner.post(&path, &[("required", "true")]).await;
    assert_eq!(first.location(), "/me/second-factor?said=own-factor-first");
    set_up(&owner).await;
    let required = owner.post(&path, &[("required", "true")]).await;
    assert_eq!(required.location(), dashboard.path("settings?said=factor-required"));
    for path in [dashboard.path("links"), dashboard.path("export.csv")] {
        assert_eq!(editor.get(&path).await.location(), needed_before(&path), "{path}");
        assert_eq!(owner.get(&path).await.status, 200, "{path}");
    }
    let led = editor.get("/me/second-factor?said=factor-needed").await;
    assert!(led.body.contains("This account requires a second factor"), "{}", led.body);
    assert_eq!(editor.get("/accounts").await.status, 200, "nothing else is closed");
    set_up(&editor).await;
    assert_eq!(editor.get(&dashboard.path("links")).await.status, 200);
    let members = owner.get(&dashboard.path("members")).await.body;
    assert_eq!(members.matches("Second factor</b>").count(), 2, "{members}");
    let optional = owner.post(&path, &[("required", "false")]).await;
    assert_eq!(optional.location(), dashboard.path("settings?said=factor-optional"));
    let audit = owner.get(&dashboard.path("audit")).await.body;
    assert!(audit.contains("Required a second factor") && audit.contains("Made the second factor optional"));
}

#[actix_web::test]
async fn without_a_secrets_key_there_are_no_second_factors() {
    let dashboard = Dashboard::start().await;
    let (ada, seed, codes) = ada_with_factor(&dashboard).await;
    let without = dashboard.without_sealer().await;
    let sessions = without.browser();
    sessions.cookies.borrow_mut().clone_from(&ada.cookies.borrow());
    assert!(sessions.get(PAGE).await.body.contains("10 recovery codes are left."));
    assert_eq!(sessions.get(SET_UP).await.location(), PAGE);
    let refused = without.browser().sign_in(ADA, PASSWORD).await;
    assert!(refused.status == 422 && refused.body.contains("has no secrets key now"), "{}", refused.body);
    let user = UserReference::Email(Email::parse(ADA).unwrap());
    let (_, token) =
        users::reset(&without.app, &Operator::COMMAND, &user, Idempotency::disabled()).await.unwrap();
    let form = [("password", "another fine password")];
    let refused = without.browser().post(&format!("/reset/{}", token.expose()), &form).await;
    assert!(refused.status == 422 && refused.body.contains("has no secrets key now"), "{}", refused.body);
    // With another secrets key, a code of the app cannot be checked, and a recovery code can.
    let other = dashboard.with_sealer(7).await;
    let browser = other.browser();
    assert_eq!(browser.sign_in(ADA, PASSWORD).await.location(), "/sign-in/code");
    let form = [("code", &*next_code(&dashboard, &seed))];
    let lost = browser.post("/sign-in/code", &form).await;
    assert!(lost.status == 422 && lost.body.contains("secrets key was replaced"), "{}", lost.body);
    assert_eq!(browser.post("/sign-in/code", &[("code", &codes[0])]).await.location(), "/");
}

#[actix_web::test]
async fn a_void_step_makes_nobody_wait() {
    let dashboard = Dashboard::start().await;
    let (ada, seed, _) = ada_with_factor(&dashboard).await;
    let thief = with_password(&dashboard).await;
    let password = "another fine password";
    assert_eq!(ada.post("/me/password", &[("password", password)]).await.status, 303);
    let step = thief.cookies.borrow().clone();
    for _ in 0..6 {
        thief.cookies.borrow_mut().clone_from(&step);
        let answer = thief.post("/sign-in/code", &[("code", "000000")]).await;
        assert!(answer.location().starts_with("/sign-in?said=code-too-late"), "{answer:?}");
    }
    let browser = with_password_of(&dashboard, password).await;
    let form = [("code", &*next_code(&dashboard, &seed))];
    assert_eq!(browser.post("/sign-in/code", &form).await.location(), "/");
}

#[actix_web::test]
async fn a_reset_forgives_the_codes_that_somebody_else_got_wrong() {
    let dashboard = Dashboard::start().await;
    let (_, seed, _) = ada_with_factor(&dashboard).await;
    for number in 0..5 {
        let thief = Browser { address: format!("198.51.100.{number}"), ..dashboard.browser() };
        thief.sign_in(ADA, PASSWORD).await;
        assert_eq!(thief.post("/sign-in/code", &[("code", "000000")]).await.status, 422);
    }
    let user = UserReference::Email(Email::parse(ADA).unwrap());
    let (_, token) =
        users::reset(&dashboard.app, &Operator::COMMAND, &user, Idempotency::disabled()).await.unwrap();
    let browser = dashboard.browser();
    browser.post(&format!("/reset/{}", token.expose()), &[("password", "another fine password")]).await;
    let form = [("code", &*code(&dashboard, &seed))];
    // The code was used for setting up, so it is wrong now, but nobody has to wait.
    assert_eq!(browser.post("/sign-in/code", &form).await.status, 422);
}
