//! Rows of `audit_entries`.

use diesel::prelude::*;
use signpost_domain::{AuditAction, AuditActor, AuditEntry, ClientNetwork};

use crate::Corrupt;
use crate::cell::own_id;
use crate::columns::{IdBytes, Instant, StoredId};
use crate::listed::Listed;
use crate::schema::audit_entries;

/// The table, as the migrations of both databases leave it. If only one database has a column, its comment
/// names the database.
#[allow(missing_docs, clippy::wildcard_imports, reason = "diesel writes tables like this")]
pub(crate) mod table {
    diesel::table! {
        use diesel::sql_types::*;

        use crate::sql_types::*;

        audit_entries (id) {
            id -> Identifier,
            account_id -> Nullable<Identifier>,
            actor -> Text,
            actor_id -> Nullable<Identifier>,
            action -> Text,
            object -> Text,
            network -> Nullable<Text>,
            at -> Moment,
        }
    }
}

/// The table's name.
pub const TABLE: &str = "audit_entries";

const USER: &str = "user";
const KEY: &str = "key";
const COMMAND: &str = "command";

/// An entry as it is read.
#[derive(Debug, Queryable, Selectable)]
#[diesel(table_name = audit_entries, check_for_backend(diesel::pg::Pg, diesel::sqlite::Sqlite))]
pub struct AuditEntryRow {
    id: StoredId,
    account_id: Option<StoredId>,
    actor: String,
    actor_id: Option<StoredId>,
    action: String,
    object: String,
    network: Option<String>,
    at: Instant,
}

impl AuditEntryRow {
    /// The row as a value of the domain.
    pub fn into_entry(self) -> Result<AuditEntry, Corrupt> {
        let Self { id, account_id, actor, actor_id, action, object, network, at } = self;
        let (id, row) = own_id(TABLE, &id)?;
        let actor_id = || row.present("actor_id", actor_id.as_ref());
        let actor = match actor.as_str() {
            USER => AuditActor::User(row.id("actor_id", actor_id()?)?),
            KEY => AuditActor::Key(row.id("actor_id", actor_id()?)?),
            COMMAND => AuditActor::Command,
            _ => return Err(row.corrupt("actor", "is not a kind of actors")),
        };
        Ok(AuditEntry {
            id,
            account_id: account_id.map(|id| row.id("account_id", &id)).transpose()?,
            actor,
            action: row.cell("action", AuditAction::from_name(&action).ok_or("is not an action"))?,
            object,
            network: network
                .map(|network| row.cell("network", ClientNetwork::from_stored(&network)))
                .transpose()?,
            at: row.timestamp("at", at)?,
        })
    }
}

impl Listed for AuditEntryRow {
    type Item = AuditEntry;

    fn id(&self) -> &StoredId {
        &self.id
    }

    fn read(self) -> Result<AuditEntry, Corrupt> {
        self.into_entry()
    }
}

/// The columns `actor` and `actor_id`.
#[must_use]
pub fn actor_columns(actor: AuditActor) -> (&'static str, Option<IdBytes>) {
    match actor {
        AuditActor::User(id) => (USER, Some(id.into())),
        AuditActor::Key(id) => (KEY, Some(id.into())),
        AuditActor::Command => (COMMAND, None),
    }
}

/// An entry as it is inserted.
#[derive(Debug, Insertable)]
#[diesel(table_name = audit_entries, treat_none_as_default_value = false)]
pub struct NewAuditEntry<'a> {
    id: IdBytes,
    account_id: Option<IdBytes>,
    actor: &'static str,
    actor_id: Option<IdBytes>,
    action: &'static str,
    object: &'a str,
    network: Option<String>,
    at: Instant,
}

impl<'a> From<&'a AuditEntry> for NewAuditEntry<'a> {
    fn from(entry: &'a AuditEntry) -> Self {
        let AuditEntry { id, account_id, actor, action, object, network, at } = entry;
        let (actor, actor_id) = actor_columns(*actor);
        Self {
            id: (*id).into(),
            account_id: account_id.map(IdBytes::from),
            actor,
            actor_id,
            action: action.as_str(),
            object,
            network: network.map(|network| network.to_string()),
            at: (*at).into(),
        }
    }
}
