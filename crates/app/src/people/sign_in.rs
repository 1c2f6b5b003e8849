//! Signing in, confirming the password, and signing out (D71–D73, D75).

use signpost_domain::{
    AuditAction, Email, Password, PasswordHash, SealedSecret, SignInKey, Timestamp, User, Violations,
};

use super::profile::{not_written, of_user, user_named};
use super::second_factor::TypedCode;
use super::{Client, OpenedSession, PersonError, draw_token, open_session, require_passwords, waiting};
use crate::admission::SignedIn;
use crate::application::Application;
use crate::audit::{Deed, record};
use crate::ports::{Asker, HashingPlace, SignInTurn, UnitOfWork, Verdict};
use crate::unit_of_work::{Attempts, commit};

/// The metric of failed sign-ins and confirmations (D78).
const FAILED: &str = "signpost_failed_sign_ins_total";

/// What somebody types to sign in.
#[derive(Debug, Clone)]
pub struct Credentials {
    /// The e-mail address.
    pub email: String,
    /// The password.
    pub password: Password,
    /// Whether the session outlives the browser.
    pub is_kept: bool,
}

/// How far a sign-in has come.
#[derive(Debug)]
pub enum SignInStep {
    /// The user is signed in.
    Done(Box<OpenedSession>),
    /// The password was right, and the code is missing. The browser keeps this for [`sign_in_with_code`].
    CodeNeeded(SealedSecret),
}

/// Signs a user in. A user with a second factor needs [`sign_in_with_code`] as well.
///
/// An unknown e-mail address, a user without a password, a wrong password and a disabled user take the same statements and
/// one hash each, and end in the same error.
///
/// # Errors
/// [`PersonError::Invalid`], [`PersonError::Wait`], [`PersonError::WrongPassword`], [`PersonError::Busy`],
/// [`PersonError::PasswordsOff`], [`PersonError::NoSecretsKey`].
pub async fn sign_in(
    app: &Application,
    credentials: &Credentials,
    client: &Client,
) -> Result<SignInStep, PersonError> {
    require_passwords(app)?;
    let Credentials { email, password, is_kept } = credentials;
    let email =
        Email::parse(email).map_err(|error| PersonError::Invalid(Violations::from(error.at("email"))))?;
    let attempt = Attempt::begin(app, &email, Asker::Stranger, client).await?;
    let user = app.store.user_with_email(&email).await?.filter(|user| user.disabled_at.is_none());
    let key = attempt.key;
    let is_outdated = attempt.check(app, user.as_ref(), password, client).await?;
    let Some(user) = user else { return Err(PersonError::WrongPassword) };
    let new_hash = if is_outdated { rehashed(app, password).await } else { None };
    let step = open_checked(app, &user, new_hash, &Typed { is_kept: *is_kept, key }, client).await?;
    match step {
        SignInStep::Done(_) => app.store.forget_sign_ins(&key).await?,
        // The attempt stays counted until the code is right, so that the password does not clear failed codes.
        SignInStep::CodeNeeded(_) => {}
    }
    Ok(step)
}

/// Signs in a user whose password was right, with a code. Of concurrent requests with one code, one gets in.
///
/// # Errors
/// [`PersonError::SignInExpired`], [`PersonError::WrongCode`], [`PersonError::Wait`], [`PersonError::SeedLost`],
/// [`PersonError::PasswordsOff`].
pub async fn sign_in_with_code(
    app: &Application,
    waiting: &SealedSecret,
    code: &TypedCode,
    client: &Client,
) -> Result<OpenedSession, PersonError> {
    require_passwords(app)?;
    let waiting = waiting::open(app, waiting).ok_or(PersonError::SignInExpired)?;
    let found = app.store.user(waiting.user).await?.filter(|user| waiting.is_of(user));
    // Before the attempt is counted: whoever holds a void step must not make the user wait.
    code.require_judgeable(app, &found.ok_or(PersonError::SignInExpired)?)?;
    let attempt = CodeAttempt::begin(app, SignInKey::of_codes(waiting.user), code, client).await?;
    let attempts = Attempts::at(app);
    let outcome = attempts
        .run(|| async {
            let mut work = attempts.begin().await?;
            let user = work.lock_user(waiting.user).await?.filter(|user| waiting.is_of(user));
            let mut user = user.ok_or(PersonError::SignInExpired)?;
            use_code(app, work.as_mut(), &mut user, code, client).await?;
            let opened = open_session(app, work.as_mut(), &user, waiting.is_kept, client).await?;
            record(app, work.as_mut(), of_user(&user, AuditAction::SignedIn, client)).await?;
            commit(app, work).await?;
            Ok(opened)
        })
        .await;
    let opened = attempt.judged(app, outcome, client).await?;
    app.store.forget_sign_ins(&waiting.key).await?;
    Ok(opened)
}

/// Uses up a code of a locked user, if the user has a second factor.
async fn use_code(
    app: &Application,
    work: &mut dyn UnitOfWork,
    user: &mut User,
    code: &TypedCode,
    client: &Client,
) -> Result<(), PersonError> {
    let Some(factor) = &user.second_factor else { return Ok(()) };
    let after = code.used(app, user.id, factor, app.clock.now())?;
    let left = after.recovery_codes.len();
    user.second_factor = Some(after);
    work.update_user(user).await.map_err(not_written)?;
    if let Some(action) = code.noteworthy() {
        let object = format!("{}, {left} left", user_named(user));
        record(app, work, Deed { object, ..of_user(user, action, client) }).await?;
    }
    Ok(())
}

/// The hash of a right password with the parameters of today. Without a free place the old hash stays until the next sign-in.
async fn rehashed(app: &Application, password: &Password) -> Option<PasswordHash> {
    let place = app.passwords.place(Asker::Known).ok()?;
    app.passwords.hash(place, password.clone()).await.ok()
}

/// Confirms the password of a signed-in user, and the second factor if there is one, and gives the session a new token (D72, D73).
/// It counts like signing in.
///
/// # Errors
/// [`PersonError::Wait`], [`PersonError::WrongPassword`], [`PersonError::WrongCode`], [`PersonError::Busy`], [`PersonError::Gone`],
/// [`PersonError::PasswordsOff`], [`PersonError::SeedLost`].
pub async fn confirm(
    app: &Application,
    signed_in: &SignedIn,
    password: &Password,
    code: &TypedCode,
    client: &Client,
) -> Result<OpenedSession, PersonError> {
    require_passwords(app)?;
    let (user, session) = (signed_in.user(), signed_in.session());
    let attempt = Attempt::begin(app, &user.email, Asker::Known, client).await?;
    let key = attempt.key;
    attempt.check(app, Some(user), password, client).await?;
    let code_attempt = match user.second_factor {
        Some(_) => {
            code.require_judgeable(app, user)?;
            Some(CodeAttempt::begin(app, SignInKey::of_confirmations(session.id), code, client).await?)
        }
        None => None,
    };
    let attempts = Attempts::at(app);
    let outcome = attempts
        .run(|| async {
            let (token, now) = (draw_token(app)?, app.clock.now());
            let mut work = attempts.begin().await?;
            let mut user = work.lock_user(user.id).await?.ok_or(PersonError::Gone)?;
            use_code(app, work.as_mut(), &mut user, code, client).await?;
            if !work.confirm_session(session.id, &session.hash, &token.hash(), now).await? {
                return Err(PersonError::Gone);
            }
            commit(app, work).await?;
            let mut session = session.clone();
            (session.hash, session.confirmed_at) = (token.hash(), now);
            Ok(OpenedSession { token, session, user })
        })
        .await;
    let opened = match code_attempt {
        Some(attempt) => attempt.judged(app, outcome, client).await?,
        None => outcome?,
    };
    app.store.forget_sign_ins(&key).await?;
    Ok(opened)
}

/// Ends the session of this request.
pub async fn sign_out(app: &Application, signed_in: &SignedIn) -> Result<(), PersonError> {
    let attempts = Attempts::at(app);
    attempts
        .run(|| async {
            let mut work = attempts.begin().await?;
            work.end_session(signed_in.user().id, signed_in.session().id).await?;
            Ok(commit(app, work).await?)
        })
        .await
}

/// An attempt that was counted as a failure before its password is checked, so that attempts at the same time cannot pass the
/// limits together.
struct Attempt {
    key: SignInKey,
    place: HashingPlace,
}

impl Attempt {
    /// Counts an attempt. It first takes a place for the hash: an attempt that finds none is no failure.
    async fn begin(
        app: &Application,
        email: &Email,
        asker: Asker,
        client: &Client,
    ) -> Result<Self, PersonError> {
        let place = app.passwords.place(asker)?;
        let key = SignInKey::new(email, client.address);
        count_address(app, client)?;
        count_key(app, &key, client).await?;
        Ok(Self { key, place })
    }

    /// Checks the password, also where there is no user: the work is the same. Returns whether the hash is outdated.
    async fn check(
        self,
        app: &Application,
        user: Option<&User>,
        password: &Password,
        client: &Client,
    ) -> Result<bool, PersonError> {
        let hash = user.and_then(|user| user.password.clone());
        let verdict = app.passwords.verify(self.place, password.clone(), hash).await?;
        let now = app.clock.now();
        match verdict {
            Verdict::Right { is_outdated } => {
                app.gatekeeper.failed_sign_ins.forgive(client.address, now);
                Ok(is_outdated)
            }
            Verdict::Wrong => {
                note_failure(app, now);
                Err(PersonError::WrongPassword)
            }
        }
    }
}

/// An attempt at a code. Only somebody who knows the password gets here, so failed sign-ins count for the user, wherever they
/// come from: a thief of the password with many addresses gets no more tries. Failed confirmations count for the session, so the
/// thief cannot keep the user from confirming.
struct CodeAttempt {
    key: SignInKey,
}

impl CodeAttempt {
    /// Counts an attempt. Nobody guesses a recovery code, so one neither waits nor makes wait: it lets a user in while a thief of
    /// the password tries codes.
    async fn begin(
        app: &Application,
        key: SignInKey,
        code: &TypedCode,
        client: &Client,
    ) -> Result<Self, PersonError> {
        count_address(app, client)?;
        match code {
            TypedCode::Recovery(_) => {}
            TypedCode::OneTime(_) => count_key(app, &key, client).await?,
        }
        Ok(Self { key })
    }

    /// The outcome. A right code forgets the failures; what is neither right nor wrong, such as a store that broke, stays counted.
    async fn judged<T>(
        self,
        app: &Application,
        outcome: Result<T, PersonError>,
        client: &Client,
    ) -> Result<T, PersonError> {
        let now = app.clock.now();
        if matches!(outcome, Err(PersonError::WrongCode)) {
            note_failure(app, now);
            return outcome;
        }
        app.gatekeeper.failed_sign_ins.forgive(client.address, now);
        if outcome.is_ok() {
            app.store.forget_sign_ins(&self.key).await?;
        }
        outcome
    }
}

/// Counts an attempt as a failure of its address on this node.
fn count_address(app: &Application, client: &Client) -> Result<(), PersonError> {
    match app.gatekeeper.failed_sign_ins.count(client.address, app.clock.now()) {
        Some(throttled) => Err(PersonError::Wait { seconds: throttled.retry_after_seconds }),
        None => Ok(()),
    }
}

/// Counts an attempt, which its address was counted for, as a failure of its key on all nodes. One that has to wait counts for
/// neither.
async fn count_key(app: &Application, key: &SignInKey, client: &Client) -> Result<(), PersonError> {
    let now = app.clock.now();
    match app.store.count_sign_in(key, now).await? {
        SignInTurn::Allowed => Ok(()),
        SignInTurn::WaitUntil(instant) => {
            app.gatekeeper.failed_sign_ins.forgive(client.address, now);
            Err(PersonError::Wait { seconds: now.seconds_until(instant) })
        }
    }
}

fn note_failure(app: &Application, now: Timestamp) {
    metrics::counter!(FAILED).increment(1);
    if app.gatekeeper.failed_sign_in_lines.is_due(now) {
        tracing::warn!("sign-ins fail, which is logged once an hour; the metric `{FAILED}` counts them");
    }
}

/// What came with a right password.
struct Typed {
    is_kept: bool,
    /// What the attempt was counted for.
    key: SignInKey,
}

/// Opens a session of a user whose password was right, unless a code is needed. If the hash is outdated, replaces it.
async fn open_checked(
    app: &Application,
    checked: &User,
    new_hash: Option<PasswordHash>,
    typed: &Typed,
    client: &Client,
) -> Result<SignInStep, PersonError> {
    let attempts = Attempts::at(app);
    attempts
        .run(|| async {
            let mut work = attempts.begin().await?;
            let mut user = work.lock_user(checked.id).await?.ok_or(PersonError::Gone)?;
            // The password may have been changed, or the user disabled, while it was checked.
            if user.disabled_at.is_some() || user.password != checked.password {
                return Err(PersonError::WrongPassword);
            }
            if let Some(hash) = &new_hash {
                user.password = Some(hash.clone());
                work.update_user(&user).await.map_err(not_written)?;
            }
            // The user may have set up a second factor while the password was checked.
            if user.second_factor.is_some() {
                let waiting = waiting::seal(app, &user, typed.is_kept, &typed.key)?;
                commit(app, work).await?;
                return Ok(SignInStep::CodeNeeded(waiting));
            }
            let opened = open_session(app, work.as_mut(), &user, typed.is_kept, client).await?;
            record(app, work.as_mut(), of_user(&user, AuditAction::SignedIn, client)).await?;
            commit(app, work).await?;
            Ok(SignInStep::Done(Box::new(opened)))
        })
        .await
}
