//! The audit: who did what (D78).

use std::collections::BTreeSet;
use std::str::FromStr;

use signpost_domain::{
    Account, AccountId, AuditAction, AuditActor, AuditEntry, ClientNetwork, Email, Page, PageLimit,
    PagePosition, Permission, Timestamp, User, UserId,
};

use crate::app_error::AppError;
use crate::application::Application;
use crate::caller::{Actor, Caller};
use crate::operator::Operator;
use crate::ports::{AuditFilter, AuditScope, StoreError, UnitOfWork};

/// What was done, before it has an id and an instant.
#[derive(Debug)]
pub(crate) struct Deed {
    pub(crate) account: Option<AccountId>,
    pub(crate) actor: AuditActor,
    pub(crate) action: AuditAction,
    pub(crate) object: String,
    pub(crate) network: Option<ClientNetwork>,
}

impl Deed {
    /// Something that a caller does to its account.
    pub(crate) fn of(caller: &Caller, action: AuditAction, object: impl Into<String>) -> Self {
        Self {
            account: Some(caller.account_id()),
            actor: match caller.actor() {
                Actor::User { user, role: _ } => AuditActor::User(user),
                Actor::Key(key) => AuditActor::Key(key),
            },
            action,
            object: object.into(),
            network: Some(caller.network()),
        }
    }

    /// Something that an operator does by a command.
    pub(crate) fn by_command(
        account: Option<AccountId>,
        action: AuditAction,
        object: impl Into<String>,
    ) -> Self {
        Self { account, actor: AuditActor::Command, action, object: object.into(), network: None }
    }
}

/// Writes an entry within the unit of work of the change, so that there is no change without an entry.
pub(crate) async fn record(
    app: &Application,
    work: &mut dyn UnitOfWork,
    deed: Deed,
) -> Result<(), StoreError> {
    let Deed { account, actor, action, object, network } = deed;
    let entry = AuditEntry {
        id: app.ids.next(),
        account_id: account,
        actor,
        action,
        object,
        network,
        at: app.clock.now(),
    };
    work.record(&entry).await
}

/// Whose deeds are wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Who {
    /// Those of one actor.
    Actor(AuditActor),
    /// Those of the user with this e-mail address.
    Email(Email),
}

/// The text names nobody.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be an e-mail address, the id of a user (usr_…) or of a key (key_…), or `command`")]
pub struct MalformedWho;

impl FromStr for Who {
    type Err = MalformedWho;

    fn from_str(text: &str) -> Result<Self, MalformedWho> {
        if text.eq_ignore_ascii_case("command") {
            return Ok(Self::Actor(AuditActor::Command));
        }
        if let Ok(user) = text.parse() {
            return Ok(Self::Actor(AuditActor::User(user)));
        }
        if let Ok(key) = text.parse() {
            return Ok(Self::Actor(AuditActor::Key(key)));
        }
        Email::parse(text).map(Self::Email).map_err(|_| MalformedWho)
    }
}

/// Which entries are asked for. A field that is `None` is no condition.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditQuestion {
    /// What was done.
    pub action: Option<AuditAction>,
    /// Who did it.
    pub who: Option<Who>,
    /// A part of the object, in any case.
    pub text: Option<String>,
    /// The first instant.
    pub from: Option<Timestamp>,
    /// The instant before which it was done.
    pub until: Option<Timestamp>,
}

impl AuditQuestion {
    /// The conditions. `None` if no entry can match, because no object has a NUL.
    async fn filter(self, app: &Application) -> Result<Option<AuditFilter>, AppError> {
        let Self { action, who, text, from, until } = self;
        let actor = match who {
            None => None,
            Some(Who::Actor(actor)) => Some(actor),
            Some(Who::Email(email)) => match app.store.user_with_email(&email).await? {
                Some(user) => Some(AuditActor::User(user.id)),
                // The search takes as long, so that it does not tell who has a user.
                None => Some(AuditActor::User(UserId::from_bytes([0; 16]))),
            },
        };
        if text.as_ref().is_some_and(|text| text.contains('\0')) {
            return Ok(None);
        }
        Ok(Some(AuditFilter { action, actor, text, from, until }))
    }
}

/// One page of what the caller asks about the audit of its account, newest first. It may have fewer entries than `limit`, or none,
/// although more follow, because one page looks at a bounded number of entries.
pub async fn list(
    app: &Application,
    caller: &Caller,
    question: AuditQuestion,
    limit: PageLimit,
    after: Option<PagePosition>,
) -> Result<Page<AuditEntry>, AppError> {
    caller.require(Permission::ReadAudit)?;
    page_of(app, AuditScope::Account(caller.account_id()), question, limit, after).await
}

async fn page_of(
    app: &Application,
    scope: AuditScope,
    question: AuditQuestion,
    limit: PageLimit,
    after: Option<PagePosition>,
) -> Result<Page<AuditEntry>, AppError> {
    match question.filter(app).await? {
        Some(filter) => Ok(read(app, scope, &filter, limit, after).await?),
        None => Ok(Page::empty()),
    }
}

/// Without a condition, a page is full wherever more follow.
async fn read(
    app: &Application,
    scope: AuditScope,
    filter: &AuditFilter,
    limit: PageLimit,
    after: Option<PagePosition>,
) -> Result<Page<AuditEntry>, StoreError> {
    if *filter == AuditFilter::default() {
        return app.store.audit_entries(scope, limit, after).await;
    }
    app.store.matching_audit_entries(scope, filter, limit, after).await
}

/// One page of what an operator asks about the audit, newest first: of one account, which may be deleted, or of the installation with
/// all accounts, all users, and what concerns neither. It may have fewer entries than `limit`, as for [`list`].
///
/// # Errors
/// The store broke.
pub async fn list_all(
    app: &Application,
    _by: &Operator,
    account: Option<AccountId>,
    question: AuditQuestion,
    limit: PageLimit,
    after: Option<PagePosition>,
) -> Result<Page<AuditEntry>, AppError> {
    page_of(app, scope_of(account), question, limit, after).await
}

fn scope_of(account: Option<AccountId>) -> AuditScope {
    account.map_or(AuditScope::Installation, AuditScope::Account)
}

/// A whole audit, read page by page. Entries that are written meanwhile are not in it.
#[derive(Debug)]
pub struct AuditExport {
    scope: AuditScope,
    /// `None` if no entry can match.
    filter: Option<AuditFilter>,
    after: Option<PagePosition>,
    is_read: bool,
    /// The request is in flight until the export is dropped.
    _caller: Option<Caller>,
}

impl AuditExport {
    async fn begin(
        app: &Application,
        scope: AuditScope,
        question: AuditQuestion,
        caller: Option<Caller>,
    ) -> Result<Self, AppError> {
        let filter = question.filter(app).await?;
        Ok(Self { scope, filter, after: None, is_read: false, _caller: caller })
    }

    /// The next entries, newest first, possibly none; `None` at the end.
    ///
    /// # Errors
    /// The store broke.
    pub async fn next(&mut self, app: &Application) -> Result<Option<Vec<AuditEntry>>, AppError> {
        let Some(filter) = &self.filter else { return Ok(None) };
        if self.is_read {
            return Ok(None);
        }
        let page = read(app, self.scope, filter, PageLimit::MAX, self.after).await?;
        (self.after, self.is_read) = (page.next, page.next.is_none());
        Ok(Some(page.items))
    }
}

/// Begins an export of what the caller asks about the audit of its account.
pub async fn export(
    app: &Application,
    caller: Caller,
    question: AuditQuestion,
) -> Result<AuditExport, AppError> {
    caller.require(Permission::ReadAudit)?;
    let scope = AuditScope::Account(caller.account_id());
    AuditExport::begin(app, scope, question, Some(caller)).await
}

/// Begins an export of what an operator asks about the audit, of one account or of the installation.
///
/// # Errors
/// The store broke.
pub async fn export_all(
    app: &Application,
    _by: &Operator,
    account: Option<AccountId>,
    question: AuditQuestion,
) -> Result<AuditExport, AppError> {
    AuditExport::begin(app, scope_of(account), question, None).await
}

/// The accounts with these ids, at most a hundred, for the names of what the audit is about. Accounts that were deleted, and those
/// that cannot be read, are missing.
///
/// # Errors
/// The store broke.
pub async fn accounts_named(
    app: &Application,
    _by: &Operator,
    ids: &BTreeSet<AccountId>,
) -> Result<Vec<Account>, AppError> {
    Ok(app.store.accounts_with_ids(&ids.iter().copied().collect::<Vec<_>>()).await?)
}

/// The users who did these things, for their names. Users who were deleted are missing.
pub async fn people_in(app: &Application, entries: &[AuditEntry]) -> Result<Vec<User>, AppError> {
    let users: BTreeSet<UserId> = entries
        .iter()
        .filter_map(|entry| match entry.actor {
            AuditActor::User(user) => Some(user),
            AuditActor::Key(_) | AuditActor::Command => None,
        })
        .collect();
    Ok(app.store.users_with_ids(&users.into_iter().collect::<Vec<_>>()).await?)
}
