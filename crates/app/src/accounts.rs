//! What operators do with accounts.

mod deletion;
mod overview;
mod own_settings;

use std::fmt;
use std::str::FromStr;

use signpost_domain::{
    Account, AccountId, ApiKey, ApiKeySecret, AuditAction, Email, Name, Page, PageLimit, PagePosition,
    Permission, Plan, PlanName, QuotaRemaining, Role, SecretToken, Timestamp,
};

use crate::app_error::AppError;
pub use crate::app_error::OperatorError;
use crate::application::Application;
use crate::audit::{Deed, record};
use crate::caller::Caller;
use crate::idempotency::{Idempotency, Operation};
use crate::keys::{NewKey, key_named, new_key};
use crate::operator::Operator;
use crate::people::users::{Invite, insert_invitation};
use crate::ports::{StoreError, UnitOfWork, WriteAccountError};
use crate::unit_of_work::{Attempts, commit};

pub use self::deletion::{Losses, delete, delete_own, losses, own_losses};
pub use self::overview::{AccountOverview, members, overview, overviews, remaining_of};
pub use self::own_settings::{rename, require_second_factor};

/// A new account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateAccount {
    /// Its contact address. Two accounts cannot have the same one; case makes no difference.
    pub email: Email,
    /// Its name.
    pub name: Option<Name>,
    /// Its plan. The configuration must have it.
    pub plan: PlanName,
}

/// Creates an account.
///
/// # Errors
/// [`OperatorError::NoSuchPlan`], [`OperatorError::EmailTaken`]. Or the store broke.
pub async fn create(
    app: &Application,
    by: &Operator,
    command: CreateAccount,
) -> Result<Account, OperatorError> {
    let account = new_account(app, command)?;
    let attempts = Attempts::at(app);
    attempts
        .run(|| async {
            let mut work = attempts.begin().await?;
            insert(app, work.as_mut(), by, &account).await?;
            Ok::<_, OperatorError>(commit(app, work).await?)
        })
        .await?;
    Ok(account)
}

/// Creates an account, and invites its contact address as the owner. The token of the invitation is returned once and not stored. A
/// repeated request gets the remembered answer, which lacks the token (D12).
///
/// # Errors
/// Those of [`create`]; [`AppError::AnsweredBefore`]; [`AppError::Invalid`] if the key was used for another request. Or the source of
/// randomness broke.
pub async fn create_with_owner(
    app: &Application,
    by: &Operator,
    command: CreateAccount,
    idempotency: Idempotency<'_, Account>,
) -> Result<(Account, SecretToken), OperatorError> {
    let account = new_account(app, command)?;
    let operation = Operation::of_operator(app, by, idempotency);
    let token = operation
        .run_attempts(|| async {
            let mut work = operation.begin().await?;
            insert(app, work.as_mut(), by, &account).await?;
            let joins = Some((account.id, Role::Owner));
            let invite = Invite { email: account.email.clone(), joins, is_operator: false };
            let token = insert_invitation(app, work.as_mut(), by, invite).await?;
            operation.finish(Some(work), true, &account).await?;
            Ok::<_, OperatorError>(token)
        })
        .await?;
    Ok((account, token))
}

/// Inserts an account in a unit of work, with its entry of the audit.
async fn insert(
    app: &Application,
    work: &mut dyn UnitOfWork,
    by: &Operator,
    account: &Account,
) -> Result<(), OperatorError> {
    by.require_live(work).await?;
    match work.insert_account(account).await {
        Ok(()) => {}
        Err(WriteAccountError::EmailTaken) => {
            return Err(OperatorError::EmailTaken(account.email.as_str().to_owned()));
        }
        Err(WriteAccountError::Store(error)) => return Err(error.into()),
    }
    Ok(record(app, work, created(by, account)).await?)
}

/// What the first start created.
#[derive(Debug)]
pub struct FirstStart {
    /// The account.
    pub account: Account,
    /// The record of its key.
    pub key: ApiKey,
    /// The key itself, which is shown once.
    pub secret: ApiKeySecret,
}

/// Creates an account with a key if the store has no account (D62), and returns `None` if it has one. One unit of work
/// creates both, so of several programs that start at the same time only one does.
pub async fn first_start(
    app: &Application,
    command: CreateAccount,
) -> Result<Option<FirstStart>, OperatorError> {
    let attempts = Attempts::at(app);
    attempts
        .run(|| async {
            let mut work = attempts.begin().await?;
            if work.any_account().await? {
                return Ok(None);
            }
            let account = new_account(app, command.clone())?;
            let (key, secret) = new_key(app, account.id, NewKey::default())?;
            match work.insert_account(&account).await {
                Ok(()) => {}
                Err(WriteAccountError::EmailTaken) => return Ok(None),
                Err(WriteAccountError::Store(error)) => return Err(error.into()),
            }
            if !work.insert_key(&key).await? {
                return Err(OperatorError::NoSuchAccount(account.id));
            }
            record(app, work.as_mut(), created(&Operator::COMMAND, &account)).await?;
            let deed = Deed::by_command(Some(account.id), AuditAction::KeyIssued, key_named(&key));
            record(app, work.as_mut(), deed).await?;
            commit(app, work).await?;
            Ok(Some(FirstStart { account, key, secret }))
        })
        .await
}

fn created(by: &Operator, account: &Account) -> Deed {
    let object = format!("{} {} on {}", account.id, account.email, account.plan);
    by.deed(Some(account.id), AuditAction::AccountCreated, object)
}

fn new_account(app: &Application, command: CreateAccount) -> Result<Account, OperatorError> {
    let CreateAccount { email, name, plan } = command;
    require_plan(app, &plan)?;
    Ok(Account {
        id: app.ids.next(),
        email,
        name,
        plan,
        suspended_at: None,
        requires_second_factor: false,
        created_at: app.clock.now(),
    })
}

/// Looks up a plan in the configuration.
pub(crate) fn require_plan<'a>(app: &'a Application, plan: &PlanName) -> Result<&'a Plan, OperatorError> {
    if let Some(plan) = app.plans.get(plan) {
        return Ok(plan);
    }
    let known = app.plans.iter().map(|plan| plan.name.as_str()).collect::<Vec<_>>().join(", ");
    Err(OperatorError::NoSuchPlan { name: plan.clone(), known })
}

/// How an operator names an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AccountReference {
    /// By its id.
    Id(AccountId),
    /// By its contact address, which is unique.
    Email(Email),
}

/// The text is neither an account id nor an e-mail address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("is neither an account id (acc_…) nor an e-mail address")]
pub struct MalformedAccountReference;

impl FromStr for AccountReference {
    type Err = MalformedAccountReference;

    fn from_str(text: &str) -> Result<Self, MalformedAccountReference> {
        if let Ok(id) = text.parse() {
            return Ok(Self::Id(id));
        }
        Email::parse(text).map(Self::Email).map_err(|_| MalformedAccountReference)
    }
}

impl fmt::Display for AccountReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(id) => id.fmt(f),
            Self::Email(email) => email.fmt(f),
        }
    }
}

/// The id of an account. An id is returned unchecked, because the use case that takes it looks up the account.
///
/// # Errors
/// [`OperatorError::NoAccountWithEmail`]. Or the store broke.
pub async fn find(app: &Application, account: &AccountReference) -> Result<AccountId, OperatorError> {
    match account {
        AccountReference::Id(id) => Ok(*id),
        AccountReference::Email(email) => {
            let found = app.store.account_with_email(email).await?;
            Ok(found.ok_or_else(|| OperatorError::NoAccountWithEmail(email.clone()))?.id)
        }
    }
}

/// One page of all accounts, newest first.
pub async fn list(
    app: &Application,
    limit: PageLimit,
    after: Option<PagePosition>,
) -> Result<Page<Account>, OperatorError> {
    Ok(app.store.accounts(limit, after).await?)
}

/// The plans that accounts have and this node does not know, each with the number of its accounts.
///
/// # Errors
/// The store broke.
pub async fn unknown_plans(app: &Application) -> Result<Vec<(PlanName, u64)>, StoreError> {
    let mut plans = app.store.plans_in_use().await?;
    plans.retain(|(plan, _)| app.plans.get(plan).is_none());
    Ok(plans)
}

/// Moves an account to another plan. Every request that starts after this returns uses the new plan (contract,
/// Authentication 6).
///
/// # Errors
/// [`OperatorError::NoSuchPlan`], [`OperatorError::NoSuchAccount`]. Or the store broke.
pub async fn set_plan(
    app: &Application,
    by: &Operator,
    id: AccountId,
    plan: &PlanName,
) -> Result<(), OperatorError> {
    require_plan(app, plan)?;
    let attempts = Attempts::at(app);
    attempts
        .run(|| async {
            let mut work = attempts.begin().await?;
            by.require_live(work.as_mut()).await?;
            if !work.set_plan(id, plan).await? {
                return Err(OperatorError::NoSuchAccount(id));
            }
            let deed = by.deed(Some(id), AuditAction::PlanChanged, format!("{id} to {plan}"));
            record(app, work.as_mut(), deed).await?;
            Ok(commit(app, work).await?)
        })
        .await
}

/// Suspends an account: at once, its requests are refused and its links stop resolving.
///
/// # Errors
/// [`OperatorError::NoSuchAccount`]. Or the store broke.
pub async fn suspend(app: &Application, by: &Operator, id: AccountId) -> Result<(), OperatorError> {
    set_suspended(app, by, id, Some(app.clock.now()), id.to_string()).await
}

/// Resumes a suspended account. Any other account stays unchanged.
///
/// # Errors
/// [`OperatorError::NoSuchAccount`]. Or the store broke.
pub async fn resume(app: &Application, by: &Operator, id: AccountId) -> Result<(), OperatorError> {
    set_suspended(app, by, id, None, id.to_string()).await
}

/// `object` is what the audit says that it was done to.
async fn set_suspended(
    app: &Application,
    by: &Operator,
    id: AccountId,
    since: Option<Timestamp>,
    object: String,
) -> Result<(), OperatorError> {
    let action = match since {
        Some(_) => AuditAction::AccountSuspended,
        None => AuditAction::AccountResumed,
    };
    let attempts = Attempts::at(app);
    attempts
        .run(|| async {
            let mut work = attempts.begin().await?;
            by.require_live(work.as_mut()).await?;
            if !work.set_suspended(id, since).await? {
                return Err(OperatorError::NoSuchAccount(id));
            }
            record(app, work.as_mut(), by.deed(Some(id), action, object.clone())).await?;
            Ok(commit(app, work).await?)
        })
        .await
}

/// What is left of the request budget of the caller's account. `None` if the quota store gives no answer. Asking costs nothing
/// of it.
pub async fn remaining_requests(
    app: &Application,
    caller: &Caller,
) -> Result<Option<QuotaRemaining>, AppError> {
    caller.require(Permission::Read)?;
    let remaining = app.quota.remaining(caller.account_id(), caller.plan().budget, app.clock.now()).await;
    Ok(remaining.ok())
}
