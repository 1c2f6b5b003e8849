//! The passwords that requests give links, or take from them (D131).
//!
//! A hash takes tens of milliseconds of a core, so passwords are hashed before the unit of work begins, which may hold locks and be
//! tried again.

use signpost_domain::{
    AccountId, Change, Feature, LinkId, LinkPassword, LinkRequest, PasswordHash, Submitted,
};

use crate::app_error::AppError;
use crate::application::Application;
use crate::caller::Caller;
use crate::ports::{Asker, HashingError, StoreError, UnitOfWork};

/// What a request does to the hash of a link.
pub(crate) type HashChange = Change<PasswordHash>;

/// What requests do to the hashes of their links, in order. A request that will be refused, for its violations or because the plan
/// lacks the feature, is not worth a hash. `None` is an item of a batch without readable fields.
///
/// # Errors
/// [`AppError::PasswordsBusy`] if too many passwords are hashed already, or hashing these took too long. Nothing was changed.
pub(super) async fn hash_changes<'a, R: 'a>(
    app: &Application,
    caller: &Caller,
    requests: impl IntoIterator<Item = Option<&'a Submitted<LinkRequest<R>>>>,
) -> Result<Vec<HashChange>, AppError> {
    let has_feature = caller.plan().features.contains(Feature::LinkAccess);
    let requested = requests.into_iter().map(|request| match request {
        Some(Submitted { value, violations }) if violations.is_empty() => value.password.as_ref(),
        Some(_) | None => Change::Keep,
    });
    let requested: Vec<Change<&LinkPassword>> =
        requested.map(|change| if has_feature { change } else { without_value(change) }).collect();
    let chosen = requested.iter().filter_map(|change| match change {
        Change::Set(password) => Some(*password),
        Change::Keep | Change::Clear => None,
    });
    let mut hashes = hashes_of(app, chosen).await?.into_iter();
    let with_hash = |change| match change {
        Change::Keep => Ok(Change::Keep),
        Change::Clear => Ok(Change::Clear),
        Change::Set(_) => hashes.next().map(Change::Set).ok_or_else(too_few_hashes),
    };
    requested.into_iter().map(with_hash).collect()
}

/// The change without a password to hash.
const fn without_value(change: Change<&LinkPassword>) -> Change<&LinkPassword> {
    match change {
        Change::Set(_) | Change::Keep => Change::Keep,
        Change::Clear => Change::Clear,
    }
}

/// The hashes of these passwords, in order.
///
/// # Errors
/// [`AppError::PasswordsBusy`] if too many are hashed already, or hashing these took too long.
pub(crate) async fn hashes_of(
    app: &Application,
    passwords: impl IntoIterator<Item = &LinkPassword>,
) -> Result<Vec<PasswordHash>, AppError> {
    let passwords: Vec<_> = passwords.into_iter().map(|password| password.as_password().clone()).collect();
    if passwords.is_empty() {
        return Ok(Vec::new());
    }
    let expected = passwords.len();
    let place = app.link_passwords.place(Asker::Known)?;
    let hashes = app.link_passwords.hash_each(place, passwords).await?;
    if hashes.len() == expected { Ok(hashes) } else { Err(too_few_hashes()) }
}

fn too_few_hashes() -> AppError {
    AppError::HashingFailed("a password has no hash".to_owned())
}

impl From<HashingError> for AppError {
    fn from(error: HashingError) -> Self {
        match error {
            HashingError::Busy => Self::PasswordsBusy,
            HashingError::Failed(reason) => Self::HashingFailed(reason),
        }
    }
}

/// The hashes that a unit of work writes.
#[derive(Default)]
pub(crate) struct HashWrites(Vec<(LinkId, Option<PasswordHash>)>);

impl HashWrites {
    /// What becomes of the hashes of new links.
    pub(crate) fn of_created<'a>(created: impl IntoIterator<Item = (LinkId, &'a HashChange)>) -> Self {
        let mut hashes = Self::default();
        for (link, change) in created {
            hashes.add(link, false, change);
        }
        hashes
    }

    /// Adds what becomes of the hash of a link.
    pub(crate) fn add(&mut self, link: LinkId, had_password: bool, change: &HashChange) {
        let hash = match change {
            Change::Set(hash) => Some(hash.clone()),
            Change::Clear if had_password => None,
            Change::Keep | Change::Clear => return,
        };
        self.0.push((link, hash));
    }

    /// Writes them. Runs statements only if there are some.
    pub(crate) async fn write(
        &self,
        work: &mut dyn UnitOfWork,
        account: AccountId,
    ) -> Result<(), StoreError> {
        let Self(passwords) = self;
        if passwords.is_empty() { Ok(()) } else { work.write_link_passwords(account, passwords).await }
    }
}
