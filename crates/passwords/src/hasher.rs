//! Argon2id, a bounded number at a time.

use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use argon2::password_hash::{self, PasswordHasher as _, PasswordVerifier as _};
use argon2::{Algorithm, Argon2, Params, PasswordHash as ParsedHash, Version};
use async_trait::async_trait;
use signpost_app::ports::{Asker, HashingError, HashingPlace, PasswordHasher, Verdict};
use signpost_domain::{Password, PasswordHash};
use thread_priority::{
    NormalThreadSchedulePolicy, ThreadPriority, ThreadSchedulePolicy, set_thread_priority_and_policy,
    thread_native_id,
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, TryAcquireError, oneshot};
use tokio::time::Instant;

use crate::strength;

/// How many hashes run at once on a node (D75). Each takes 19 MiB.
pub const HASHES_AT_ONCE: usize = 2;

/// How many more wait (D75).
pub const HASHES_WAITING: usize = 32;

/// How many of all places only people with a session or a ticket may take, so that strangers cannot keep them out.
const PLACES_OF_THE_KNOWN: usize = 8;

/// How many hashes of passwords of links run at once on a node, apart from those of people (D131).
pub const LINK_HASHES_AT_ONCE: usize = 1;

/// How many more of them wait (D131).
pub const LINK_HASHES_WAITING: usize = 16;

/// How many of all places for links only callers of the API may take, so that visitors cannot keep owners out.
const LINK_PLACES_OF_THE_KNOWN: usize = 4;

/// How long after its beginning a batch may begin another hash (D131).
const BATCH_WITHIN: Duration = Duration::from_secs(10);

/// 19 MiB, the size of memory for a hash, in KiB.
const MEMORY_KIB: u32 = 19 * 1024;
const PASSES: u32 = 2;
const LANES: u32 = 1;

/// Threads that hash run at the lowest priority, so that visits and the API do not wait for sign-ins.
const IDLE: ThreadSchedulePolicy = ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Idle);

/// Hashes passwords with Argon2id: 19 MiB, 2 passes, 1 lane.
pub struct Argon2Hasher {
    params: Params,
    /// A permit for each hash that runs or waits.
    admitted: Arc<Semaphore>,
    /// A permit for each of them that a stranger may ask for.
    strangers: Arc<Semaphore>,
    /// A permit for each hash that runs.
    running: Arc<Semaphore>,
    /// The hash of a password that nobody has, made with the same parameters when the first password is verified.
    nobodys: Arc<OnceLock<PasswordHash>>,
}

impl Argon2Hasher {
    /// A hasher of the passwords of people (D75).
    ///
    /// # Errors
    /// The parameters are out of bounds.
    pub fn new() -> Result<Self, HashingError> {
        Self::with_places(HASHES_AT_ONCE, HASHES_WAITING, PLACES_OF_THE_KNOWN)
    }

    /// A hasher of the passwords of links (D131). It shares no place with that of people: whoever guesses at links must not keep
    /// anybody from signing in.
    ///
    /// # Errors
    /// The parameters are out of bounds.
    pub fn for_links() -> Result<Self, HashingError> {
        Self::with_places(LINK_HASHES_AT_ONCE, LINK_HASHES_WAITING, LINK_PLACES_OF_THE_KNOWN)
    }

    fn with_places(at_once: usize, waiting: usize, of_the_known: usize) -> Result<Self, HashingError> {
        let params = Params::new(MEMORY_KIB, PASSES, LANES, None).map_err(failed)?;
        Ok(Self {
            params,
            admitted: Arc::new(Semaphore::new(at_once + waiting)),
            strangers: Arc::new(Semaphore::new(at_once + waiting - of_the_known)),
            running: Arc::new(Semaphore::new(at_once)),
            nobodys: Arc::default(),
        })
    }

    /// Runs `work` on a thread of its own, when it is its turn, and gives the place back.
    async fn run<T: Send + 'static>(
        &self,
        place: HashingPlace,
        work: impl FnOnce() -> Result<T, HashingError> + Send + 'static,
    ) -> Result<(HashingPlace, T), HashingError> {
        let running = Arc::clone(&self.running).acquire_owned().await.map_err(failed)?;
        let (sender, outcome) = oneshot::channel();
        let hash = move || {
            if let Err(error) = set_thread_priority_and_policy(thread_native_id(), ThreadPriority::Min, IDLE)
            {
                tracing::debug!(?error, "a password is hashed at normal priority");
            }
            // The thread holds both: a request that is dropped does not admit another hash before its own has ended.
            let outcome = work().map(|made| (place, made));
            drop(running);
            // Whoever asked may be gone. The place is free then.
            let _ = sender.send(outcome);
        };
        thread::Builder::new().name("password".to_owned()).spawn(hash).map_err(failed)?;
        outcome.await.map_err(failed)?
    }
}

fn taken(semaphore: &Arc<Semaphore>) -> Result<OwnedSemaphorePermit, HashingError> {
    Arc::clone(semaphore).try_acquire_owned().map_err(|error| match error {
        TryAcquireError::NoPermits => HashingError::Busy,
        TryAcquireError::Closed => failed(error),
    })
}

fn failed(error: impl std::fmt::Display) -> HashingError {
    HashingError::Failed(error.to_string())
}

fn argon2(params: &Params) -> Argon2<'static> {
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params.clone())
}

fn hashed(params: &Params, password: &Password) -> Result<PasswordHash, HashingError> {
    let hash: ParsedHash = argon2(params).hash_password(password.expose().as_bytes()).map_err(failed)?;
    Ok(PasswordHash::new(hash.to_string()))
}

/// Whether the password belongs to the hash. The parameters come from the hash.
fn verified(params: &Params, password: &Password, hash: &PasswordHash) -> Result<Verdict, HashingError> {
    let hash = ParsedHash::new(hash.as_str()).map_err(failed)?;
    match argon2(params).verify_password(password.expose().as_bytes(), &hash) {
        Ok(()) => {
            let made_with = Params::try_from(&hash).map_err(failed)?;
            let today = [params.m_cost(), params.t_cost(), params.p_cost()];
            let is_outdated = [made_with.m_cost(), made_with.t_cost(), made_with.p_cost()] != today
                || hash.algorithm.as_str() != Algorithm::Argon2id.as_str();
            Ok(Verdict::Right { is_outdated })
        }
        Err(password_hash::Error::PasswordInvalid) => Ok(Verdict::Wrong),
        Err(error) => Err(failed(error)),
    }
}

#[async_trait]
impl PasswordHasher for Argon2Hasher {
    fn weakness(&self, password: &Password, known_words: &[&str]) -> Option<String> {
        strength::weakness(password.expose(), known_words)
    }

    fn place(&self, asker: Asker) -> Result<HashingPlace, HashingError> {
        let as_stranger = match asker {
            Asker::Known => None,
            Asker::Stranger => Some(taken(&self.strangers)?),
        };
        Ok(HashingPlace::new((taken(&self.admitted)?, as_stranger)))
    }

    async fn hash(&self, place: HashingPlace, password: Password) -> Result<PasswordHash, HashingError> {
        let params = self.params.clone();
        let (_, hash) = self.run(place, move || hashed(&params, &password)).await?;
        Ok(hash)
    }

    async fn hash_each(
        &self,
        mut place: HashingPlace,
        passwords: Vec<Password>,
    ) -> Result<Vec<PasswordHash>, HashingError> {
        let end = Instant::now() + BATCH_WITHIN;
        let mut hashes = Vec::with_capacity(passwords.len());
        for password in passwords {
            // A single password has all the time that it takes.
            if !hashes.is_empty() && Instant::now() >= end {
                return Err(HashingError::Busy);
            }
            let params = self.params.clone();
            // Each waits for its turn anew, behind those that wait already.
            let (kept, hash) = self.run(place, move || hashed(&params, &password)).await?;
            place = kept;
            hashes.push(hash);
        }
        Ok(hashes)
    }

    async fn verify(
        &self,
        place: HashingPlace,
        password: Password,
        hash: Option<PasswordHash>,
    ) -> Result<Verdict, HashingError> {
        let params = self.params.clone();
        let (is_somebodys, nobodys) = (hash.is_some(), Arc::clone(&self.nobodys));
        let check = move || {
            // Also where there is a user: the first check takes the same time for everybody.
            if nobodys.get().is_none() {
                let made = hashed(&params, &Password::typed("nobody has this password"))?;
                // Another thread may have made it at the same time.
                let _ = nobodys.set(made);
            }
            let hash =
                hash.or_else(|| nobodys.get().cloned()).ok_or_else(|| failed("no hash to compare with"))?;
            verified(&params, &password, &hash)
        };
        let (_, verdict) = self.run(place, check).await?;
        Ok(if is_somebodys { verdict } else { Verdict::Wrong })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn password(text: &str) -> Password {
        Password::typed(text)
    }

    fn known(hasher: &Argon2Hasher) -> HashingPlace {
        hasher.place(Asker::Known).unwrap()
    }

    #[tokio::test]
    async fn d71_a_password_belongs_to_its_own_hash_only() {
        let hasher = Argon2Hasher::new().unwrap();
        let hash = hasher.hash(known(&hasher), password("plover egg tin")).await.unwrap();
        assert!(hash.as_str().starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{}", hash.as_str());
        assert_ne!(
            hasher.hash(known(&hasher), password("plover egg tin")).await.unwrap(),
            hash,
            "each hash has its own salt"
        );
        let verify = async |text: &str, hash: Option<PasswordHash>| {
            hasher.verify(known(&hasher), password(text), hash).await.unwrap()
        };
        assert_eq!(verify("plover egg tin", Some(hash.clone())).await, Verdict::Right { is_outdated: false });
        assert_eq!(verify("plover egg tim", Some(hash)).await, Verdict::Wrong);
        assert_eq!(verify("nobody has this password", None).await, Verdict::Wrong);
    }

    #[tokio::test]
    async fn d71_a_hash_with_other_parameters_is_outdated() {
        let weaker = Params::new(8 * 1024, 1, 1, None).unwrap();
        let old = hashed(&weaker, &password("plover egg tin")).unwrap();
        let hasher = Argon2Hasher::new().unwrap();
        let verdict = hasher.verify(known(&hasher), password("plover egg tin"), Some(old)).await.unwrap();
        assert_eq!(verdict, Verdict::Right { is_outdated: true });
    }

    #[tokio::test]
    async fn a_damaged_hash_is_a_failure_and_no_wrong_password() {
        let hasher = Argon2Hasher::new().unwrap();
        let damaged = Some(PasswordHash::new("$argon2id$v=19$damaged".to_owned()));
        assert!(matches!(
            hasher.verify(known(&hasher), password("x"), damaged).await,
            Err(HashingError::Failed(_))
        ));
    }

    #[tokio::test]
    async fn d75_two_hashes_run_thirty_two_wait_and_the_next_is_refused() {
        let hasher = Arc::new(Argon2Hasher::new().unwrap());
        let all = HASHES_AT_ONCE + HASHES_WAITING;
        let strangers: Vec<_> = (0..all).map_while(|_| hasher.place(Asker::Stranger).ok()).collect();
        assert_eq!(strangers.len(), all - PLACES_OF_THE_KNOWN);
        assert!(matches!(hasher.place(Asker::Stranger), Err(HashingError::Busy)));
        let known: Vec<_> = (0..all).map_while(|_| hasher.place(Asker::Known).ok()).collect();
        assert_eq!(known.len(), PLACES_OF_THE_KNOWN);
        let tasks: Vec<_> = strangers
            .into_iter()
            .chain(known)
            .map(|place| {
                let hasher = Arc::clone(&hasher);
                tokio::spawn(async move { hasher.verify(place, password("x"), None).await.is_ok() })
            })
            .collect();
        while hasher.running.available_permits() > 0 {
            tokio::task::yield_now().await;
        }
        assert!(matches!(hasher.place(Asker::Known), Err(HashingError::Busy)));
        for task in tasks {
            assert!(task.await.unwrap());
        }
        assert_eq!(hasher.running.available_permits(), HASHES_AT_ONCE);
        assert_eq!(hasher.admitted.available_permits(), all);
    }

    #[tokio::test]
    async fn d131_links_have_a_pool_of_their_own_with_one_hash_at_once_and_sixteen_waiting() {
        let (links, people) = (Argon2Hasher::for_links().unwrap(), Argon2Hasher::new().unwrap());
        let all = LINK_HASHES_AT_ONCE + LINK_HASHES_WAITING;
        let taken_by = |asker| (0..2 * all).map_while(|_| links.place(asker).ok()).collect::<Vec<_>>();
        let visitors = taken_by(Asker::Stranger);
        assert_eq!(visitors.len(), all - LINK_PLACES_OF_THE_KNOWN);
        let owners = taken_by(Asker::Known);
        assert_eq!(owners.len(), LINK_PLACES_OF_THE_KNOWN);
        assert!(people.place(Asker::Stranger).is_ok(), "sign-in has its own places");
        assert_eq!(links.running.available_permits(), LINK_HASHES_AT_ONCE);
        drop(visitors);
        assert!(links.place(Asker::Stranger).is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn d131_a_batch_begins_no_hash_after_ten_seconds() {
        let hasher = Argon2Hasher::for_links().unwrap();
        let all = hasher.admitted.available_permits();
        for (passwords, is_busy) in [(1, false), (2, true)] {
            let others = Arc::clone(&hasher.running).acquire_owned().await.unwrap();
            tokio::spawn(async move {
                tokio::time::sleep(BATCH_WITHIN).await;
                drop(others);
            });
            let batch = vec![password("plover egg tin"); passwords];
            let outcome = hasher.hash_each(known(&hasher), batch).await;
            assert_eq!(matches!(outcome, Err(HashingError::Busy)), is_busy, "{passwords}");
            assert_eq!(hasher.admitted.available_permits(), all);
        }
    }

    /// D131: a batch of many links keeps one place, and visitors get their turn between its hashes.
    #[tokio::test]
    async fn d131_hashes_of_a_batch_keep_their_order_and_let_others_in_between() {
        let hasher = Arc::new(Argon2Hasher::for_links().unwrap());
        let texts = ["first of the batch", "second of the batch", "third of the batch"];
        let batch = {
            let (hasher, place) = (Arc::clone(&hasher), known(&hasher));
            tokio::spawn(async move { hasher.hash_each(place, texts.map(password).to_vec()).await.unwrap() })
        };
        while hasher.running.available_permits() > 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(hasher.admitted.available_permits(), LINK_HASHES_AT_ONCE + LINK_HASHES_WAITING - 1);
        // The visitor waits before the second hash of the batch does.
        let place = hasher.place(Asker::Stranger).unwrap();
        assert_eq!(hasher.verify(place, password("x"), None).await.unwrap(), Verdict::Wrong);
        assert!(!batch.is_finished());
        let made = batch.await.unwrap();
        assert_eq!(made.len(), texts.len());
        for (text, hash) in texts.into_iter().zip(made) {
            assert!(verified(&hasher.params, &password(text), &hash).unwrap() != Verdict::Wrong, "{text}");
        }
        assert_eq!(hasher.admitted.available_permits(), LINK_HASHES_AT_ONCE + LINK_HASHES_WAITING);
        assert_eq!(
            hasher.hash_each(known(&hasher), Vec::new()).await.unwrap(),
            Vec::new(),
            "a batch without passwords"
        );
    }
}
