//! People whom a proxy names in a header (D77). Tests of the dashboard hold the rest.

use std::time::Duration;

use signpost_app::admission::{
    NamedRequest, NotEntered, ProxySignIn, SignedIn, enter, enter_named, recognise, recognise_named,
};
use signpost_app::idempotency::Idempotency;
use signpost_app::people::second_factor::TypedCode;
use signpost_app::people::tickets::NewPerson;
use signpost_app::people::users::{self, Invite, UserReference};
use signpost_app::people::{Client, PersonError, named, profile, sign_in, tickets};
use signpost_app::{Actor, Application, Operator, accounts};
use signpost_domain::{AccountId, Password, Role, SecretToken, TrustedProxies};
use signpost_memory::InMemory;
use signpost_port_contracts::samples;

use crate::world::{HOME, at_once};

const ADA: &str = "ada@example.com";

fn client() -> Client {
    Client { address: HOME.parse().unwrap(), agent: None }
}

fn request(email: &str, session: Option<&SecretToken>) -> NamedRequest {
    NamedRequest { email: Some(samples::email(email)), session: session.cloned() }
}

/// Nodes behind a proxy, and an account that Ada owns.
async fn behind_proxy<const N: usize>() -> (InMemory, [Application; N], AccountId) {
    let memory = InMemory::default();
    let nodes = [(); N].map(|()| {
        let mut app = memory.application();
        let proxies = TrustedProxies::new(vec!["10.0.0.5/32".parse().unwrap()]);
        app.proxy_sign_in = Some(ProxySignIn::new("Remote-Email".to_owned(), proxies));
        app
    });
    let account = account(&nodes[0], "team@example.com").await;
    join(&nodes[0], ADA, account, Role::Owner).await;
    (memory, nodes, account)
}

async fn account(app: &Application, email: &str) -> AccountId {
    let email = samples::email(email);
    let command = accounts::CreateAccount { email, name: None, plan: samples::plan("agency") };
    accounts::create(app, &Operator::COMMAND, command).await.unwrap().id
}

async fn join(app: &Application, email: &str, account: AccountId, role: Role) {
    let email = samples::email(email);
    let invite = Invite { email: email.clone(), joins: Some((account, role)), is_operator: false };
    let token = users::invite(app, &Operator::COMMAND, invite, Idempotency::disabled()).await.unwrap();
    let person = NewPerson { time_zone: "UTC".to_owned(), ..NewPerson::default() };
    named::create_user(app, &token, &person, &email, &client()).await.unwrap();
}

async fn opened(app: &Application) -> (SignedIn, SecretToken) {
    let signed_in = recognise_named(app, &request(ADA, None), &client()).await.unwrap();
    let token = signed_in.new_token().unwrap().clone();
    (signed_in, token)
}

#[tokio::test]
async fn d77_the_header_admits_as_the_role_says() {
    let (_, [app], account) = behind_proxy().await;
    join(&app, "bob@example.com", account, Role::Viewer).await;
    for (email, expected) in [(ADA, Role::Owner), ("bob@example.com", Role::Viewer)] {
        let (signed_in, caller) = enter_named(&app, &request(email, None), account, &client()).await.unwrap();
        let Actor::User { user, role } = caller.actor() else { panic!("{caller:?}") };
        assert_eq!((user, role), (signed_in.user().id, expected));
    }
    let foreign = self::account(&app, "else@example.com").await;
    let refused = enter_named(&app, &request(ADA, None), foreign, &client()).await;
    assert!(matches!(refused, Err(NotEntered::NotAMember(_))), "{refused:?}");
}

#[tokio::test]
async fn d77_a_cookie_alone_lets_nobody_in() {
    let (_, [app], account) = behind_proxy().await;
    let (_, token) = opened(&app).await;
    let nobody = NamedRequest { email: None, session: Some(token.clone()) };
    let refused = recognise_named(&app, &nobody, &client()).await;
    assert!(matches!(refused, Err(NotEntered::NotSignedIn)), "{refused:?}");
    let refused = recognise(&app, Some(&token)).await;
    assert!(matches!(refused, Err(NotEntered::NotSignedIn)), "{refused:?}");
    let refused = enter(&app, Some(&token), account, client().address).await;
    assert!(matches!(refused, Err(NotEntered::NotSignedIn)), "{refused:?}");
}

#[tokio::test]
async fn d77_without_the_setting_no_header_counts() {
    let (memory, [app], account) = behind_proxy().await;
    let (_, token) = opened(&app).await;
    let plain = memory.application();
    for session in [None, Some(&token)] {
        let refused = recognise_named(&plain, &request(ADA, session), &client()).await;
        assert!(matches!(refused, Err(NotEntered::NotSignedIn)), "{refused:?}");
        let refused = enter_named(&plain, &request(ADA, session), account, &client()).await;
        assert!(matches!(refused, Err(NotEntered::NotSignedIn)), "{refused:?}");
    }
    let refused = recognise(&plain, Some(&token)).await;
    assert!(matches!(refused, Err(NotEntered::NotSignedIn)), "{refused:?}");
}

#[tokio::test]
async fn d77_a_session_counts_on_every_node_until_it_ends() {
    let (memory, [first, second], _) = behind_proxy().await;
    let (signed_in, token) = opened(&first).await;
    let again = recognise_named(&second, &request(ADA, Some(&token)), &client()).await.unwrap();
    assert_eq!(again.session().id, signed_in.session().id);
    assert!(again.new_token().is_none());
    users::sign_out(&second, &Operator::COMMAND, &UserReference::Email(samples::email(ADA))).await.unwrap();
    let new = recognise_named(&first, &request(ADA, Some(&token)), &client()).await.unwrap();
    assert_ne!(new.session().id, signed_in.session().id);
    let token = new.new_token().unwrap().clone();
    memory.clock.advance(Duration::from_hours(12));
    let later = recognise_named(&first, &request(ADA, Some(&token)), &client()).await.unwrap();
    assert!(later.new_token().is_some());
}

#[tokio::test]
async fn d77_a_change_does_not_outlive_the_session_of_its_request() {
    let (_, [app], _) = behind_proxy().await;
    let (signed_in, _) = opened(&app).await;
    users::sign_out(&app, &Operator::COMMAND, &UserReference::Email(samples::email(ADA))).await.unwrap();
    let changed = profile::update(&app, &signed_in, None, signed_in.user().preferences.clone()).await;
    assert!(matches!(changed, Err(PersonError::Gone)), "{changed:?}");
}

#[tokio::test]
async fn d77_a_session_is_confirmed_only_beside_the_header() {
    let (memory, [app], _) = behind_proxy().await;
    let (_, token) = opened(&app).await;
    memory.clock.advance(Duration::from_hours(1));
    let signed_in = recognise_named(&app, &request(ADA, Some(&token)), &client()).await.unwrap();
    profile::require_confirmed(&app, &signed_in).unwrap();
    let stored = app.store.sessions(signed_in.user().id).await.unwrap();
    assert!(!stored[0].is_confirmed(app.clock.now()), "the store keeps what it had");
}

#[tokio::test]
async fn d77_every_use_case_of_passwords_is_off() {
    let (_, [app], _) = behind_proxy().await;
    let (signed_in, _) = opened(&app).await;
    let password = Password::typed("plover egg tin");
    let credentials =
        sign_in::Credentials { email: ADA.to_owned(), password: password.clone(), is_kept: false };
    let token = SecretToken::from_random([7; 32]);
    let outcomes = [
        sign_in::sign_in(&app, &credentials, &client()).await.map(drop),
        sign_in::confirm(&app, &signed_in, &password, &TypedCode::read(""), &client()).await.map(drop),
        profile::change_password(&app, &signed_in, "another fine password", &client()).await.map(drop),
        tickets::reset_password(&app, &token, "another fine password", &client()).await.map(drop),
        tickets::create_user(&app, &token, &NewPerson::default(), &client()).await.map(drop),
    ];
    for outcome in outcomes {
        assert!(matches!(outcome, Err(PersonError::PasswordsOff)), "{outcome:?}");
    }
    let changed = profile::change_email(&app, &signed_in, &samples::email("x@example.com"), &client()).await;
    assert!(matches!(changed, Err(PersonError::EmailOfProxy)), "{changed:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn d77_the_first_requests_of_a_browser_may_come_at_once() {
    let (_, nodes, _) = Box::pin(behind_proxy::<4>()).await;
    let opened = at_once(4, async |number| {
        recognise_named(&nodes[number], &request(ADA, None), &client()).await.unwrap()
    });
    for signed_in in opened {
        let token = signed_in.new_token().unwrap();
        let again = recognise_named(&nodes[0], &request(ADA, Some(token)), &client()).await.unwrap();
        assert_eq!(again.session().id, signed_in.session().id);
    }
}
