//! Entries of the audit, written in the unit of work of the change (D78).

use signpost_domain::{AccountId, AuditAction, AuditActor, AuditEntry, ClientNetwork};

use crate::application::Application;
use crate::ports::{StoreError, UnitOfWork};

/// What was done, before it has an id and an instant.
pub(crate) struct Deed {
    pub(crate) account: Option<AccountId>,
    pub(crate) actor: AuditActor,
    pub(crate) action: AuditAction,
    pub(crate) object: String,
    pub(crate) network: Option<ClientNetwork>,
}

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
