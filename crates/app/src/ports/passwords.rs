//! Hashing passwords and judging their strength (D71, D75).

use async_trait::async_trait;
use signpost_domain::{Password, PasswordHash};

/// Hashes passwords. A hash takes tens of milliseconds of processor time and many megabytes, so an implementation bounds how
/// many run at once and how many wait. Whoever wants a hash takes a place first.
#[async_trait]
pub trait PasswordHasher: Send + Sync {
    /// The reason why a password is too easy to guess, as a sentence for people; `None` if it is strong enough. `known_words` are
    /// words that an attacker would try first, such as the person's name.
    fn weakness(&self, password: &Password, known_words: &[&str]) -> Option<String>;

    /// A place among those that run and wait.
    ///
    /// # Errors
    /// [`HashingError::Busy`] if all places that this asker may take are taken.
    fn place(&self, asker: Asker) -> Result<HashingPlace, HashingError>;

    /// Hashes a password with the parameters of today.
    async fn hash(&self, place: HashingPlace, password: Password) -> Result<PasswordHash, HashingError>;

    /// Hashes passwords one after the other, all in one place, and returns the hashes in order. Between two of them, others who wait
    /// get their turn. So the time has a bound: after ten seconds, it ends.
    ///
    /// # Errors
    /// [`HashingError::Busy`] after ten seconds.
    async fn hash_each(
        &self,
        place: HashingPlace,
        passwords: Vec<Password>,
    ) -> Result<Vec<PasswordHash>, HashingError>;

    /// Whether a password belongs to a hash. Without a hash the answer is [`Verdict::Wrong`], after the same work.
    async fn verify(
        &self,
        place: HashingPlace,
        password: Password,
        hash: Option<PasswordHash>,
    ) -> Result<Verdict, HashingError>;
}

/// Who wants a password hashed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asker {
    /// Somebody with a session or a ticket. Some places are theirs alone, so that strangers cannot take all.
    Known,
    /// Anybody else.
    Stranger,
}

/// A place among the hashes that run and wait. Dropping it frees it.
pub struct HashingPlace(#[expect(dead_code, reason = "its drop frees the place")] Box<dyn Send>);

impl HashingPlace {
    /// A place that frees itself when `held` is dropped.
    #[must_use]
    pub fn new(held: impl Send + 'static) -> Self {
        Self(Box::new(held))
    }
}

impl std::fmt::Debug for HashingPlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("HashingPlace")
    }
}

/// Whether a password is right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It is not.
    Wrong,
    /// It is.
    Right {
        /// Whether the hash was made with other parameters than those of today.
        is_outdated: bool,
    },
}

/// Nothing was hashed.
#[derive(Debug, thiserror::Error)]
pub enum HashingError {
    /// Too many others wait already.
    #[error("too many passwords are being hashed at once")]
    Busy,
    /// The hasher failed, or a stored hash cannot be read.
    #[error("a password could not be hashed: {0}")]
    Failed(String),
}

/// Hashes nothing. For commands, which take no passwords.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoPasswords;

#[async_trait]
impl PasswordHasher for NoPasswords {
    fn weakness(&self, _: &Password, _: &[&str]) -> Option<String> {
        None
    }

    fn place(&self, _: Asker) -> Result<HashingPlace, HashingError> {
        Ok(HashingPlace::new(()))
    }

    async fn hash(&self, _: HashingPlace, _: Password) -> Result<PasswordHash, HashingError> {
        Err(HashingError::Failed("this program hashes no passwords".to_owned()))
    }

    async fn hash_each(&self, _: HashingPlace, _: Vec<Password>) -> Result<Vec<PasswordHash>, HashingError> {
        Err(HashingError::Failed("this program hashes no passwords".to_owned()))
    }

    async fn verify(
        &self,
        _: HashingPlace,
        _: Password,
        _: Option<PasswordHash>,
    ) -> Result<Verdict, HashingError> {
        Err(HashingError::Failed("this program hashes no passwords".to_owned()))
    }
}
