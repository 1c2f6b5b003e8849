//! Signing in at an identity provider (D77).

use std::sync::Arc;
use std::time::Duration;

use signpost_app::admission::{SignedIn, recognise};
use signpost_app::idempotency::Idempotency;
use signpost_app::people::identity::{
    Callback, Finished, IdentityError, ProviderSignIn, Purpose, Shown, begin, bind, finish,
};
use signpost_app::people::sign_in::{self, Credentials, SignInStep};
use signpost_app::people::tickets::{self, NewPerson};
use signpost_app::people::users::{self, Invite, UserReference};
use signpost_app::people::{Client, OpenedSession, PersonError};
use signpost_app::ports::{AuditScope, IdentityClaims, ProviderError};
use signpost_app::{Application, Operator};
use signpost_domain::{
    AuditAction, EmailDomain, Name, PageLimit, Password, Role, SecretToken, Timestamp, User,
};
use signpost_memory::{FakeIdentityProvider, InMemory};
use signpost_port_contracts::samples;

use crate::world::{HOME, at_once};

pub(crate) const ADA: &str = "ada@example.com";
const PASSWORD: &str = "correct horse battery";

pub(crate) fn client() -> Client {
    Client { address: HOME.parse().unwrap(), agent: None }
}

pub(crate) struct World {
    pub(crate) memory: InMemory,
    pub(crate) provider: Arc<FakeIdentityProvider>,
    pub(crate) app: Application,
}

impl World {
    /// Ada is an operator with a password, who is bound to nothing.
    pub(crate) async fn new() -> Self {
        let memory = InMemory::default();
        memory.store.refuse_reads_beside_work();
        let provider = Arc::new(FakeIdentityProvider::new());
        let app = application(&memory, &provider);
        let world = Self { memory, provider, app };
        world.user(ADA).await;
        world
    }

    pub(crate) async fn user(&self, email: &str) -> OpenedSession {
        let token = self.invitation(email, None).await;
        let person = NewPerson {
            password: PASSWORD.to_owned(),
            time_zone: "UTC".to_owned(),
            name: "Ada".to_owned(),
            ..NewPerson::default()
        };
        tickets::create_user(&self.app, &token, &person, &client()).await.unwrap()
    }

    pub(crate) async fn invitation(
        &self,
        email: &str,
        joins: Option<(signpost_domain::AccountId, Role)>,
    ) -> SecretToken {
        let invite = Invite { email: samples::email(email), joins, is_operator: joins.is_none() };
        users::invite(&self.app, &Operator::COMMAND, invite, Idempotency::disabled()).await.unwrap()
    }

    pub(crate) fn now(&self) -> Timestamp {
        signpost_app::ports::Clock::now(&*self.memory.clock)
    }

    /// The provider names somebody who has just signed in there.
    pub(crate) fn name(&self, subject: &str) {
        self.provider.name(subject, Some(self.now()));
    }

    pub(crate) fn name_with_email(&self, subject: &str, email: &str, is_email_verified: bool) {
        self.provider.claim(IdentityClaims {
            identity: self.provider.identity(subject),
            email: Some(samples::email(email)),
            is_email_verified,
            name: Some(Name::parse("Named There").unwrap()),
            authenticated_at: Some(self.now()),
        });
    }

    /// A way to the provider: the cookie, and the state that comes back.
    pub(crate) async fn begin(
        &self,
        purpose: Purpose,
        by: Option<&SignedIn>,
    ) -> Result<(String, String), PersonError> {
        let begun = begin(&self.app, purpose, "/next", by).await?;
        Ok((begun.cookie, self.provider.last_request().unwrap().state))
    }

    pub(crate) async fn finish(
        &self,
        way: &(String, String),
        by: Option<&SignedIn>,
    ) -> Result<Finished, PersonError> {
        let callback = Callback { code: Some("code"), state: Some(&way.1), ..Callback::default() };
        finish(&self.app, Some(&way.0), callback, by, &client()).await
    }

    pub(crate) async fn flow(
        &self,
        purpose: Purpose,
        by: Option<&SignedIn>,
    ) -> Result<Finished, PersonError> {
        let way = self.begin(purpose, by).await?;
        self.finish(&way, by).await
    }

    pub(crate) async fn sign_in(&self) -> Result<OpenedSession, PersonError> {
        match self.flow(Purpose::SignIn, None).await? {
            Finished::Opened { opened, next } => {
                assert_eq!(next, "/next");
                Ok(*opened)
            }
            other => panic!("{other:?}"),
        }
    }

    pub(crate) async fn signed_in(&self, opened: &OpenedSession) -> SignedIn {
        recognise(&self.app, Some(&opened.token)).await.unwrap()
    }

    pub(crate) async fn with_password(&self, email: &str) -> SignedIn {
        let credentials =
            Credentials { email: email.to_owned(), password: Password::typed(PASSWORD), is_kept: false };
        let step = sign_in::sign_in(&self.app, &credentials, &client()).await.unwrap();
        let SignInStep::Done(opened) = step else { panic!("{step:?}") };
        self.signed_in(&opened).await
    }

    /// The sealed identity of a flow that binds.
    pub(crate) async fn pending(&self, by: &SignedIn) -> Result<String, PersonError> {
        match self.flow(Purpose::Bind(by.session().id), Some(by)).await? {
            Finished::MayBind { pending, .. } => Ok(pending),
            other => panic!("{other:?}"),
        }
    }

    pub(crate) async fn bind(&self, email: &str, subject: &str) -> Result<(), PersonError> {
        let by = self.with_password(email).await;
        self.name(subject);
        let pending = self.pending(&by).await?;
        bind(&self.app, &by, &pending, &client()).await
    }

    pub(crate) async fn user_of(&self, subject: &str) -> Option<User> {
        self.app.store.user_with_identity(&self.provider.identity(subject)).await.unwrap()
    }

    pub(crate) async fn actions(&self) -> Vec<AuditAction> {
        let all =
            self.app.store.audit_entries(AuditScope::Installation, PageLimit::default(), None).await.unwrap();
        all.items.into_iter().map(|entry| entry.action).collect()
    }
}

fn application(memory: &InMemory, provider: &Arc<FakeIdentityProvider>) -> Application {
    let mut app = memory.application();
    let domains = vec![EmailDomain::parse("staff.example").unwrap()];
    app.provider_sign_in = Some(ProviderSignIn::new(Arc::<FakeIdentityProvider>::clone(provider), domains));
    app
}

pub(crate) fn refused<T: std::fmt::Debug>(outcome: Result<T, PersonError>) -> IdentityError {
    match outcome {
        Err(PersonError::Identity(error)) => error,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn d77_a_bound_identity_signs_its_user_in() {
    let world = World::new().await;
    world.bind(ADA, "1").await.unwrap();
    let opened = world.sign_in().await.unwrap();
    assert_eq!(opened.user.email.as_str(), ADA);
    assert!(!opened.session.is_kept);
    assert_eq!(world.signed_in(&opened).await.user().id, opened.user.id);
    let actions = world.actions().await;
    assert_eq!(actions[..3], [AuditAction::SignedIn, AuditAction::IdentityBound, AuditAction::SignedIn]);
}

#[tokio::test]
async fn d77_an_email_address_never_leads_to_a_user() {
    let world = World::new().await;
    for (email, is_email_verified, is_of_user) in [
        (ADA, true, true),
        ("ADA@EXAMPLE.COM", true, true),
        // Whoever only claims an address learns nothing about it.
        (ADA, false, false),
        ("new@example.com", true, false),
        ("new@staff.example", false, false),
        ("new@sub.staff.example", true, false),
    ] {
        world.name_with_email("1", email, is_email_verified);
        let expected = if is_of_user {
            IdentityError::NotBound
        } else {
            IdentityError::Unknown(Box::new(Shown {
                email: Some(samples::email(email)),
                is_email_verified,
                name: Some(Name::parse("Named There").unwrap()),
                subject: world.provider.identity("1").subject,
            }))
        };
        assert_eq!(refused(world.sign_in().await), expected, "{email}");
    }
    world.name("1");
    assert!(matches!(refused(world.sign_in().await), IdentityError::Unknown(_)));
    assert_eq!(world.user_of("1").await, None);
}

#[tokio::test]
async fn d77_a_verified_address_of_the_domains_makes_a_user_without_rights() {
    let world = World::new().await;
    world.name_with_email("1", "New@Staff.example", true);
    let opened = world.sign_in().await.unwrap();
    let User { email, name, password, is_operator, .. } = &opened.user;
    assert_eq!((email.as_str(), name.as_ref().unwrap().as_str()), ("New@Staff.example", "Named There"));
    assert_eq!((password, is_operator), (&None, &false));
    assert_eq!(world.app.store.accounts_of(opened.user.id).await.unwrap(), []);
    let actions = world.actions().await;
    assert_eq!(actions[..3], [AuditAction::SignedIn, AuditAction::IdentityBound, AuditAction::UserCreated]);
    // From now on only the pair counts, whatever the address.
    world.name_with_email("1", ADA, true);
    assert_eq!(world.sign_in().await.unwrap().user.id, opened.user.id);
    world.name_with_email("2", "new@staff.example", true);
    assert_eq!(refused(world.sign_in().await), IdentityError::NotBound);
}

#[tokio::test(flavor = "multi_thread")]
async fn d77_first_sign_ins_at_once_make_one_user() {
    let world = World::new().await;
    world.name_with_email("1", "new@staff.example", true);
    let mut ways = Vec::new();
    for _ in 0..6 {
        ways.push(world.begin(Purpose::SignIn, None).await.unwrap());
    }
    let ended = at_once(6, async |number| world.finish(&ways[number], None).await);
    for outcome in ended {
        match outcome {
            Ok(Finished::Opened { .. }) => {}
            other => panic!("{other:?}"),
        }
    }
    assert!(world.user_of("1").await.is_some());
}

#[tokio::test]
async fn d79_nobody_comes_in_by_a_domain_before_the_first_user() {
    let memory = InMemory::default();
    let provider = Arc::new(FakeIdentityProvider::new());
    let app = application(&memory, &provider);
    let world = World { memory, provider, app };
    world.name_with_email("1", "new@staff.example", true);
    assert_eq!(refused(world.sign_in().await), IdentityError::NotSetUp);
    assert!(!world.app.store.any_user().await.unwrap());
}

#[tokio::test]
async fn d77_a_disabled_user_does_not_get_in() {
    let world = World::new().await;
    world.bind(ADA, "1").await.unwrap();
    let reference = UserReference::Email(samples::email(ADA));
    users::disable(&world.app, &Operator::COMMAND, &reference).await.unwrap();
    world.name("1");
    assert_eq!(refused(world.sign_in().await), IdentityError::Disabled);
}

#[tokio::test]
async fn d77_a_flow_belongs_to_its_browser_for_ten_minutes() {
    let world = World::new().await;
    world.bind(ADA, "1").await.unwrap();
    let before = world.provider.redemptions();
    let way = world.begin(Purpose::SignIn, None).await.unwrap();
    let other = world.begin(Purpose::SignIn, None).await.unwrap();
    let (cookie, state) = &way;
    let finished = async |cookie: Option<&str>, state: Option<&str>, code: Option<&str>| {
        let callback = Callback { code, state, ..Callback::default() };
        refused(finish(&world.app, cookie, callback, None, &client()).await)
    };
    let damaged = format!("{}x", &cookie[..cookie.len() - 2]);
    for (cookie, state, code) in [
        (None, Some(state.as_str()), Some("code")),
        (Some(""), Some(state), Some("code")),
        (Some("not sealed"), Some(state), Some("code")),
        (Some(damaged.as_str()), Some(state), Some("code")),
        (Some(cookie), None, Some("code")),
        (Some(cookie), Some(""), Some("code")),
        (Some(cookie), Some(other.1.as_str()), Some("code")),
        (Some(cookie), Some(state), None),
    ] {
        assert_eq!(finished(cookie, state, code).await, IdentityError::FlowLost, "{cookie:?} {state:?}");
    }
    world.memory.clock.advance(Duration::from_mins(10));
    assert_eq!(finished(Some(cookie), Some(state), Some("code")).await, IdentityError::FlowLost);
    assert_eq!(world.provider.redemptions(), before, "none of these costs the provider anything");
    world.memory.clock.step_back(Duration::from_millis(1));
    world.finish(&way, None).await.unwrap();
}

#[tokio::test]
async fn d77_refusals_of_the_provider_are_told_apart() {
    let world = World::new().await;
    let (cookie, state) = world.begin(Purpose::SignIn, None).await.unwrap();
    let callback = Callback { error: Some("access_denied<b>"), state: Some(&state), ..Callback::default() };
    let denied = finish(&world.app, Some(&cookie), callback, None, &client()).await;
    assert_eq!(refused(denied), IdentityError::Denied("access_deniedb".to_owned()));
    world.provider.fail(ProviderError::Refused { reason: "status 400".to_owned() });
    assert_eq!(refused(world.finish(&(cookie, state), None).await), IdentityError::Failed);
    assert_eq!(refused(world.sign_in().await), IdentityError::Failed);
}

#[tokio::test]
async fn d77_without_a_provider_nothing_begins() {
    let memory = InMemory::default();
    let app = memory.application();
    let begun = begin(&app, Purpose::SignIn, "/", None).await;
    assert_eq!(refused(begun), IdentityError::NoProvider);
    let ended = finish(&app, Some("x"), Callback::default(), None, &client()).await;
    assert_eq!(refused(ended), IdentityError::NoProvider);
}

#[tokio::test]
async fn d73_a_session_of_the_provider_is_as_confirmed_as_the_sign_in_there() {
    let world = World::new().await;
    world.bind(ADA, "1").await.unwrap();
    for (authenticated_at, is_confirmed) in [
        (Some(world.now()), true),
        (Some(world.now().minus(Duration::from_mins(14))), true),
        (Some(world.now().minus(Duration::from_mins(15))), false),
        (Some(world.now().plus(Duration::from_mins(5))), true),
        (None, false),
    ] {
        world.provider.name("1", authenticated_at);
        let opened = world.sign_in().await.unwrap();
        assert_eq!(opened.session.is_confirmed(world.now()), is_confirmed, "{authenticated_at:?}");
        assert!(opened.session.confirmed_at <= world.now());
    }
}

#[tokio::test]
async fn d73_confirming_takes_a_new_sign_in_of_the_same_person() {
    let world = World::new().await;
    world.bind(ADA, "1").await.unwrap();
    world.name_with_email("2", "new@staff.example", true);
    world.sign_in().await.unwrap();
    world.name("1");
    let opened = world.sign_in().await.unwrap();
    world.memory.clock.advance(Duration::from_hours(1));
    let ada = world.signed_in(&opened).await;
    let confirm = async || world.flow(Purpose::Confirm(ada.session().id), Some(&ada)).await;
    let minute = Duration::from_mins(1);
    for (subject, authenticated_at, expected) in [
        ("1", None, IdentityError::NotFresh),
        ("1", Some(world.now().minus(minute + Duration::from_millis(1))), IdentityError::NotFresh),
        ("2", Some(world.now()), IdentityError::OtherPerson),
        ("3", Some(world.now()), IdentityError::OtherPerson),
    ] {
        world.provider.name(subject, authenticated_at);
        assert_eq!(refused(confirm().await), expected, "{subject} {authenticated_at:?}");
    }
    world.provider.name("1", Some(world.now().minus(minute)));
    let Finished::Opened { opened: confirmed, next } = confirm().await.unwrap() else { panic!() };
    assert!(world.provider.last_request().unwrap().must_sign_in_again);
    assert_eq!((next.as_str(), confirmed.session.id), ("/next", opened.session.id));
    assert!(world.signed_in(&confirmed).await.session().is_confirmed(world.now()));
    let old = recognise(&world.app, Some(&opened.token)).await;
    assert!(old.is_err(), "the session has a new token");
}
