//! API keys (D69, D80).

use signpost_app::admission;
use signpost_domain::{ApiKeySecret, Permission, Role};

use crate::harness::{Answer, Dashboard};

fn secret_in(answer: &Answer) -> String {
    let (_, rest) = answer.body.split_once("sp_live_").unwrap_or_else(|| panic!("{}", answer.body));
    format!("sp_live_{}", rest.get(..32).unwrap())
}

#[actix_web::test]
async fn d80_a_key_is_shown_once_and_works_with_its_scopes() {
    let dashboard = Dashboard::start().await;
    let owner = dashboard.member("owner@example.com", Role::Owner).await;
    let form = [("idempotency_key", "k1"), ("name", "Reports"), ("expires", "90"), ("scopes", "read")];
    let issued = owner.post(&dashboard.path("keys"), &form).await;
    assert_eq!(issued.status, 200);
    let secret = secret_in(&issued);
    assert!(issued.body.contains("https://api.example.com/v1/account"), "a line to try: {}", issued.body);
    let key = ApiKeySecret::parse(&secret).unwrap();
    let address = "203.0.113.9".parse().unwrap();
    let caller = admission::admit(&dashboard.app, Some(&key), address, None).await.unwrap().caller;
    assert!(caller.may(Permission::Read) && !caller.may(Permission::WriteLinks));
    let repeated = owner.post(&dashboard.path("keys"), &form).await;
    assert!(!repeated.body.contains("sp_live_"), "the answer is remembered without the secret");
    assert!(repeated.body.contains("made and shown once"), "{}", repeated.body);
    let list = owner.get(&dashboard.path("keys")).await;
    assert!(list.body.contains("Reports") && !list.body.contains(&secret), "{}", list.body);
    assert_eq!(list.body.matches("Reports").count(), 1);
    dashboard.memory.clock.advance(std::time::Duration::from_hours(90 * 24));
    assert!(admission::admit(&dashboard.app, Some(&key), address, None).await.is_err(), "expired");
}

#[actix_web::test]
async fn d80_a_revoked_key_is_refused_and_keys_of_others_are_not_found() {
    let dashboard = Dashboard::start().await;
    let owner = dashboard.member("owner@example.com", Role::Owner).await;
    let elsewhere = dashboard.account("else@example.com", "agency").await;
    let stranger = dashboard.invited("s@example.com", Some((elsewhere, Role::Owner)), false).await;
    let form = [("name", ""), ("expires", "never"), ("all_scopes", "yes")];
    let secret = secret_in(&owner.post(&dashboard.path("keys"), &form).await);
    let list = owner.get(&dashboard.path("keys")).await;
    let id = list.body.split("/keys/key_").nth(1).unwrap().split('/').next().unwrap();
    assert_eq!(stranger.post(&format!("/{elsewhere}/keys/key_{id}/revoke"), &[]).await.status, 404);
    let key = ApiKeySecret::parse(&secret).unwrap();
    let address = "203.0.113.9".parse().unwrap();
    assert!(admission::admit(&dashboard.app, Some(&key), address, None).await.is_ok());
    assert_eq!(owner.post(&dashboard.path(&format!("keys/key_{id}/revoke")), &[]).await.status, 303);
    assert!(admission::admit(&dashboard.app, Some(&key), address, None).await.is_err());
}

#[actix_web::test]
async fn d76_keys_may_be_issued_on_a_plan_without_the_api_and_the_page_says_so() {
    let dashboard = Dashboard::start().await;
    let free = dashboard.account("free@example.com", "free").await;
    let owner = dashboard.invited("owner@example.com", Some((free, Role::Owner)), false).await;
    let page = owner.get(&format!("/{free}/keys")).await;
    assert!(page.body.contains("no API"), "{}", page.body);
    let form = [("expires", "never"), ("all_scopes", "yes")];
    assert_eq!(owner.post(&format!("/{free}/keys"), &form).await.status, 200);
}

#[actix_web::test]
async fn a_refused_key_form_says_why_and_keeps_what_was_typed() {
    let dashboard = Dashboard::start().await;
    let owner = dashboard.member("owner@example.com", Role::Owner).await;
    let name = "x".repeat(101);
    for (form, reason) in [
        (
            &[("name", name.as_str()), ("expires", "never"), ("all_scopes", "yes")][..],
            "at most 100 characters",
        ),
        (&[("name", "a"), ("expires", "never")], "at least one permission"),
        (&[("name", "a"), ("expires", "soon"), ("all_scopes", "yes")], "one of the choices"),
        (&[("name", "a"), ("expires", "never"), ("scopes", "keys")], "among the listed"),
    ] {
        let answer = owner.post(&dashboard.path("keys"), form).await;
        assert_eq!(answer.status, 422, "{form:?}");
        assert!(answer.body.contains(reason), "{reason}: {}", answer.body);
    }
    assert!(dashboard.app.store.keys(dashboard.account).await.unwrap().is_empty());
}
