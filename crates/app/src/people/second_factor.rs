//! The second factor of a user with a password: an authenticator app, and recovery codes (ADR 73).

use signpost_domain::{
    Account, AuditAction, RECOVERY_CODES, RecoveryCode, Role, SealedSecret, SecondFactor, Timestamp,
    TotpSeed, TotpStep, User, UserId,
};

use super::profile::{change_own, of_user, require_confirmed};
use super::{Client, PersonError, require_passwords};
use crate::admission::SignedIn;
use crate::application::Application;
use crate::ports::{Sealer, UnitOfWork};

/// What the seed of a user's one-time codes is sealed for.
pub(crate) fn seed_purpose(user: UserId) -> String {
    format!("second factor of {user}")
}

/// What a seed is sealed for while its user sets it up. So what a browser holds then is of no use in the store.
fn setup_purpose(signed_in: &SignedIn) -> String {
    format!("second factor that {} sets up in {}", signed_in.user().id, signed_in.session().id)
}

/// The seed of a second factor that is being set up. Nothing is stored yet.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The seed, to show.
    pub seed: TotpSeed,
    /// The seed, sealed for [`finish`]. The browser keeps it meanwhile.
    pub sealed: SealedSecret,
}

/// Whether the user can set up a second factor here.
///
/// # Errors
/// [`PersonError::PasswordsOff`]; [`PersonError::NoPassword`]; [`PersonError::NoSecretsKey`].
pub fn require_possible<'a>(app: &'a Application, user: &User) -> Result<&'a dyn Sealer, PersonError> {
    require_passwords(app)?;
    if user.password.is_none() {
        return Err(PersonError::NoPassword);
    }
    app.sealer.as_deref().ok_or(PersonError::NoSecretsKey)
}

/// Whether a password alone lets the user in.
pub(crate) fn is_missing(app: &Application, user: &User) -> bool {
    app.proxy_sign_in.is_none() && user.signs_in_by_password_alone()
}

/// How many accounts of a user are known. A user may have more.
const MOST_ACCOUNTS: usize = 100;

/// What a user loses without a second factor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Closing<'a> {
    /// No account: the user does not sign in with a password here.
    Nothing,
    /// These accounts.
    Accounts {
        /// The known accounts that close, in their order.
        accounts: Vec<&'a Account>,
        /// Whether all accounts of the user are known.
        is_all: bool,
    },
}

/// What closes to the user without a second factor, of these accounts of the user.
#[must_use]
pub fn closing<'a>(app: &Application, user: &User, accounts: &'a [(Account, Role)]) -> Closing<'a> {
    if !is_missing(app, &User { second_factor: None, ..user.clone() }) {
        return Closing::Nothing;
    }
    let requiring = accounts.iter().map(|(account, _)| account);
    let requiring = requiring.filter(|account| account.requires_second_factor);
    Closing::Accounts { accounts: requiring.collect(), is_all: accounts.len() < MOST_ACCOUNTS }
}

/// Draws a seed for the user.
///
/// # Errors
/// [`PersonError::NotConfirmed`], and those of [`require_possible`].
pub fn begin(app: &Application, signed_in: &SignedIn) -> Result<Setup, PersonError> {
    let sealer = require_possible(app, signed_in.user())?;
    require_confirmed(app, signed_in)?;
    let mut bytes = [0; TotpSeed::LENGTH];
    app.randomness.fill(&mut bytes)?;
    let seed = TotpSeed::from_random(bytes);
    let for_form = sealer.seal(&setup_purpose(signed_in), seed.expose())?;
    Ok(Setup { seed, sealed: for_form })
}

/// The seed that [`begin`] has sealed, to show it again.
///
/// # Errors
/// [`PersonError::SetupVoid`] if it was sealed in another session, with another secrets key, or is damaged; those of
/// [`require_possible`].
pub fn resume(
    app: &Application,
    signed_in: &SignedIn,
    of_form: &SealedSecret,
) -> Result<TotpSeed, PersonError> {
    let bytes = require_possible(app, signed_in.user())?.open(&setup_purpose(signed_in), of_form);
    bytes.and_then(|bytes| TotpSeed::from_opened(&bytes)).ok_or(PersonError::SetupVoid)
}

/// Stores the second factor, if `code` shows that the app has the seed. It replaces another one, and ends all other sessions of the
/// user: one that a stolen password has opened could remove it. Returns the recovery codes, which exist only here.
///
/// # Errors
/// [`PersonError::WrongCode`], [`PersonError::NotConfirmed`], [`PersonError::Gone`], and those of [`resume`].
pub async fn finish(
    app: &Application,
    signed_in: &SignedIn,
    of_form: &SealedSecret,
    code: &str,
    client: &Client,
) -> Result<Vec<RecoveryCode>, PersonError> {
    let seed = resume(app, signed_in, of_form)?;
    let user = signed_in.user().id;
    let sealer = require_possible(app, signed_in.user())?;
    let codes = draw_codes(app)?;
    let now = app.clock.now();
    let new = SecondFactor {
        seed: sealer.seal(&seed_purpose(user), seed.expose())?,
        last_step: TotpStep(0),
        recovery_codes: codes.iter().map(RecoveryCode::hash).collect(),
        set_up_at: now,
    };
    let new = new.after_one_time_code(&seed, code, now).ok_or(PersonError::WrongCode)?;
    change(app, signed_in, client, AuditAction::SecondFactorSetUp, |before| {
        // A form that is sent again would void the recovery codes that were just saved.
        let present = before.and_then(|factor| seed_of(sealer, user, &factor));
        if present.as_ref() == Some(&seed) { Err(PersonError::SetupVoid) } else { Ok(Some(new.clone())) }
    })
    .await?;
    Ok(codes)
}

/// Gives the user new recovery codes. The earlier ones are void.
///
/// # Errors
/// [`PersonError::NotConfirmed`], [`PersonError::NoSecondFactor`], [`PersonError::Gone`].
pub async fn replace_recovery_codes(
    app: &Application,
    signed_in: &SignedIn,
    client: &Client,
) -> Result<Vec<RecoveryCode>, PersonError> {
    let codes = draw_codes(app)?;
    change(app, signed_in, client, AuditAction::RecoveryCodesReplaced, |before| {
        let before = before.ok_or(PersonError::NoSecondFactor)?;
        let recovery_codes = codes.iter().map(RecoveryCode::hash).collect();
        Ok(Some(SecondFactor { recovery_codes, ..before }))
    })
    .await?;
    Ok(codes)
}

/// Removes the second factor of the user.
///
/// # Errors
/// [`PersonError::NotConfirmed`], [`PersonError::NoSecondFactor`], [`PersonError::Gone`].
pub async fn remove(app: &Application, signed_in: &SignedIn, client: &Client) -> Result<(), PersonError> {
    change(app, signed_in, client, AuditAction::SecondFactorRemoved, |before| {
        before.map(|_| None).ok_or(PersonError::NoSecondFactor)
    })
    .await
}

/// Changes the second factor of the user in one unit of work, with an entry of the audit.
async fn change(
    app: &Application,
    signed_in: &SignedIn,
    client: &Client,
    action: AuditAction,
    changed: impl Fn(Option<SecondFactor>) -> Result<Option<SecondFactor>, PersonError> + Sync,
) -> Result<(), PersonError> {
    require_confirmed(app, signed_in)?;
    change_own(app, signed_in, async |work: &mut dyn UnitOfWork, user: &mut User| {
        user.second_factor = changed(user.second_factor.take())?;
        if action == AuditAction::SecondFactorSetUp {
            work.end_sessions(user.id, Some(signed_in.session().id)).await?;
        }
        Ok(Some(of_user(user, action, client)))
    })
    .await
    .map(drop)
}

/// The seed of a second factor. `None` if it was sealed with a secrets key that is unknown here.
fn seed_of(sealer: &dyn Sealer, user: UserId, factor: &SecondFactor) -> Option<TotpSeed> {
    sealer.open(&seed_purpose(user), &factor.seed).and_then(|bytes| TotpSeed::from_opened(&bytes))
}

fn draw_codes(app: &Application) -> Result<Vec<RecoveryCode>, PersonError> {
    let draw = |_| {
        let mut bytes = [0; RecoveryCode::BYTES];
        app.randomness.fill(&mut bytes)?;
        Ok(RecoveryCode::from_random(bytes))
    };
    (0..RECOVERY_CODES).map(draw).collect()
}

/// A code that somebody typed.
#[derive(Debug, Clone)]
pub enum TypedCode {
    /// A one-time code of an app, or anything else.
    OneTime(String),
    /// A recovery code.
    Recovery(RecoveryCode),
}

impl TypedCode {
    /// Reads what somebody typed. The two kinds have different lengths.
    #[must_use]
    pub fn read(text: &str) -> Self {
        RecoveryCode::parse(text).map_or_else(|| Self::OneTime(text.to_owned()), Self::Recovery)
    }

    /// What the audit says about a use of the code beside the sign-in.
    pub(super) const fn noteworthy(&self) -> Option<AuditAction> {
        match self {
            Self::OneTime(_) => None,
            Self::Recovery(_) => Some(AuditAction::RecoveryCodeUsed),
        }
    }

    /// Refuses a code that cannot be judged here.
    ///
    /// # Errors
    /// [`PersonError::NoSecretsKey`]; [`PersonError::SeedLost`] if the seed was sealed with a secrets key that is unknown here.
    pub(super) fn require_judgeable(&self, app: &Application, user: &User) -> Result<(), PersonError> {
        let Some(factor) = &user.second_factor else { return Ok(()) };
        match self.used(app, user.id, factor, app.clock.now()) {
            Ok(_) | Err(PersonError::WrongCode) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// The second factor of a user after the use of the code.
    ///
    /// # Errors
    /// [`PersonError::WrongCode`]; [`PersonError::NoSecretsKey`]; [`PersonError::SeedLost`] if the seed was sealed with a secrets key
    /// that is unknown here.
    pub(super) fn used(
        &self,
        app: &Application,
        user: UserId,
        factor: &SecondFactor,
        now: Timestamp,
    ) -> Result<SecondFactor, PersonError> {
        let after = match self {
            Self::Recovery(code) => factor.after_recovery_code(code),
            Self::OneTime(code) => {
                let sealer = app.sealer.as_deref().ok_or(PersonError::NoSecretsKey)?;
                let seed = seed_of(sealer, user, factor).ok_or(PersonError::SeedLost)?;
                factor.after_one_time_code(&seed, code, now)
            }
        };
        after.ok_or(PersonError::WrongCode)
    }
}
