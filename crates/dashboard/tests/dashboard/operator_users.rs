//! What operators do with users on pages (D69, D70, D81).

use signpost_domain::{Email, Role, UserId};

use crate::harness::{Dashboard, PASSWORD};
use crate::operator_accounts::{link_in, operator};

const USERS: &str = "/operator/users";
const NEW: &str = "violet otter mug 7";

async fn user(dashboard: &Dashboard, email: &str) -> UserId {
    let email = Email::parse(email).unwrap();
    dashboard.app.store.user_with_email(&email).await.unwrap().unwrap().id
}

#[actix_web::test]
async fn d70_operators_invite_into_an_account_and_as_operators() {
    let dashboard = Dashboard::start().await;
    let operator = operator(&dashboard).await;
    let chosen = "<option value=\"editor\" selected>";
    assert!(operator.get(USERS).await.body.contains(chosen), "the form proposes no owner");
    let person = [("name", "New"), ("password", PASSWORD), ("time_zone", "UTC")];
    let form = [("email", "new@example.com"), ("account", "team@example.com"), ("role", "editor")];
    let made = operator.post(USERS, &form).await;
    assert!(made.body.contains("You are invited to team@example.com on Signpost"), "{}", made.body);
    let gives = "Whoever accepts the invitation joins team@example.com as Editor. Editors read";
    assert!(made.body.contains(gives) && !made.body.contains("becomes an operator"), "{}", made.body);
    let editor = dashboard.browser();
    assert_eq!(editor.post(&link_in(&made, "invitation"), &person).await.status, 303);
    assert_eq!(editor.get(&dashboard.path("links/new")).await.status, 200);
    assert_eq!(editor.get(USERS).await.status, 404);

    let made = operator.post(USERS, &[("email", "second@example.com"), ("operator", "true")]).await;
    assert!(made.body.contains("You are invited to administer Signpost"), "{}", made.body);
    assert!(made.body.contains("Whoever accepts the invitation becomes an operator"), "{}", made.body);
    let second = dashboard.browser();
    let invitation = second.get(&link_in(&made, "invitation")).await.body;
    assert!(invitation.contains("You are invited as Operator. Operators administer"), "{invitation}");
    assert_eq!(second.post(&link_in(&made, "invitation"), &person).await.status, 303);
    assert_eq!(second.get(USERS).await.status, 200);
}

/// A second invitation would void the link of the first.
#[actix_web::test]
async fn d12_an_invitation_form_of_an_operator_that_is_sent_twice_makes_one_link() {
    let dashboard = Dashboard::start().await;
    let operator = operator(&dashboard).await;
    let key = operator.get(USERS).await.hidden("idempotency_key");
    let account = dashboard.account.to_string();
    for account in [account.as_str(), ""] {
        let key = format!("{key}-{account}");
        let form = |email| {
            let key = ("idempotency_key", key.as_str());
            [key, ("email", email), ("account", account), ("role", "editor"), ("operator", "true")]
        };
        let made = operator.post(USERS, &form("new@example.com")).await;
        let link = link_in(&made, "invitation");
        let again = operator.post(USERS, &form("new@example.com")).await;
        assert_eq!(again.status, 200, "{}", again.body);
        assert!(again.body.contains("The invitation of new@example.com was made and shown once"));
        assert!(!again.body.contains("/invitation/"), "no page shows the link again: {}", again.body);
        assert_eq!(dashboard.browser().get(&link).await.status, 200, "it stays valid");
        let changed = operator.post(USERS, &form("other@example.com")).await;
        assert_eq!(changed.status, 422, "{}", changed.body);
        for part in ["This form was sent before with other content.", "value=\"other@example.com\""] {
            assert!(changed.body.contains(part), "{part}: {}", changed.body);
        }
    }
    let operators = operator.get(USERS).await.body;
    assert!(operators.contains("new@example.com") && !operators.contains("other@example.com"));
}

/// Keys belong to the person: the form of one operator says nothing about that of another.
#[actix_web::test]
async fn d12_two_operators_with_the_same_key_do_not_meet() {
    let dashboard = Dashboard::start().await;
    let first = operator(&dashboard).await;
    let second = dashboard.invited("second@example.com", None, true).await;
    for (operator, email) in [(&first, "one@example.com"), (&second, "two@example.com")] {
        let form = [("idempotency_key", "same"), ("email", email), ("operator", "true")];
        link_in(&operator.post(USERS, &form).await, "invitation");
    }
}

#[actix_web::test]
async fn d12_a_reset_form_that_is_sent_twice_makes_one_link() {
    let dashboard = Dashboard::start().await;
    let operator = operator(&dashboard).await;
    dashboard.member("member@example.com", Role::Editor).await;
    let path = format!("{USERS}/{}", user(&dashboard, "member@example.com").await);
    let key = operator.get(&path).await.hidden("idempotency_key");
    let form = [("idempotency_key", key.as_str())];
    let link = link_in(&operator.post(&format!("{path}/reset"), &form).await, "reset");
    let again = operator.post(&format!("{path}/reset"), &form).await;
    assert_eq!(again.status, 200, "{}", again.body);
    assert!(
        again.body.contains("was made and shown once") && !again.body.contains("/reset/"),
        "{}",
        again.body
    );
    assert_eq!(dashboard.browser().get(&link).await.status, 200, "it stays valid");
    let new_key = operator.get(&path).await.hidden("idempotency_key");
    let made = operator.post(&format!("{path}/reset"), &[("idempotency_key", &new_key)]).await;
    assert_ne!(link_in(&made, "reset"), link);
    assert_eq!(dashboard.browser().get(&link).await.status, 410);
}

#[actix_web::test]
async fn a_refused_invitation_of_an_operator_names_the_field() {
    let dashboard = Dashboard::start().await;
    let operator = operator(&dashboard).await;
    for (form, reason) in [
        ([("email", "nobody"), ("account", "team@example.com"), ("role", "owner")], "href=\"#f-email\""),
        (
            [("email", "n@example.com"), ("account", "none@example.com"), ("role", "owner")],
            "Must be the id or",
        ),
        ([("email", "n@example.com"), ("account", "team@example.com"), ("role", "king")], "Must be one of"),
        ([("email", "n@example.com"), ("account", ""), ("role", "owner")], "Name an account, or make"),
    ] {
        let answer = operator.post(USERS, &form).await;
        assert_eq!(answer.status, 422, "{form:?}");
        assert!(answer.body.contains(reason) && answer.body.contains(form[0].1), "{}", answer.body);
    }
}

#[actix_web::test]
async fn d72_a_disabled_user_is_out_at_once_and_an_enabled_one_signs_in() {
    let dashboard = Dashboard::start().await;
    let operator = operator(&dashboard).await;
    let member = dashboard.member("member@example.com", Role::Editor).await;
    let path = format!("{USERS}/{}", user(&dashboard, "member@example.com").await);
    let page = operator.get(&path).await;
    assert!(page.body.contains("team@example.com") && page.body.contains("Editor"), "{}", page.body);
    operator.post(&format!("{path}/sign-out"), &[]).await;
    assert!(!member.is_signed_in().await);
    assert_eq!(member.sign_in("member@example.com", PASSWORD).await.status, 303);
    let reset = link_in(&operator.post(&format!("{path}/reset"), &[]).await, "reset");
    assert!(operator.get(&path).await.body.contains("Reset links and invitations for the address"));
    let disabled = operator.post(&format!("{path}/disable"), &[]).await;
    assert_eq!(disabled.location(), format!("{path}?said=user-disabled"));
    assert!(!member.is_signed_in().await);
    assert_eq!(member.sign_in("member@example.com", PASSWORD).await.status, 422);
    assert_eq!(operator.post(&format!("{path}/reset"), &[]).await.status, 409, "enable it first");
    operator.post(&format!("{path}/enable"), &[]).await;
    assert_eq!(dashboard.browser().get(&reset).await.status, 410, "the link stays void");
    assert_eq!(member.sign_in("member@example.com", PASSWORD).await.status, 303);
}

#[actix_web::test]
async fn d70_a_reset_shows_its_link_once_and_works_once() {
    let dashboard = Dashboard::start().await;
    let operator = operator(&dashboard).await;
    let member = dashboard.member("member@example.com", Role::Editor).await;
    let path = format!("{USERS}/{}", user(&dashboard, "member@example.com").await);
    let made = operator.post(&format!("{path}/reset"), &[]).await;
    assert!(made.body.contains("To set a new password for Signpost, open"), "{}", made.body);
    assert!(member.is_signed_in().await, "nothing ends before the link is used");
    let link = link_in(&made, "reset");
    assert_eq!(dashboard.browser().post(&link, &[("password", NEW)]).await.status, 303);
    assert!(!member.is_signed_in().await);
    assert_eq!(dashboard.browser().post(&link, &[("password", NEW)]).await.status, 410);
}

#[actix_web::test]
async fn d69_operators_do_not_disable_their_own_user() {
    let dashboard = Dashboard::start().await;
    let operator = operator(&dashboard).await;
    let path = format!("{USERS}/{}", user(&dashboard, "o@example.com").await);
    let page = operator.get(&path).await;
    assert!(page.body.contains("This is your own user") && !page.body.contains("/disable\""));
    assert_eq!(operator.post(&format!("{path}/disable"), &[]).await.status, 409);
    assert!(operator.is_signed_in().await);
}

#[actix_web::test]
async fn d81_users_are_found_by_id_and_address() {
    let dashboard = Dashboard::start().await;
    let operator = operator(&dashboard).await;
    dashboard.member("member@example.com", Role::Editor).await;
    let id = user(&dashboard, "member@example.com").await.to_string();
    for sought in [id.as_str(), "MEMBER@example.com"] {
        let found = operator.get(&format!("{USERS}?q={sought}")).await;
        assert_eq!(found.body.matches("class=\"name\"").count(), 1, "{}", found.body);
    }
    assert_eq!(operator.get(USERS).await.body.matches("class=\"name\"").count(), 2);
    for sought in ["nobody@example.com", "member"] {
        assert!(operator.get(&format!("{USERS}?q={sought}")).await.body.contains("No user has this id"));
    }
    for unknown in ["usr_00000000000000000000000000000000", "usr_1", "me"] {
        assert_eq!(operator.get(&format!("{USERS}/{unknown}")).await.status, 404);
    }
}
