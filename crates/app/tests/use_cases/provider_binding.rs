//! Binding users to identities, and accepting invitations with one (D77).

use std::time::Duration;

use signpost_app::people::PersonError;
use signpost_app::people::identity::{Finished, IdentityError, Purpose, accept, begin, bind, bound, unbind};
use signpost_app::people::tickets::NewPerson;
use signpost_app::{Application, Operator, accounts};
use signpost_domain::{AccountId, AuditAction, Role, SecretToken};
use signpost_port_contracts::samples;

use crate::provider_sign_in::{ADA, World, client, refused};

#[tokio::test]
async fn d77_binding_takes_a_confirmed_session_and_its_own_form() {
    let world = World::new().await;
    world.user("bob@example.com").await;
    let (ada, bob) = (world.with_password(ADA).await, world.with_password("bob@example.com").await);
    world.name("1");
    let way = world.begin(Purpose::Bind(ada.session().id), Some(&ada)).await.unwrap();
    // Neither a signed-out browser nor another session ends the flow.
    for other in [None, Some(&bob)] {
        assert_eq!(refused(world.finish(&way, other).await), IdentityError::FlowLost);
    }
    let pending = world.pending(&ada).await.unwrap();
    assert_eq!(world.user_of("1").await, None, "the callback alone binds nothing");
    assert_eq!(refused(bind(&world.app, &bob, &pending, &client()).await), IdentityError::FlowLost);
    for text in ["", "x", &pending[1..]] {
        assert_eq!(refused(bind(&world.app, &ada, text, &client()).await), IdentityError::FlowLost);
    }
    bind(&world.app, &ada, &pending, &client()).await.unwrap();
    bind(&world.app, &ada, &pending, &client()).await.unwrap();
    assert_eq!(bound(&world.app, &ada).await.unwrap().unwrap().subject.as_str(), "1");
    // Nobody else gets the identity, and Ada no other one.
    assert_eq!(refused(world.bind("bob@example.com", "1").await), IdentityError::TakenByAnother);
    assert_eq!(refused(world.bind(ADA, "2").await), IdentityError::HasAnother);
    world.memory.clock.advance(Duration::from_mins(10));
    assert_eq!(refused(bind(&world.app, &ada, &pending, &client()).await), IdentityError::FlowLost);
    world.memory.clock.advance(Duration::from_mins(5));
    let late = bind(&world.app, &ada, &pending, &client()).await;
    assert!(matches!(late, Err(PersonError::NotConfirmed)), "{late:?}");
    let late = begin(&world.app, Purpose::Bind(ada.session().id), "/", Some(&ada)).await;
    assert!(matches!(late, Err(PersonError::NotConfirmed)), "{late:?}");
}

#[tokio::test]
async fn d77_unbinding_takes_a_confirmed_session_and_a_password() {
    let world = World::new().await;
    world.bind(ADA, "1").await.unwrap();
    world.name_with_email("2", "new@staff.example", true);
    let newcomer = world.sign_in().await.unwrap();
    let newcomer = world.signed_in(&newcomer).await;
    assert_eq!(refused(unbind(&world.app, &newcomer, &client()).await), IdentityError::OnlyWay);
    let ada = world.with_password(ADA).await;
    unbind(&world.app, &ada, &client()).await.unwrap();
    assert_eq!(world.actions().await[0], AuditAction::IdentityUnbound);
    assert_eq!(bound(&world.app, &ada).await.unwrap(), None);
    world.name("1");
    assert!(matches!(refused(world.sign_in().await), IdentityError::Unknown(_)));
    world.memory.clock.advance(Duration::from_mins(15));
    let late = unbind(&world.app, &ada, &client()).await;
    assert!(matches!(late, Err(PersonError::NotConfirmed)), "{late:?}");
}

async fn account(app: &Application) -> AccountId {
    let (email, plan) = (samples::email("team@example.com"), samples::plan("agency"));
    let command = accounts::CreateAccount { email, name: None, plan };
    accounts::create(app, &Operator::COMMAND, command).await.unwrap().id
}

fn new_person() -> NewPerson {
    NewPerson { name: "Bob".to_owned(), time_zone: "Europe/Berlin".to_owned(), ..NewPerson::default() }
}

#[tokio::test]
async fn d77_an_invitation_is_accepted_with_an_identity_instead_of_a_password() {
    let world = World::new().await;
    let account = account(&world.app).await;
    let token = world.invitation("bob@example.com", Some((account, Role::Editor))).await;
    let other = world.invitation("carol@example.com", Some((account, Role::Owner))).await;
    // Whatever address the provider names, the user has that of the invitation.
    world.name_with_email("7", "robert@elsewhere.example", true);
    let Finished::MayAccept { ticket, pending, shown } =
        world.flow(Purpose::Accept(token.clone()), None).await.unwrap()
    else {
        panic!()
    };
    assert_eq!(world.provider.last_request().unwrap().login_hint.as_deref(), Some("bob@example.com"));
    assert_eq!(
        (ticket.expose(), shown.email.unwrap().as_str()),
        (token.expose(), "robert@elsewhere.example")
    );
    let elsewhere = accept(&world.app, &other, &pending, &new_person(), &client()).await;
    assert_eq!(refused(elsewhere), IdentityError::FlowLost);
    let without_zone = accept(&world.app, &token, &pending, &NewPerson::default(), &client()).await;
    assert!(matches!(without_zone, Err(PersonError::Invalid(_))), "{without_zone:?}");
    let opened = accept(&world.app, &token, &pending, &new_person(), &client()).await.unwrap();
    assert_eq!((opened.user.email.as_str(), &opened.user.password), ("bob@example.com", &None));
    let accounts = world.app.store.accounts_of(opened.user.id).await.unwrap();
    assert_eq!(accounts[0].1, Role::Editor);
    assert_eq!(world.sign_in().await.unwrap().user.id, opened.user.id);
    let again = accept(&world.app, &token, &pending, &new_person(), &client()).await;
    assert!(matches!(again, Err(PersonError::TicketVoid)), "{again:?}");
}

#[tokio::test]
async fn d77_a_bound_person_signs_in_to_accept_an_invitation() {
    let world = World::new().await;
    world.bind(ADA, "1").await.unwrap();
    let account = account(&world.app).await;
    let token = world.invitation("other@example.com", Some((account, Role::Owner))).await;
    let Finished::Opened { opened, next } = world.flow(Purpose::Accept(token.clone()), None).await.unwrap()
    else {
        panic!()
    };
    assert_eq!((opened.user.email.as_str(), next), (ADA, format!("/invitation/{}", token.expose())));
    assert!(world.app.store.ticket(&token.hash()).await.unwrap().is_some(), "a GET consumes nothing");
    // An invitation of somebody with a user is accepted by signing in.
    let own = world.invitation(ADA, Some((account, Role::Owner))).await;
    let begun = begin(&world.app, Purpose::Accept(own), "/", None).await;
    assert!(matches!(begun, Err(PersonError::SignInToAccept)), "{begun:?}");
    let unknown = begin(&world.app, Purpose::Accept(samples_token()), "/", None).await;
    assert!(matches!(unknown, Err(PersonError::TicketVoid)), "{unknown:?}");
}

fn samples_token() -> SecretToken {
    SecretToken::from_random([9; 32])
}

#[tokio::test]
async fn d77_an_identity_that_was_bound_meanwhile_accepts_nothing() {
    let world = World::new().await;
    let account = account(&world.app).await;
    let token = world.invitation("bob@example.com", Some((account, Role::Owner))).await;
    world.name("1");
    let Finished::MayAccept { pending, .. } = world.flow(Purpose::Accept(token.clone()), None).await.unwrap()
    else {
        panic!()
    };
    world.bind(ADA, "1").await.unwrap();
    let late = accept(&world.app, &token, &pending, &new_person(), &client()).await;
    assert_eq!(refused(late), IdentityError::TakenByAnother);
    assert!(world.app.store.ticket(&token.hash()).await.unwrap().is_some(), "the unit of work was undone");
    assert_eq!(world.app.store.user_with_email(&samples::email("bob@example.com")).await.unwrap(), None);
}
