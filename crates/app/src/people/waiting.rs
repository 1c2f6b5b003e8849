//! A sign-in that waits for its code, between two requests.
//!
//! It is sealed and kept by the browser, so that a password without a code leaves nothing in the store.

use std::time::Duration;

use sha2::{Digest, Sha256};
use signpost_domain::{SealedSecret, SignInKey, Timestamp, User, UserId};

use super::PersonError;
use crate::application::Application;

/// How long the code may take: longer than the longest wait after wrong ones.
pub const CODE_WITHIN: Duration = Duration::from_mins(20);

const PURPOSE: &str = "sign-in that waits for a code";

const ID: usize = 16;
const INSTANT: usize = 8;
const HASH: usize = 32;

/// A right password.
pub(super) struct WaitingSignIn {
    pub(super) user: UserId,
    /// Whether the session will outlive the browser.
    pub(super) is_kept: bool,
    /// What the attempt with the password was counted for.
    pub(super) key: SignInKey,
    password: [u8; HASH],
}

impl WaitingSignIn {
    /// Whether the user is the one whose password was right, and still has it.
    pub(super) fn is_of(&self, user: &User) -> bool {
        user.id == self.user && user.disabled_at.is_none() && print_of(user) == self.password
    }
}

/// Tells one password from another, also if both are the same text.
fn print_of(user: &User) -> [u8; HASH] {
    let stored = user.password.as_ref().map_or("", |hash| hash.as_str());
    Sha256::digest(stored.as_bytes()).into()
}

/// Seals the sign-in of a user whose password was right.
///
/// # Errors
/// [`PersonError::NoSecretsKey`].
pub(super) fn seal(
    app: &Application,
    user: &User,
    is_kept: bool,
    key: &SignInKey,
) -> Result<SealedSecret, PersonError> {
    let sealer = app.sealer.as_deref().ok_or(PersonError::NoSecretsKey)?;
    let mut bytes = Vec::with_capacity(ID + INSTANT + 1 + 2 * HASH);
    bytes.extend(user.id.to_bytes());
    bytes.extend(app.clock.now().unix_millis().to_be_bytes());
    bytes.push(u8::from(is_kept));
    bytes.extend(key.to_bytes());
    bytes.extend(print_of(user));
    Ok(sealer.seal(PURPOSE, &bytes)?)
}

/// Opens a sign-in that waits. `None` if it waits too long, was sealed with another secrets key, or is damaged.
pub(super) fn open(app: &Application, sealed: &SealedSecret) -> Option<WaitingSignIn> {
    let bytes = app.sealer.as_deref()?.open(PURPOSE, sealed)?;
    let (id, rest) = bytes.split_first_chunk::<ID>()?;
    let (instant, rest) = rest.split_first_chunk::<INSTANT>()?;
    let (&is_kept, rest) = rest.split_first()?;
    let (key, password) = rest.split_first_chunk::<HASH>()?;
    let began = Timestamp::from_unix_millis(i64::from_be_bytes(*instant))?;
    if app.clock.now() >= began.plus(CODE_WITHIN) {
        return None;
    }
    let user = UserId::from_bytes(*id);
    let key = SignInKey::from_bytes(*key);
    Some(WaitingSignIn { user, is_kept: is_kept != 0, key, password: password.try_into().ok()? })
}
