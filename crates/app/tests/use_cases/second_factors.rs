//! Second factors (ADR 73). Tests of the dashboard hold the rest.

use std::sync::Arc;

use async_trait::async_trait;
use signpost_app::idempotency::Idempotency;
use signpost_app::people::second_factor::{self, TypedCode};
use signpost_app::people::sign_in::{self, Credentials, SignInStep};
use signpost_app::people::tickets::{self, NewPerson};
use signpost_app::people::users::{self, Invite};
use signpost_app::people::{Client, OpenedSession, PersonError};
use signpost_app::ports::{Asker, HashingError, HashingPlace, PasswordHasher, Sealer as _, Verdict};
use signpost_app::{Application, Operator, Resealing, admission, reseal};
use signpost_domain::{Password, PasswordHash, SecondFactor, TotpSeed, User, UserId};
use signpost_memory::{InMemory, MarkingSealer};
use signpost_port_contracts::samples;

use crate::world::{HOME, at_once};

const EMAIL: &str = "ada@example.com";
const PASSWORD: &str = "plover egg tin";

fn client() -> Client {
    Client { address: HOME.parse().unwrap(), agent: None }
}

async fn new_user(app: &Application) -> OpenedSession {
    let invite = Invite { email: samples::email(EMAIL), joins: None, is_operator: true };
    let token = users::invite(app, &Operator::COMMAND, invite, Idempotency::disabled()).await.unwrap();
    let (password, time_zone) = (PASSWORD.to_owned(), "UTC".to_owned());
    let person = NewPerson { password, time_zone, ..NewPerson::default() };
    tickets::create_user(app, &token, &person, &client()).await.unwrap()
}

/// A user with a second factor, and its seed.
async fn user_with_factor(app: &Application) -> TotpSeed {
    let opened = new_user(app).await;
    let signed_in = admission::recognise(app, Some(&opened.token)).await.unwrap();
    let setup = second_factor::begin(app, &signed_in).unwrap();
    let code = setup.seed.code(app.clock.now());
    second_factor::finish(app, &signed_in, &setup.sealed, &code, &client()).await.unwrap();
    setup.seed
}

async fn password_given(app: &Application) -> signpost_domain::SealedSecret {
    let password = Password::typed(PASSWORD);
    let credentials = Credentials { email: EMAIL.to_owned(), password, is_kept: true };
    match sign_in::sign_in(app, &credentials, &client()).await.unwrap() {
        SignInStep::CodeNeeded(waiting) => waiting,
        SignInStep::Done(opened) => panic!("a password alone signed in {opened:?}"),
    }
}

/// Of many requests with one code on two nodes one gets in, whatever the password step was.
#[tokio::test(flavor = "multi_thread")]
async fn one_code_opens_one_session() {
    let memory = InMemory::default();
    let nodes = [memory.application(), memory.application()];
    let seed = user_with_factor(&nodes[0]).await;
    memory.clock.advance(std::time::Duration::from_secs(30));
    let code = TypedCode::read(&seed.code(nodes[0].clock.now()));
    let waiting = [password_given(&nodes[0]).await, password_given(&nodes[1]).await];
    let outcomes = at_once(4, |number| {
        let (node, waiting, code) = (&nodes[number % 2], &waiting[number / 2], &code);
        async move { sign_in::sign_in_with_code(node, waiting, code, &client()).await }
    });
    let (mut opened, mut refused) = (0, 0);
    for outcome in outcomes {
        match outcome {
            Ok(session) => {
                assert!(session.session.is_kept, "as it was asked for with the password");
                opened += 1;
            }
            Err(PersonError::WrongCode) => refused += 1,
            Err(error) => panic!("{error:?}"),
        }
    }
    assert_eq!((opened, refused), (1, 3));
}

/// More users than a page of them has.
#[tokio::test]
async fn d192_all_second_factors_are_sealed_again() {
    let (old, both) = (MarkingSealer::of(1), MarkingSealer { number: 2, earlier: Some(1) });
    let app = InMemory::default().application();
    for number in 0..205_u8 {
        let seed = TotpSeed::from_random([number; TotpSeed::LENGTH]);
        let user = samples::user();
        let sealed = old.seal(&format!("second factor of {}", user.id), seed.expose()).unwrap();
        let factor = SecondFactor { seed: sealed, ..samples::second_factor() };
        let mut work = app.store.begin().await.unwrap();
        work.insert_user(&User { second_factor: Some(factor), ..user }).await.unwrap();
        work.commit().await.unwrap();
    }
    let sealed = Resealing { resealed: 205, ..Resealing::default() };
    assert_eq!(reseal(&app, &both).await.unwrap(), sealed);
    assert_eq!(reseal(&app, &both).await.unwrap(), Resealing::default(), "nothing is left to do");
    let strangers = MarkingSealer::of(3);
    let lost = Resealing { lost: 205, ..Resealing::default() };
    assert_eq!(reseal(&app, &strangers).await.unwrap(), lost);
}

/// A password that was judged before the second factor was set up lets nobody in afterwards.
#[tokio::test]
async fn a_second_factor_that_is_set_up_during_a_sign_in_is_asked_for() {
    let memory = InMemory::default();
    let app = memory.application();
    let opened = new_user(&app).await;
    let user = opened.user.id;
    let mut signing_in = memory.application();
    // Sets the factor up once the password was judged.
    signing_in.passwords = Arc::new(SettingUp { app: memory.application(), user });
    let password = Password::typed(PASSWORD);
    let credentials = Credentials { email: EMAIL.to_owned(), password, is_kept: true };
    let step = sign_in::sign_in(&signing_in, &credentials, &client()).await.unwrap();
    assert!(matches!(step, SignInStep::CodeNeeded(_)), "{step:?}");
}

/// A hasher that gives the user a second factor after each judgement.
struct SettingUp {
    app: Application,
    user: UserId,
}

#[async_trait]
impl PasswordHasher for SettingUp {
    fn weakness(&self, password: &Password, known_words: &[&str]) -> Option<String> {
        self.app.passwords.weakness(password, known_words)
    }

    fn place(&self, asker: Asker) -> Result<HashingPlace, HashingError> {
        self.app.passwords.place(asker)
    }

    async fn hash(&self, place: HashingPlace, password: Password) -> Result<PasswordHash, HashingError> {
        self.app.passwords.hash(place, password).await
    }

    async fn hash_each(
        &self,
        place: HashingPlace,
        passwords: Vec<Password>,
    ) -> Result<Vec<PasswordHash>, HashingError> {
        self.app.passwords.hash_each(place, passwords).await
    }

    async fn verify(
        &self,
        place: HashingPlace,
        password: Password,
        hash: Option<PasswordHash>,
    ) -> Result<Verdict, HashingError> {
        let verdict = self.app.passwords.verify(place, password, hash).await;
        let mut work = self.app.store.begin().await.unwrap();
        let user = work.lock_user(self.user).await.unwrap().unwrap();
        let with_factor = User { second_factor: Some(samples::second_factor()), ..user };
        work.update_user(&with_factor).await.unwrap();
        work.commit().await.unwrap();
        verdict
    }
}
