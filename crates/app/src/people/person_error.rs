//! The errors of people's use cases.

use signpost_domain::{Refusal, Violations};

use crate::app_error::AppError;
use crate::ports::{RandomnessUnavailable, StoreError};
use crate::unit_of_work::MaybeContended;

/// Why a use case of a person failed. People do not use the API, so these errors have no code of the contract.
#[derive(Debug, thiserror::Error)]
pub enum PersonError {
    /// Fields of the form break their rules. All violations are listed.
    #[error("invalid form: {0}")]
    Invalid(Violations),
    /// Another user has this e-mail address.
    #[error("a user has this e-mail address already")]
    EmailTaken,
    /// The e-mail address or the password is wrong, the user has no password, or is disabled. Nobody learns which (D75).
    #[error("wrong e-mail address or password")]
    WrongPassword,
    /// The code of the second factor is wrong, or was used before.
    #[error("wrong code")]
    WrongCode,
    /// The first step of the sign-in is too long ago, or its user has changed since.
    #[error("the sign-in has to begin again")]
    SignInExpired,
    /// The form that sets up a second factor is not of this user, or of an earlier secrets key.
    #[error("setting up the second factor has to begin again")]
    SetupVoid,
    /// The user has no second factor.
    #[error("there is no second factor")]
    NoSecondFactor,
    /// The user signs in elsewhere, and second factors belong to passwords.
    #[error("the user has no password")]
    NoPassword,
    /// Whoever requires a second factor of others needs one first.
    #[error("the user has no second factor of its own")]
    OwnFactorFirst,
    /// Second factors are sealed with the secrets key, and there is none.
    #[error("second factors need `secrets-key`")]
    NoSecretsKey,
    /// The second factor was sealed with a secrets key that this node does not know.
    #[error("the second factor was stored with another `secrets-key`")]
    SeedLost,
    /// Too many failed attempts for this e-mail address from this address (D75).
    #[error("too many failed sign-ins")]
    Wait {
        /// How long until the next attempt is allowed.
        seconds: u32,
    },
    /// The ticket was used, replaced, has expired, or never existed (D70).
    #[error("the link is not valid any more")]
    TicketVoid,
    /// The invitation is for somebody with another e-mail address.
    #[error("the invitation is for another e-mail address")]
    NotInvited,
    /// The invitation is for a user who has to sign in to accept it.
    #[error("sign in to accept the invitation")]
    SignInToAccept,
    /// A proxy signs people in, so there are no passwords (D77).
    #[error("passwords are off, because `sign-in-header` is set")]
    PasswordsOff,
    /// The proxy names the user by its e-mail address, so the user cannot choose another one (D77).
    #[error("the e-mail address is the one that the proxy names")]
    EmailOfProxy,
    /// The password was not confirmed recently enough (D73).
    #[error("the password has to be confirmed")]
    NotConfirmed,
    /// The user is the last owner of the account, who stays one (D68).
    #[error("an account keeps at least one owner")]
    LastOwner,
    /// The user was deleted or disabled meanwhile, or the session has ended.
    #[error("the session has ended")]
    Gone,
    /// An identity provider does not let somebody in, or cannot be bound (D77).
    #[error(transparent)]
    Identity(#[from] super::identity::IdentityError),
    /// Too many passwords are being hashed (D75).
    #[error("too many sign-ins at once")]
    Busy,
    /// A password could not be hashed, or a stored hash is damaged.
    #[error("a password could not be hashed: {0}")]
    HashingFailed(String),
    /// Something broke.
    #[error(transparent)]
    Broken(#[from] AppError),
}

impl PersonError {
    /// The error of a use case with an idempotency key, which people and programs share. It has no word for the end of a session.
    pub(crate) fn into_app_error(self) -> AppError {
        match self {
            Self::Broken(error) => error,
            _ => AppError::AccountGone,
        }
    }
}

impl From<Refusal> for PersonError {
    fn from(refusal: Refusal) -> Self {
        Self::Broken(refusal.into())
    }
}

impl From<StoreError> for PersonError {
    fn from(error: StoreError) -> Self {
        Self::Broken(error.into())
    }
}

impl From<RandomnessUnavailable> for PersonError {
    fn from(error: RandomnessUnavailable) -> Self {
        Self::Broken(error.into())
    }
}

impl MaybeContended for PersonError {
    fn is_contended(&self) -> bool {
        matches!(self, Self::Broken(error) if error.is_contended())
    }
}
