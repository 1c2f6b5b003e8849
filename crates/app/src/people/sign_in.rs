//! Signing in, confirming the password, and signing out (D71–D73, D75).

use std::net::IpAddr;

use signpost_domain::{AuditAction, Email, Password, PasswordHash, SignInKey, Timestamp, User, Violations};

use super::profile::{not_written, of_user};
use super::{Client, OpenedSession, PersonError, draw_token, open_session, require_passwords};
use crate::admission::SignedIn;
use crate::application::Application;
use crate::audit::record;
use crate::operator::Operator;
use crate::ports::{Asker, HashingPlace, SignInTurn, Verdict};
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

/// Signs a user in.
///
/// An unknown e-mail address, a user without a password, a wrong password and a disabled user take the same statements and
/// one hash each, and end in the same error.
///
/// # Errors
/// [`PersonError::Invalid`], [`PersonError::Wait`], [`PersonError::WrongPassword`], [`PersonError::Busy`],
/// [`PersonError::PasswordsOff`].
pub async fn sign_in(
    app: &Application,
    credentials: &Credentials,
    client: &Client,
) -> Result<OpenedSession, PersonError> {
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
    let opened = open_checked(app, &user, new_hash, *is_kept, client).await?;
    app.store.forget_sign_ins(&key).await?;
    Ok(opened)
}

/// The hash of a right password with the parameters of today. Without a free place the old hash stays until the next sign-in.
async fn rehashed(app: &Application, password: &Password) -> Option<PasswordHash> {
    let place = app.passwords.place(Asker::Known).ok()?;
    app.passwords.hash(place, password.clone()).await.ok()
}

/// Confirms the password of a signed-in user, and gives the session a new token (D72, D73). It counts like signing in.
///
/// # Errors
/// [`PersonError::Wait`], [`PersonError::WrongPassword`], [`PersonError::Busy`], [`PersonError::Gone`],
/// [`PersonError::PasswordsOff`].
pub async fn confirm(
    app: &Application,
    signed_in: &SignedIn,
    password: &Password,
    client: &Client,
) -> Result<OpenedSession, PersonError> {
    require_passwords(app)?;
    let (user, session) = (signed_in.user(), signed_in.session());
    let attempt = Attempt::begin(app, &user.email, Asker::Known, client).await?;
    let key = attempt.key;
    attempt.check(app, Some(user), password, client).await?;
    let attempts = Attempts::at(app);
    let opened = attempts
        .run(|| async {
            let (token, now) = (draw_token(app)?, app.clock.now());
            let mut work = attempts.begin().await?;
            if !work.confirm_session(session.id, &session.hash, &token.hash(), now).await? {
                return Err(PersonError::Gone);
            }
            commit(app, work).await?;
            let mut session = session.clone();
            (session.hash, session.confirmed_at) = (token.hash(), now);
            Ok(OpenedSession { token, session, user: user.clone() })
        })
        .await?;
    app.store.forget_sign_ins(&key).await?;
    Ok(opened)
}

/// The failed sign-ins for an e-mail address from an IP address (D75).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Failures {
    /// How many count at present.
    pub count: u32,
    /// The last one that counts.
    pub last_at: Option<Timestamp>,
    /// How many seconds it is until another attempt is allowed. `None` if it is allowed now.
    pub wait: Option<u32>,
}

/// The failures that count at present, for operators. Stores keep a hash of the two addresses only, so both are needed.
///
/// # Errors
/// The store broke.
pub async fn failures(
    app: &Application,
    _by: &Operator,
    email: &Email,
    address: IpAddr,
) -> Result<Failures, PersonError> {
    let now = app.clock.now();
    let failures = app.store.sign_in_failures(&SignInKey::new(email, address)).await?;
    let current = failures.current(now);
    let wait = failures.allowed_from(now).map(|instant| now.seconds_until(instant));
    Ok(Failures { count: current.count, last_at: current.last_at, wait })
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
        let now = app.clock.now();
        if let Some(throttled) = app.gatekeeper.failed_sign_ins.count(client.address, now) {
            return Err(PersonError::Wait { seconds: throttled.retry_after_seconds });
        }
        let key = SignInKey::new(email, client.address);
        match app.store.count_sign_in(&key, now).await? {
            SignInTurn::Allowed => Ok(Self { key, place }),
            SignInTurn::WaitUntil(instant) => {
                app.gatekeeper.failed_sign_ins.forgive(client.address, now);
                Err(PersonError::Wait { seconds: now.seconds_until(instant) })
            }
        }
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
                metrics::counter!(FAILED).increment(1);
                if app.gatekeeper.failed_sign_in_lines.is_due(now) {
                    tracing::warn!(
                        "sign-ins fail, which is logged once an hour; the metric `{FAILED}` counts them"
                    );
                }
                Err(PersonError::WrongPassword)
            }
        }
    }
}

/// Opens a session of a user whose password was right. If the hash is outdated, replaces it.
async fn open_checked(
    app: &Application,
    checked: &User,
    new_hash: Option<PasswordHash>,
    is_kept: bool,
    client: &Client,
) -> Result<OpenedSession, PersonError> {
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
            let opened = open_session(app, work.as_mut(), &user, is_kept, client).await?;
            record(app, work.as_mut(), of_user(&user, AuditAction::SignedIn, client)).await?;
            commit(app, work).await?;
            Ok(opened)
        })
        .await
}
