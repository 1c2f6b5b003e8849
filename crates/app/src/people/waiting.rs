//! A sign-in that waits for its code, between two requests.
//!
//! It is sealed and kept by the browser, so that a password without a code leaves nothing in the store.

use std::time::Duration;

use sha2::{Digest, Sha256};
use signpost_domain::{SealedSecret, Timestamp, User, UserId};

use super::PersonError;
use crate::application::Application;

/// How long the code may take.
pub(super) const CODE_WITHIN: Duration = Duration::from_mins(10);

const PURPOSE: &str = "sign-in that waits for a code";

const ID: usize = 16;
const INSTANT: usize = 8;
const HASH: usize = 32;

/// A right password.
pub(super) struct WaitingSignIn {
    pub(super) user: UserId,
    /// Whether the session will outlive the browser.
    pub(super) is_kept: bool,
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
/// [`PersonError::SeedLost`] without a secrets key, which then cannot open the second factor either.
pub(super) fn seal(app: &Application, user: &User, is_kept: bool) -> Result<SealedSecret, PersonError> {
    let sealer = app.sealer.as_deref().ok_or(PersonError::SeedLost)?;
    let mut bytes = Vec::with_capacity(ID + INSTANT + 1 + HASH);
    bytes.extend(user.id.to_bytes());
    bytes.extend(app.clock.now().unix_millis().to_be_bytes());
    bytes.push(u8::from(is_kept));
    bytes.extend(print_of(user));
    Ok(sealer.seal(PURPOSE, &bytes)?)
}

/// Opens a sign-in that waits. `None` if it waits too long, was sealed with another secrets key, or is damaged.
pub(super) fn open(app: &Application, sealed: &SealedSecret) -> Option<WaitingSignIn> {
    let bytes = app.sealer.as_deref()?.open(PURPOSE, sealed)?;
    let (id, rest) = bytes.split_first_chunk::<ID>()?;
    let (instant, rest) = rest.split_first_chunk::<INSTANT>()?;
    let (&is_kept, password) = rest.split_first()?;
    let began = Timestamp::from_unix_millis(i64::from_be_bytes(*instant))?;
    if app.clock.now() >= began.plus(CODE_WITHIN) {
        return None;
    }
    let user = UserId::from_bytes(*id);
    Some(WaitingSignIn { user, is_kept: is_kept != 0, password: password.try_into().ok()? })
}
