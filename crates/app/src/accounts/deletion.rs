//! Deleting an account with all its data (D69, D73).

use signpost_domain::{Account, AccountId, AuditAction, PageLimit, Permission, Usage};

use super::{OperatorError, set_suspended};
use crate::admission::SignedIn;
use crate::application::Application;
use crate::audit::record;
use crate::caller::Caller;
use crate::operator::Operator;
use crate::people::Client;
use crate::ports::Upkeep;
use crate::transfer::packed_clicks;
use crate::unit_of_work::{Attempts, commit};

/// What a deletion takes away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Losses {
    /// The account.
    pub account: Account,
    /// Its links, groups, domains and pixels.
    pub usage: Usage,
    /// Its keys that still open the API.
    pub keys: u64,
    /// Its members. They keep their users.
    pub members: u64,
    /// Its recorded clicks of all kinds, without those of the last minute.
    pub clicks: u64,
}

/// Counts what the deletion of an account takes away.
///
/// # Errors
/// [`OperatorError::NoSuchAccount`]. Or the store broke.
pub async fn losses(app: &Application, _by: &Operator, id: AccountId) -> Result<Losses, OperatorError> {
    losses_of(app, id).await
}

/// Counts what the deletion of the caller's account takes away.
///
/// # Errors
/// Those of [`losses`].
pub async fn own_losses(app: &Application, caller: &Caller) -> Result<Losses, OperatorError> {
    caller.require(Permission::Read)?;
    losses_of(app, caller.account_id()).await
}

async fn losses_of(app: &Application, id: AccountId) -> Result<Losses, OperatorError> {
    let account = app.store.account(id).await?.ok_or(OperatorError::NoSuchAccount(id))?;
    let usage = app.store.usage(id).await?.ok_or(OperatorError::NoSuchAccount(id))?;
    let keys = app.store.keys(id).await?;
    let now = app.clock.now();
    let opens = keys.iter().filter(|key| key.is_accepted(now)).count();
    let (mut members, mut after) = (0_usize, None);
    loop {
        let page = app.store.members(id, PageLimit::MAX, after).await?;
        members += page.items.len();
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    let clicks = packed_clicks(app, id).await?;
    Ok(Losses { account, usage, keys: counted(opens), members: counted(members), clicks })
}

fn counted(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

/// How many links one unit of work deletes.
const LINKS_AT_ONCE: u16 = 1_000;

/// Deletes an account with all its data. First it suspends the account. Then it deletes a thousand links at a time, so
/// that a large account does not block others. An interrupted deletion leaves a suspended account and can be repeated.
///
/// # Errors
/// [`OperatorError::NoSuchAccount`]. Or the store broke.
pub async fn delete(app: &Application, by: &Operator, id: AccountId) -> Result<(), OperatorError> {
    let account = app.store.account(id).await?.ok_or(OperatorError::NoSuchAccount(id))?;
    // An interrupted deletion leaves a suspended account, and its entry in the audit says who began it.
    set_suspended(app, by, id, Some(app.clock.now()), format!("{id} for its deletion")).await?;
    while delete_some_links(app, id).await? == LINKS_AT_ONCE {}
    // `ForgetClicks` deletes the clicks that arrive later.
    while app.click_store.forget_clicks(id, None).await? == Upkeep::More {}
    let attempts = Attempts::at(app);
    attempts
        .run(|| async {
            let mut work = attempts.begin().await?;
            if !work.delete_account(id).await? {
                return Err(OperatorError::NoSuchAccount(id));
            }
            let object = format!("{id} {}", account.email);
            record(app, work.as_mut(), by.deed(Some(id), AuditAction::AccountDeleted, object)).await?;
            Ok(commit(app, work).await?)
        })
        .await
}

/// Deletes the caller's own account, as [`delete`] does. Its owner needs a confirmed password (D73).
///
/// # Errors
/// Those of [`delete`]; [`PersonError::NotConfirmed`](crate::people::PersonError::NotConfirmed).
pub async fn delete_own(
    app: &Application,
    caller: &Caller,
    signed_in: &SignedIn,
    client: &Client,
) -> Result<(), OperatorError> {
    caller.require(Permission::ManageAccount)?;
    let owner = Operator::owner(app, signed_in, client, caller.account_id())?;
    delete(app, &owner, caller.account_id()).await
}

async fn delete_some_links(app: &Application, id: AccountId) -> Result<u16, OperatorError> {
    let attempts = Attempts::at(app);
    attempts
        .run(|| async {
            let mut work = attempts.begin().await?;
            let deleted = work.delete_some_links(id, LINKS_AT_ONCE).await?;
            commit(app, work).await?;
            Ok(deleted)
        })
        .await
}
