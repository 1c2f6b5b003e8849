//! What operators do with users (D70, D81).

use std::fmt;
use std::str::FromStr;

use signpost_domain::{
    Account, AccountId, AuditAction, Email, Invitation, Page, PageLimit, PagePosition, Role, SecretToken,
    SignInKey, TicketPurpose, Timestamp, User, UserId,
};

use super::identity::ProviderSignIn;
use super::profile::{change_user, user_named};
use super::tickets;
use super::{PersonError, draw_token, require_passwords};
use crate::app_error::OperatorError;
use crate::application::Application;
use crate::audit::record;
use crate::idempotency::{Idempotency, Operation};
use crate::operator::Operator;
use crate::ports::UnitOfWork;
use crate::unit_of_work::{Attempts, commit};

/// How an operator names a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UserReference {
    /// By its id.
    Id(UserId),
    /// By its e-mail address, which is unique.
    Email(Email),
}

/// The text is neither a user id nor an e-mail address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("is neither a user id (usr_…) nor an e-mail address")]
pub struct MalformedUserReference;

impl FromStr for UserReference {
    type Err = MalformedUserReference;

    fn from_str(text: &str) -> Result<Self, MalformedUserReference> {
        if let Ok(id) = text.parse() {
            return Ok(Self::Id(id));
        }
        Email::parse(text).map(Self::Email).map_err(|_| MalformedUserReference)
    }
}

impl fmt::Display for UserReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(id) => id.fmt(f),
            Self::Email(email) => email.fmt(f),
        }
    }
}

/// An invitation that an operator makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invite {
    /// The only address that may use it.
    pub email: Email,
    /// The account to join, and the role there.
    pub joins: Option<(AccountId, Role)>,
    /// Whether the user becomes an operator.
    pub is_operator: bool,
}

/// Makes an invitation, which voids older ones for the same address. The token is returned once and not stored: a repeated request gets
/// the remembered answer, which lacks it (D12).
///
/// # Errors
/// [`OperatorError::NoSuchAccount`]; [`AppError::AnsweredBefore`](crate::AppError::AnsweredBefore);
/// [`AppError::Invalid`](crate::AppError::Invalid) if the key was used for another request. Or the store or the source of randomness
/// broke.
pub async fn invite(
    app: &Application,
    by: &Operator,
    invite: Invite,
    idempotency: Idempotency<'_, ()>,
) -> Result<SecretToken, OperatorError> {
    let operation = Operation::of_operator(app, by, idempotency);
    operation
        .run_attempts(|| async {
            let mut work = operation.begin().await?;
            by.require_live(work.as_mut()).await?;
            let token = insert_invitation(app, work.as_mut(), by, invite.clone()).await?;
            operation.finish(Some(work), true, &()).await?;
            Ok(token)
        })
        .await
}

/// Makes an invitation in a unit of work, with its entry of the audit.
///
/// # Errors
/// [`OperatorError::NoSuchAccount`]. Or the store or the source of randomness broke.
pub(crate) async fn insert_invitation(
    app: &Application,
    work: &mut dyn UnitOfWork,
    by: &Operator,
    invite: Invite,
) -> Result<SecretToken, OperatorError> {
    let Invite { email, joins, is_operator } = invite;
    let token = draw_token(app)?;
    let account = joins.map(|(account, _)| account);
    let object = tickets::invitation_named(&email, joins.map(|(_, role)| role), is_operator);
    let purpose = TicketPurpose::Invitation { email, joins, is_operator };
    if !tickets::insert(app, work, &token, purpose).await? {
        // Only the account can be missing: an invitation refers to nothing else.
        return Err(match account {
            Some(account) => OperatorError::NoSuchAccount(account),
            None => OperatorError::Broken(crate::AppError::AccountGone),
        });
    }
    record(app, work, by.deed(account, AuditAction::TicketMade, object)).await?;
    Ok(token)
}

/// The invitations to an account, or those to none, that can still be used, newest first, at most a hundred.
///
/// # Errors
/// The store broke.
pub async fn invitations(
    app: &Application,
    _by: &Operator,
    account: Option<AccountId>,
) -> Result<Vec<Invitation>, OperatorError> {
    Ok(app.store.invitations(account, app.clock.now()).await?)
}

/// Withdraws the invitation of an e-mail address to an account, or to none: its link is void from then on.
///
/// # Errors
/// [`Refusal::NotFound`](signpost_domain::Refusal::NotFound) without an invitation, such as one that was used meanwhile. Or the store
/// broke.
pub async fn withdraw(
    app: &Application,
    by: &Operator,
    email: &Email,
    account: Option<AccountId>,
) -> Result<(), OperatorError> {
    let attempts = Attempts::at(app);
    attempts
        .run(|| async {
            let mut work = attempts.begin().await?;
            by.require_live(work.as_mut()).await?;
            if !work.withdraw_invitation(email, account).await? {
                return Err(PersonError::from(tickets::NO_INVITATION).into());
            }
            let deed = by.deed(account, AuditAction::InvitationWithdrawn, email.as_str());
            record(app, work.as_mut(), deed).await?;
            Ok(commit(app, work).await?)
        })
        .await
}

/// One page of all users, newest first.
pub async fn list(
    app: &Application,
    limit: PageLimit,
    after: Option<PagePosition>,
) -> Result<Page<User>, OperatorError> {
    Ok(app.store.users(limit, after).await?)
}

/// A user.
///
/// # Errors
/// [`OperatorError::NoSuchUser`]. Or the store broke.
pub async fn find(
    app: &Application,
    _by: &Operator,
    reference: &UserReference,
) -> Result<User, OperatorError> {
    let found = match reference {
        UserReference::Id(id) => app.store.user(*id).await?,
        UserReference::Email(email) => app.store.user_with_email(email).await?,
    };
    found.ok_or_else(|| OperatorError::NoSuchUser(reference.to_string()))
}

/// The accounts that a user is a member of, with the role in each, oldest first, at most a hundred.
///
/// # Errors
/// The store broke.
pub async fn accounts_of(
    app: &Application,
    _by: &Operator,
    user: UserId,
) -> Result<Vec<(Account, Role)>, OperatorError> {
    Ok(app.store.accounts_of(user).await?)
}

/// Disables a user: all its sessions end at once, and it cannot sign in. Its keys stay valid, because they belong to accounts.
///
/// # Errors
/// [`OperatorError::NoSuchUser`]; [`OperatorError::OwnUser`] for the operator's own user. Or the store broke.
pub async fn disable(app: &Application, by: &Operator, user: &UserReference) -> Result<User, OperatorError> {
    let action = AuditAction::UserDisabled;
    change(app, by, user, action, async |work: &mut dyn UnitOfWork, user: &mut User| {
        if by.is(user.id) {
            return Err(OperatorError::OwnUser);
        }
        user.disabled_at.get_or_insert(app.clock.now());
        work.void_tickets(&user.email).await?;
        Ok(work.end_sessions(user.id, None).await? > 0)
    })
    .await
}

/// Lets a disabled user sign in again.
///
/// # Errors
/// [`OperatorError::NoSuchUser`]. Or the store broke.
pub async fn enable(app: &Application, by: &Operator, user: &UserReference) -> Result<User, OperatorError> {
    change(app, by, user, AuditAction::UserEnabled, async |_: &mut dyn UnitOfWork, user: &mut User| {
        user.disabled_at = None;
        Ok(false)
    })
    .await
}

/// Ends all sessions of a user.
///
/// # Errors
/// [`OperatorError::NoSuchUser`]. Or the store broke.
pub async fn sign_out(app: &Application, by: &Operator, user: &UserReference) -> Result<User, OperatorError> {
    let action = AuditAction::SessionsEnded;
    change(app, by, user, action, async |work: &mut dyn UnitOfWork, user: &mut User| {
        Ok(work.end_sessions(user.id, None).await? > 0)
    })
    .await
}

/// Removes the second factor of a user who has lost the app and the recovery codes. The password suffices from then on.
///
/// # Errors
/// [`OperatorError::NoSuchUser`]. Or the store broke.
pub async fn remove_second_factor(
    app: &Application,
    by: &Operator,
    user: &UserReference,
) -> Result<User, OperatorError> {
    let action = AuditAction::SecondFactorRemoved;
    let changed = change(app, by, user, action, async |_: &mut dyn UnitOfWork, user: &mut User| {
        user.second_factor = None;
        Ok(false)
    });
    let changed = changed.await?;
    app.store.forget_sign_ins(&SignInKey::of_codes(changed.id)).await?;
    Ok(changed)
}

/// Unbinds a user from its identities at providers, so that no provider signs anybody in as this user any more. The user can connect
/// again. The sessions go on.
///
/// # Errors
/// [`OperatorError::NoSuchUser`]. Or the store broke.
pub async fn disconnect(
    app: &Application,
    by: &Operator,
    user: &UserReference,
) -> Result<User, OperatorError> {
    let action = AuditAction::IdentityUnbound;
    change(app, by, user, action, async |work: &mut dyn UnitOfWork, user: &mut User| {
        Ok(work.unbind_identities(user.id).await? > 0)
    })
    .await
}

/// Since when a user is bound to the identity provider of this installation. `None` if it is not, or if there is no provider.
///
/// # Errors
/// The store broke.
pub async fn connected_since(
    app: &Application,
    _by: &Operator,
    user: UserId,
) -> Result<Option<Timestamp>, OperatorError> {
    let Some(issuer) = app.provider_sign_in.as_ref().map(ProviderSignIn::issuer) else { return Ok(None) };
    Ok(app.store.identity_of(user, issuer).await?.map(|bound| bound.bound_at))
}

/// Makes a link by which a user sets a new password, and voids older ones. The password stays valid until then. A repeated request gets
/// the remembered answer, which lacks the token (D12).
///
/// # Errors
/// [`OperatorError::NoSuchUser`], [`OperatorError::UserDisabled`], [`PersonError::PasswordsOff`];
/// [`AppError::AnsweredBefore`](crate::AppError::AnsweredBefore); [`AppError::Invalid`](crate::AppError::Invalid) if the key was used
/// for another request. Or the store or the source of randomness broke.
pub async fn reset(
    app: &Application,
    by: &Operator,
    reference: &UserReference,
    idempotency: Idempotency<'_, ()>,
) -> Result<(User, SecretToken), OperatorError> {
    require_passwords(app)?;
    let (token, id) = (draw_token(app)?, id_of(app, by, reference).await?);
    let operation = Operation::of_operator(app, by, idempotency);
    operation
        .run_attempts(|| async {
            let mut work = operation.begin().await?;
            by.require_live(work.as_mut()).await?;
            let unknown = || OperatorError::NoSuchUser(reference.to_string());
            let user = work.lock_user(id).await?.ok_or_else(unknown)?;
            if user.disabled_at.is_some() {
                return Err(OperatorError::UserDisabled(user.id));
            }
            let purpose = TicketPurpose::PasswordReset { user: user.id, email: user.email.clone() };
            tickets::insert(app, work.as_mut(), &token, purpose).await?;
            let deed = by.deed(None, AuditAction::TicketMade, user_named(&user));
            record(app, work.as_mut(), deed).await?;
            operation.finish(Some(work), true, &()).await?;
            Ok((user, token.clone()))
        })
        .await
}

/// The id of a user. An id is returned unchecked, because whoever takes it locks the user.
async fn id_of(app: &Application, by: &Operator, reference: &UserReference) -> Result<UserId, OperatorError> {
    match reference {
        UserReference::Id(id) => Ok(*id),
        UserReference::Email(_) => Ok(find(app, by, reference).await?.id),
    }
}

/// Changes a user in one unit of work, with an entry of the audit. `change` returns whether it has changed anything beside the
/// user itself. If nothing was changed there is no entry.
async fn change(
    app: &Application,
    by: &Operator,
    reference: &UserReference,
    action: AuditAction,
    change: impl AsyncFn(&mut dyn UnitOfWork, &mut User) -> Result<bool, OperatorError>,
) -> Result<User, OperatorError> {
    let unknown = || OperatorError::NoSuchUser(reference.to_string());
    let id = id_of(app, by, reference).await?;
    let lock = async |work: &mut dyn UnitOfWork| {
        by.require_live(work).await?;
        work.lock_user(id).await?.ok_or_else(unknown)
    };
    change_user(app, lock, async |work: &mut dyn UnitOfWork, user: &mut User| {
        let before = user.clone();
        let has_changed = change(work, user).await?;
        Ok((has_changed || *user != before).then(|| by.deed(None, action, user_named(&before))))
    })
    .await
}

impl From<PersonError> for OperatorError {
    fn from(error: PersonError) -> Self {
        match error {
            PersonError::Broken(error) => Self::Broken(error),
            other => Self::Person(Box::new(other)),
        }
    }
}
