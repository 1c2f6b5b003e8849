//! Passwords without the cost of hashing.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use signpost_app::ports::{Asker, HashingError, HashingPlace, PasswordHasher, Verdict};
use signpost_domain::{Password, PasswordHash};
use tokio::sync::Barrier;

/// Stores passwords as they are, with a mark. For tests only.
///
/// A password is too weak if it is among the known words, or `password` with digits.
#[derive(Debug, Default)]
pub struct PlainPasswords {
    work: AtomicUsize,
    is_busy: AtomicBool,
    is_full: AtomicBool,
    is_outdated: AtomicBool,
    meeting: Mutex<Option<Arc<Barrier>>>,
}

const MARK: &str = "plain:";

impl PlainPasswords {
    /// How often a password was hashed or verified. A real hasher works hard each time.
    pub fn work(&self) -> usize {
        self.work.load(Ordering::SeqCst)
    }

    /// From now on, whether strangers find all places taken.
    pub fn set_busy(&self, is_busy: bool) {
        self.is_busy.store(is_busy, Ordering::SeqCst);
    }

    /// From now on, whether all places are taken, for everybody.
    pub fn set_full(&self, is_full: bool) {
        self.is_full.store(is_full, Ordering::SeqCst);
    }

    /// From now on, whether right passwords have outdated hashes.
    pub fn set_outdated(&self, is_outdated: bool) {
        self.is_outdated.store(is_outdated, Ordering::SeqCst);
    }

    /// From now on, whoever has a password hashed waits until this many do.
    pub fn let_meet(&self, hashes: usize) {
        let meeting = Arc::new(Barrier::new(hashes));
        *self.meeting.lock().unwrap_or_else(PoisonError::into_inner) = Some(meeting);
    }
}

#[async_trait]
impl PasswordHasher for PlainPasswords {
    fn weakness(&self, password: &Password, known_words: &[&str]) -> Option<String> {
        let text = password.expose();
        let is_common = text.trim_end_matches(|c: char| c.is_ascii_digit()) == "password";
        (is_common || known_words.contains(&text)).then(|| "Many people use it.".to_owned())
    }

    fn place(&self, asker: Asker) -> Result<HashingPlace, HashingError> {
        let is_refused = self.is_full.load(Ordering::SeqCst)
            || (asker == Asker::Stranger && self.is_busy.load(Ordering::SeqCst));
        if is_refused { Err(HashingError::Busy) } else { Ok(HashingPlace::new(())) }
    }

    async fn hash(&self, _: HashingPlace, password: Password) -> Result<PasswordHash, HashingError> {
        let meeting = self.meeting.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(meeting) = meeting {
            meeting.wait().await;
        }
        self.work.fetch_add(1, Ordering::SeqCst);
        Ok(PasswordHash::new(format!("{MARK}{}", password.expose())))
    }

    async fn hash_each(
        &self,
        _: HashingPlace,
        passwords: Vec<Password>,
    ) -> Result<Vec<PasswordHash>, HashingError> {
        let mut hashes = Vec::with_capacity(passwords.len());
        for password in passwords {
            hashes.push(self.hash(HashingPlace::new(()), password).await?);
        }
        Ok(hashes)
    }

    async fn verify(
        &self,
        _: HashingPlace,
        password: Password,
        hash: Option<PasswordHash>,
    ) -> Result<Verdict, HashingError> {
        self.work.fetch_add(1, Ordering::SeqCst);
        let is_right = hash.is_some_and(|hash| hash.as_str().strip_prefix(MARK) == Some(password.expose()));
        let is_outdated = self.is_outdated.load(Ordering::SeqCst);
        Ok(if is_right { Verdict::Right { is_outdated } } else { Verdict::Wrong })
    }
}
