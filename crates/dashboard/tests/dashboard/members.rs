//! Members of an account (D68, D69, D70, D73).

use std::time::Duration;

use signpost_app::Operator;
use signpost_app::idempotency::Idempotency;
use signpost_app::people::users::{self, Invite};
use signpost_domain::{Email, PageLimit, Role, UserId};

use crate::harness::{Answer, Browser, Dashboard, ORIGIN};

/// The users and roles of the account, by e-mail address.
async fn roles(dashboard: &Dashboard) -> Vec<(String, Role)> {
    let members = dashboard.app.store.members(dashboard.account, PageLimit::MAX, None).await.unwrap();
    let members = members.items.into_iter();
    let mut roles: Vec<_> =
        members.map(|member| (member.user.email.as_str().to_owned(), member.role)).collect();
    roles.sort();
    roles
}

async fn user_of(dashboard: &Dashboard, email: &str) -> UserId {
    let email = signpost_domain::Email::parse(email).unwrap();
    dashboard.app.store.user_with_email(&email).await.unwrap().unwrap().id
}

async fn remove(browser: &Browser, user: UserId) -> Answer {
    browser.post(&browser.dashboard.path(&format!("members/{user}/remove")), &[]).await
}

async fn set_role(browser: &Browser, user: UserId, role: &str) -> Answer {
    browser.post(&browser.dashboard.path(&format!("members/{user}")), &[("role", role)]).await
}

fn invitation_in(answer: &Answer) -> String {
    let start = format!("{ORIGIN}/invitation/");
    let (_, rest) = answer.body.split_once(&start).unwrap_or_else(|| panic!("{}", answer.body));
    format!("/invitation/{}", rest.get(..64).unwrap())
}

#[actix_web::test]
async fn d70_an_owner_invites_and_the_link_is_shown_once() {
    let dashboard = Dashboard::start().await;
    let owner = dashboard.member("owner@example.com", Role::Owner).await;
    let form = [("idempotency_key", "k1"), ("email", "new@example.com"), ("role", "editor")];
    let made = owner.post(&dashboard.path("members"), &form).await;
    assert_eq!(made.status, 200);
    let link = invitation_in(&made);
    assert!(made.body.contains("You are invited to team@example.com on Signpost"), "{}", made.body);
    let repeated = owner.post(&dashboard.path("members"), &form).await;
    assert!(!repeated.body.contains("/invitation/"), "the answer is remembered without the link");
    assert!(repeated.body.contains("was made and shown once"), "{}", repeated.body);
    let joiner = dashboard.browser();
    let person = [("name", "New"), ("password", crate::harness::PASSWORD), ("time_zone", "UTC")];
    assert_eq!(joiner.post(&link, &person).await.status, 303);
    let expected = [("new@example.com", Role::Editor), ("owner@example.com", Role::Owner)];
    assert_eq!(roles(&dashboard).await, expected.map(|(email, role)| (email.to_owned(), role)));
    let list = joiner.get(&dashboard.path("members")).await;
    assert!(
        list.body.contains("owner@example.com") && !list.body.contains("Make invitation"),
        "{}",
        list.body
    );
}

#[actix_web::test]
async fn d70_an_owner_sees_open_invitations_and_withdraws_one() {
    let dashboard = Dashboard::start().await;
    let owner = dashboard.member("owner@example.com", Role::Owner).await;
    let viewer = dashboard.member("viewer@example.com", Role::Viewer).await;
    let invited = async |email: &str| {
        invitation_in(&owner.post(&dashboard.path("members"), &[("email", email), ("role", "editor")]).await)
    };
    let (withdrawn, kept) = (invited("One@example.com").await, invited("two@example.com").await);
    let list = owner.get(&dashboard.path("members")).await.body;
    assert!(list.contains("One@example.com") && list.contains("two@example.com"), "{list}");
    assert!(!viewer.get(&dashboard.path("members")).await.body.contains("two@example.com"));
    let path = dashboard.path("members/withdraw");
    let form = [("email", "one@EXAMPLE.com")];
    assert_eq!(viewer.post(&path, &form).await.status, 403);
    let answer = owner.post(&path, &form).await;
    assert_eq!(answer.location(), format!("{}?said=invitation-withdrawn", dashboard.path("members")));
    assert_eq!(owner.post(&path, &form).await.status, 404, "it is gone");
    let list = owner.get(&dashboard.path("members")).await.body;
    assert!(!list.contains("One@example.com") && list.contains("two@example.com"), "{list}");
    assert_eq!(dashboard.browser().get(&withdrawn).await.status, 410);
    assert_eq!(dashboard.browser().get(&kept).await.status, 200);
    dashboard.memory.clock.advance(signpost_domain::INVITATION_VALID);
    let owner = dashboard.member("later@example.com", Role::Owner).await;
    let list = owner.get(&dashboard.path("members")).await.body;
    assert!(!list.contains("two@example.com"), "it has expired: {list}");
}

#[actix_web::test]
async fn d70_operators_withdraw_invitations_to_accounts_and_to_none() {
    let dashboard = Dashboard::start().await;
    let operator = dashboard.invited("operator@example.com", None, true).await;
    let account = dashboard.account.to_string();
    for (email, account) in [("one@example.com", Some(dashboard.account)), ("two@example.com", None)] {
        let joins = account.map(|account| (account, Role::Editor));
        let email = Email::parse(email).unwrap();
        let invite = Invite { email, joins, is_operator: joins.is_none() };
        users::invite(&dashboard.app, &Operator::COMMAND, invite, Idempotency::disabled()).await.unwrap();
    }
    let pages = [format!("/operator/accounts/{account}"), "/operator/users".to_owned()];
    for (page, own, other) in
        [(&pages[0], "one@example.com", "two@example.com"), (&pages[1], "two@example.com", "one@example.com")]
    {
        let list = operator.get(page).await.body;
        assert!(list.contains(own) && !list.contains(other), "{page}: {list}");
    }
    let path = "/operator/invitations/withdraw";
    let wrong = [("email", "one@example.com"), ("account", "")];
    assert_eq!(operator.post(path, &wrong).await.status, 404);
    for (email, account, page) in
        [("one@example.com", account.as_str(), &pages[0]), ("two@example.com", "", &pages[1])]
    {
        let withdrawn = operator.post(path, &[("email", email), ("account", account)]).await;
        assert_eq!(withdrawn.location(), format!("{page}?said=invitation-withdrawn"));
        let list = operator.get(page).await.body;
        assert!(!list.contains(email), "{page}: {list}");
    }
}

#[actix_web::test]
async fn a_refused_invitation_says_why_and_keeps_what_was_typed() {
    let dashboard = Dashboard::start().await;
    let owner = dashboard.member("owner@example.com", Role::Owner).await;
    for (form, reason) in [
        ([("email", "nobody"), ("role", "editor")], "f-email"),
        ([("email", "new@example.com"), ("role", "king")], "Must be one of the roles."),
    ] {
        let answer = owner.post(&dashboard.path("members"), &form).await;
        assert_eq!(answer.status, 422, "{form:?}");
        assert!(answer.body.contains(reason) && answer.body.contains(form[0].1), "{}", answer.body);
    }
}

#[actix_web::test]
async fn a_member_is_invited_only_to_a_higher_role() {
    let dashboard = Dashboard::start().await;
    let owner = dashboard.member("owner@example.com", Role::Owner).await;
    dashboard.member("member@example.com", Role::Editor).await;
    let invited = async |email: &str, role: &str| {
        owner.post(&dashboard.path("members"), &[("email", email), ("role", role)]).await
    };
    for (email, role) in
        [("member@example.com", "editor"), ("MEMBER@example.com", "viewer"), ("owner@example.com", "owner")]
    {
        let refused = invited(email, role).await;
        assert_eq!(refused.status, 422, "{email} {role}");
        assert!(refused.body.contains("Is already a member."), "{}", refused.body);
    }
    invitation_in(&invited("member@example.com", "owner").await);
    dashboard.invited("elsewhere@example.com", None, false).await;
    invitation_in(&invited("elsewhere@example.com", "viewer").await);
}

#[actix_web::test]
async fn d69_a_changed_role_and_a_removal_hold_for_the_next_request() {
    let dashboard = Dashboard::start().await;
    let owner = dashboard.member("owner@example.com", Role::Owner).await;
    let member = dashboard.member("member@example.com", Role::Editor).await;
    let user = user_of(&dashboard, "member@example.com").await;
    assert_eq!(member.get(&dashboard.path("links/new")).await.status, 200);
    assert_eq!(set_role(&owner, user, "viewer").await.status, 303);
    assert_eq!(member.get(&dashboard.path("links/new")).await.status, 403);
    assert_eq!(member.get(&dashboard.path("links")).await.status, 200);
    assert_eq!(remove(&owner, user).await.status, 303);
    assert_eq!(member.get(&dashboard.path("links")).await.status, 404);
    assert!(member.is_signed_in().await, "the user stays");
    assert_eq!(remove(&owner, user).await.status, 404);
    assert_eq!(set_role(&owner, user, "owner").await.status, 404);
    assert_eq!(set_role(&owner, user, "king").await.status, 404);
}

#[actix_web::test]
async fn d68_the_last_owner_is_not_removed_lowered_and_does_not_leave() {
    let dashboard = Dashboard::start().await;
    let owner = dashboard.member("owner@example.com", Role::Owner).await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let user = user_of(&dashboard, "owner@example.com").await;
    let leave = dashboard.path("members/leave");
    for answer in
        [remove(&owner, user).await, set_role(&owner, user, "viewer").await, owner.post(&leave, &[]).await]
    {
        assert_eq!(answer.status, 422);
        assert!(answer.body.contains("keeps at least one owner"), "{}", answer.body);
    }
    assert_eq!(editor.post(&leave, &[]).await.location(), "/accounts?said=left");
    assert_eq!(editor.get(&dashboard.path("links")).await.status, 404);
    let second = dashboard.member("second@example.com", Role::Owner).await;
    assert_eq!(owner.post(&leave, &[]).await.status, 303);
    assert_eq!(roles(&dashboard).await, [("second@example.com".to_owned(), Role::Owner)]);
    assert_eq!(second.post(&leave, &[]).await.status, 422);
}

#[actix_web::test]
async fn d68_of_fifty_owners_who_are_removed_at_once_one_stays() {
    let dashboard = Dashboard::start().await;
    let mut owners = Vec::new();
    for number in 0..50 {
        let email = format!("owner{number}@example.com");
        let browser = dashboard.member(&email, Role::Owner).await;
        owners.push((user_of(&dashboard, &email).await, browser));
    }
    // Each removes the next one.
    let removals = owners.iter().enumerate().map(|(number, (_, browser))| {
        let (next, _) = &owners[(number + 1) % owners.len()];
        remove(browser, *next)
    });
    let answers = futures_util::future::join_all(removals).await;
    let removed = answers.iter().filter(|answer| answer.status == 303).count();
    let left = roles(&dashboard).await;
    assert_eq!(left.len() + removed, 50);
    assert!(!left.is_empty() && left.iter().all(|(_, role)| *role == Role::Owner), "{left:?}");
    // Those who are left remove each other until one is left.
    for (_, browser) in &owners {
        for (other, _) in &owners {
            let is_left = roles(&dashboard).await.len() > 1;
            if is_left {
                remove(browser, *other).await;
            }
        }
    }
    assert_eq!(roles(&dashboard).await.len(), 1);
}

#[actix_web::test]
async fn d73_members_are_changed_only_with_a_confirmed_password() {
    let dashboard = Dashboard::start().await;
    let owner = dashboard.member("owner@example.com", Role::Owner).await;
    dashboard.member("member@example.com", Role::Viewer).await;
    let user = user_of(&dashboard, "member@example.com").await;
    dashboard.memory.clock.advance(Duration::from_mins(16));
    let invited =
        owner.post(&dashboard.path("members"), &[("email", "a@example.com"), ("role", "owner")]).await;
    assert!(invited.location().starts_with("/confirm?next="), "{}", invited.location());
    assert!(
        invited.location().contains("a%2540example.com"),
        "what was typed is kept: {}",
        invited.location()
    );
    let query = invited.location().split_once('?').unwrap().1;
    let next = url::form_urlencoded::parse(query.as_bytes()).next().unwrap().1.into_owned();
    let waiting = owner.get(&next).await.body;
    assert!(waiting.contains("value=\"a@example.com\"") && waiting.contains("not made yet"), "{waiting}");
    assert!(!owner.get(&dashboard.path("members")).await.body.contains("not made yet"));
    for answer in [
        remove(&owner, user).await,
        set_role(&owner, user, "owner").await,
        owner.post(&dashboard.path("members/leave"), &[]).await,
    ] {
        assert!(answer.location().starts_with("/confirm?next="), "{answer:?}");
    }
    assert_eq!(roles(&dashboard).await.len(), 2);
    assert!(owner.post("/confirm", &[("password", crate::harness::PASSWORD)]).await.status == 303);
    assert_eq!(remove(&owner, user).await.status, 303);
}

#[actix_web::test]
async fn d2_members_of_other_accounts_are_out_of_reach() {
    let dashboard = Dashboard::start().await;
    let owner = dashboard.member("owner@example.com", Role::Owner).await;
    let elsewhere = dashboard.account("else@example.com", "agency").await;
    dashboard.invited("s@example.com", Some((elsewhere, Role::Owner)), false).await;
    dashboard.invited("t@example.com", Some((elsewhere, Role::Editor)), false).await;
    let stranger = user_of(&dashboard, "t@example.com").await;
    assert_eq!(remove(&owner, stranger).await.status, 404);
    assert_eq!(set_role(&owner, stranger, "viewer").await.status, 404);
    let path = format!("/{elsewhere}/members/{stranger}/remove");
    assert_eq!(owner.post(&path, &[]).await.status, 404);
    let members = dashboard.app.store.members(elsewhere, PageLimit::MAX, None).await.unwrap().items;
    assert_eq!(members.len(), 2);
}

#[actix_web::test]
async fn d69_a_lowered_owner_is_not_raised_by_an_invitation_of_their_own() {
    let dashboard = Dashboard::start().await;
    let owner = dashboard.member("owner@example.com", Role::Owner).await;
    let other = dashboard.member("other@example.com", Role::Owner).await;
    let invite = Invite {
        email: Email::parse("other@example.com").unwrap(),
        joins: Some((dashboard.account, Role::Owner)),
        is_operator: false,
    };
    let token =
        users::invite(&dashboard.app, &Operator::COMMAND, invite, Idempotency::disabled()).await.unwrap();
    let link = format!("/invitation/{}", token.expose());
    let user = user_of(&dashboard, "other@example.com").await;
    assert_eq!(set_role(&owner, user, "viewer").await.status, 303);
    assert_eq!(other.post(&link, &[]).await.status, 410);
    assert_eq!(roles(&dashboard).await[0], ("other@example.com".to_owned(), Role::Viewer));
    // One who is invited to a higher role afterwards gets it, and the audit says so.
    let form = [("email", "other@example.com"), ("role", "owner")];
    let link = invitation_in(&owner.post(&dashboard.path("members"), &form).await);
    assert_eq!(other.post(&link, &[]).await.status, 303);
    let audit = other.get(&dashboard.path("audit")).await;
    assert!(audit.body.contains("other@example.com from viewer to owner"), "{}", audit.body);
}
