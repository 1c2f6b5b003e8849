//! The audit: who did what (D78).

use std::collections::BTreeSet;

use signpost_domain::{
    AccountId, AuditAction, AuditActor, AuditEntry, ClientNetwork, Page, PageLimit, PagePosition, Permission,
    User, UserId,
};

use crate::app_error::AppError;
use crate::application::Application;
use crate::caller::{Actor, Caller};
use crate::operator::Operator;
use crate::ports::{AuditScope, StoreError, UnitOfWork};

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

/// One page of the audit of the caller's account, newest first.
pub async fn list(
    app: &Application,
    caller: &Caller,
    limit: PageLimit,
    after: Option<PagePosition>,
) -> Result<Page<AuditEntry>, AppError> {
    caller.require(Permission::ReadAudit)?;
    Ok(app.store.audit_entries(AuditScope::Account(caller.account_id()), limit, after).await?)
}

/// One page of the audit of the installation, newest first: all accounts, all users, and what concerns neither.
///
/// # Errors
/// The store broke.
pub async fn list_all(
    app: &Application,
    _by: &Operator,
    limit: PageLimit,
    after: Option<PagePosition>,
) -> Result<Page<AuditEntry>, AppError> {
    Ok(app.store.audit_entries(AuditScope::Installation, limit, after).await?)
}

/// A whole audit, read page by page. Entries that are written meanwhile are not in it.
#[derive(Debug)]
pub struct AuditExport {
    scope: AuditScope,
    after: Option<PagePosition>,
    is_read: bool,
    /// The request is in flight until the export is dropped.
    _caller: Option<Caller>,
}

impl AuditExport {
    const fn of(scope: AuditScope, caller: Option<Caller>) -> Self {
        Self { scope, after: None, is_read: false, _caller: caller }
    }

    /// The next entries, newest first; `None` at the end.
    ///
    /// # Errors
    /// The store broke.
    pub async fn next(&mut self, app: &Application) -> Result<Option<Vec<AuditEntry>>, AppError> {
        if self.is_read {
            return Ok(None);
        }
        let page = app.store.audit_entries(self.scope, PageLimit::MAX, self.after).await?;
        (self.after, self.is_read) = (page.next, page.next.is_none());
        Ok(Some(page.items))
    }
}

/// Begins an export of the audit of the caller's account.
pub fn export(caller: Caller) -> Result<AuditExport, AppError> {
    caller.require(Permission::ReadAudit)?;
    Ok(AuditExport::of(AuditScope::Account(caller.account_id()), Some(caller)))
}

/// Begins an export of the audit of the installation.
#[must_use]
pub const fn export_all(_by: &Operator) -> AuditExport {
    AuditExport::of(AuditScope::Installation, None)
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
