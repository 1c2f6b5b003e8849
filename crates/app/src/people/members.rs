//! Who belongs to an account (D68, D69, D70, D73).

use signpost_domain::{
    AccountId, AuditAction, Email, FieldError, Invitation, Page, PageLimit, PagePosition, Permission,
    Refusal, Role, SecretToken, TicketPurpose, UserId, ViolationCode,
};

use super::profile::{of_user, require_confirmed, require_live, user_named};
use super::second_factor::is_missing;
use super::{Client, PersonError, draw_token, tickets, users};
use crate::accounts::OperatorError;
use crate::admission::SignedIn;
use crate::app_error::AppError;
use crate::application::Application;
use crate::audit::{Deed, record};
use crate::caller::Caller;
use crate::idempotency::{Idempotency, Operation};
use crate::operator::Operator;
use crate::ports::{AccountMember, MemberChange, UnitOfWork};
use crate::unit_of_work::{Attempts, commit};

const NOT_FOUND: Refusal = Refusal::NotFound("member");

/// One page of the members of the caller's account, newest user first.
pub async fn list(
    app: &Application,
    caller: &Caller,
    limit: PageLimit,
    after: Option<PagePosition>,
) -> Result<Page<AccountMember>, AppError> {
    caller.require(Permission::Read)?;
    Ok(app.store.members(caller.account_id(), limit, after).await?)
}

/// How many members of an account sign in by a password alone. Disabled users do not count, because they cannot sign in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WithoutSecondFactor {
    /// How many of the members that were looked at.
    pub count: usize,
    /// How many members were looked at, at most a hundred.
    pub of: usize,
    /// Whether these are all members.
    pub is_all: bool,
}

/// How many members would have to set up a second factor if the caller's account required one. `None` unless the caller may
/// require it: the others would read how easily members are taken over.
pub async fn without_second_factor(
    app: &Application,
    caller: &Caller,
) -> Result<Option<WithoutSecondFactor>, AppError> {
    caller.require(Permission::Read)?;
    if !caller.may(Permission::ManageAccount) {
        return Ok(None);
    }
    let Page { items, next, left_out } = app.store.members(caller.account_id(), PageLimit::MAX, None).await?;
    let enabled = || items.iter().filter(|member| member.user.disabled_at.is_none());
    let count = enabled().filter(|member| is_missing(app, &member.user)).count();
    let is_all = next.is_none() && left_out == 0;
    Ok(Some(WithoutSecondFactor { count, of: enabled().count(), is_all }))
}

/// Makes an invitation to the caller's account, which voids older ones for the same address. The token is returned once and not
/// stored. A repeated request gets the remembered answer, which lacks the token.
///
/// # Errors
/// [`PersonError::NotConfirmed`]; [`AppError::Invalid`] for a member who has this role or a greater one already; errors of the
/// store.
pub async fn invite(
    app: &Application,
    caller: &Caller,
    signed_in: &SignedIn,
    email: &Email,
    role: Role,
    idempotency: Idempotency<'_, ()>,
) -> Result<SecretToken, PersonError> {
    caller.require(Permission::ManageMembers)?;
    require_confirmed(app, signed_in)?;
    let (account, token) = (caller.account_id(), draw_token(app)?);
    let invited = app.store.user_with_email(email).await?.map(|user| user.id);
    let operation = Operation::new(app, caller, idempotency);
    operation
        .run(|| async {
            let mut work = operation.begin().await?;
            require_live(work.as_mut(), signed_in).await.map_err(PersonError::into_app_error)?;
            let purpose = TicketPurpose::Invitation {
                email: email.clone(),
                joins: Some((account, role)),
                is_operator: false,
            };
            require_owner(work.as_mut(), signed_in, account).await?;
            require_more(work.as_mut(), invited, account, role).await?;
            if !tickets::insert(app, work.as_mut(), &token, purpose).await? {
                return Err(AppError::AccountGone);
            }
            let object = tickets::invitation_named(email, Some(role), false);
            record(app, work.as_mut(), Deed::of(caller, AuditAction::TicketMade, object)).await?;
            operation.finish(Some(work), true, &()).await
        })
        .await?;
    Ok(token)
}

/// The invitations to the caller's account that can still be used, newest first, at most a hundred. The others would read who may
/// join, so a caller who may not invite gets none.
pub async fn invitations(app: &Application, caller: &Caller) -> Result<Vec<Invitation>, AppError> {
    caller.require(Permission::Read)?;
    if !caller.may(Permission::ManageMembers) {
        return Ok(Vec::new());
    }
    Ok(app.store.invitations(Some(caller.account_id()), app.clock.now()).await?)
}

/// Withdraws the invitation of an e-mail address to the caller's account: its link is void from then on.
///
/// # Errors
/// [`PersonError::NotConfirmed`]; [`Refusal::NotFound`] without an invitation, such as one that was used meanwhile.
pub async fn withdraw(
    app: &Application,
    caller: &Caller,
    signed_in: &SignedIn,
    email: &Email,
    client: &Client,
) -> Result<(), OperatorError> {
    caller.require(Permission::ManageMembers)?;
    let account = caller.account_id();
    let owner = Operator::owner(app, signed_in, client, account)?;
    users::withdraw(app, &owner, email, Some(account)).await
}

/// Refuses an invitation that would change nothing. The members of the account are locked.
async fn require_more(
    work: &mut dyn UnitOfWork,
    invited: Option<UserId>,
    account: AccountId,
    role: Role,
) -> Result<(), AppError> {
    let Some(user) = invited else { return Ok(()) };
    match work.role_of(user, account).await? {
        Some(held) if held >= role => {
            let error = FieldError::new(ViolationCode::AlreadyTaken, "is already a member");
            Err(AppError::Invalid(error.at("email").into()))
        }
        Some(_) | None => Ok(()),
    }
}

/// Gives a member of the caller's account another role, which holds for every request that starts after this returns.
///
/// # Errors
/// [`PersonError::NotConfirmed`]; [`PersonError::LastOwner`]; [`Refusal::NotFound`] for a user who is not a member.
pub async fn change_role(
    app: &Application,
    caller: &Caller,
    signed_in: &SignedIn,
    member: UserId,
    role: Role,
) -> Result<(), PersonError> {
    caller.require(Permission::ManageMembers)?;
    let account = caller.account_id();
    change(app, caller, signed_in, member, async |work: &mut dyn UnitOfWork, named: &str| {
        let before = work.role_of(member, account).await?.ok_or(NOT_FOUND)?;
        if before == role {
            return Ok(None);
        }
        made(work.change_role(member, account, role).await?)?;
        let object = format!("{named} from {} to {}", before.as_str(), role.as_str());
        Ok(Some(Deed::of(caller, AuditAction::RoleChanged, object)))
    })
    .await
}

/// Removes a member from the caller's account. Every request of the member that starts after this returns is refused. The keys
/// that the member issued stay valid, because they belong to the account.
///
/// # Errors
/// [`PersonError::NotConfirmed`]; [`PersonError::LastOwner`]; [`Refusal::NotFound`] for a user who is not a member.
pub async fn remove(
    app: &Application,
    caller: &Caller,
    signed_in: &SignedIn,
    member: UserId,
) -> Result<(), PersonError> {
    caller.require(Permission::ManageMembers)?;
    change(app, caller, signed_in, member, async |work: &mut dyn UnitOfWork, named: &str| {
        made(work.remove_member(member, caller.account_id()).await?)?;
        Ok(Some(Deed::of(caller, AuditAction::MemberRemoved, named)))
    })
    .await
}

/// Changes a member of the caller's account in one unit of work, with an entry of the audit. `change` gets the name of the member
/// in entries, and returns the entry if it has changed anything.
async fn change(
    app: &Application,
    caller: &Caller,
    signed_in: &SignedIn,
    member: UserId,
    change: impl AsyncFn(&mut dyn UnitOfWork, &str) -> Result<Option<Deed>, PersonError>,
) -> Result<(), PersonError> {
    require_confirmed(app, signed_in)?;
    let named = user_named(&app.store.user(member).await?.ok_or(NOT_FOUND)?);
    let attempts = Attempts::at(app);
    attempts
        .run(|| async {
            let mut work = attempts.begin().await?;
            require_live(work.as_mut(), signed_in).await?;
            require_owner(work.as_mut(), signed_in, caller.account_id()).await?;
            let Some(deed) = change(work.as_mut(), &named).await? else { return Ok(()) };
            record(app, work.as_mut(), deed).await?;
            Ok(commit(app, work).await?)
        })
        .await
}

/// Takes the user out of an account, also out of a suspended one.
///
/// # Errors
/// [`PersonError::NotConfirmed`]; [`PersonError::LastOwner`]; [`Refusal::NotFound`] for an account that the user is not a member
/// of.
pub async fn leave(
    app: &Application,
    signed_in: &SignedIn,
    account: AccountId,
    client: &Client,
) -> Result<(), PersonError> {
    require_confirmed(app, signed_in)?;
    let attempts = Attempts::at(app);
    attempts
        .run(|| async {
            let mut work = attempts.begin().await?;
            require_live(work.as_mut(), signed_in).await?;
            work.lock_members(account).await?;
            made(work.remove_member(signed_in.user().id, account).await?)?;
            let left = of_user(signed_in.user(), AuditAction::MemberLeft, client);
            let deed = Deed { account: Some(account), ..left };
            record(app, work.as_mut(), deed).await?;
            Ok(commit(app, work).await?)
        })
        .await
}

/// Locks the members of an account. Refuses if the user has ceased to be an owner since the request was admitted, so that of
/// two owners who remove each other at once one stays.
pub(crate) async fn require_owner(
    work: &mut dyn UnitOfWork,
    signed_in: &SignedIn,
    account: AccountId,
) -> Result<(), AppError> {
    work.lock_members(account).await?;
    match work.role_of(signed_in.user().id, account).await? {
        Some(Role::Owner) => Ok(()),
        Some(Role::Viewer | Role::Editor) | None => {
            Err(Refusal::NotPermitted(Permission::ManageMembers).into())
        }
    }
}

fn made(change: MemberChange) -> Result<(), PersonError> {
    match change {
        MemberChange::Done => Ok(()),
        MemberChange::NotAMember => Err(NOT_FOUND.into()),
        MemberChange::LastOwner => Err(PersonError::LastOwner),
    }
}
