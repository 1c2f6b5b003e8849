//! Rows of `groups`.

use diesel::prelude::*;
use signpost_domain::{AccountId, Group, Name};

use crate::Corrupt;
use crate::cell::own_id;
use crate::columns::{IdBytes, Instant, StoredId, whole_number};
use crate::listed::Listed;
use crate::schema::groups;

/// The table, as the migrations of both databases leave it. If only one database has a column, its comment
/// names the database.
#[allow(missing_docs, clippy::wildcard_imports, reason = "diesel writes tables like this")]
pub(crate) mod table {
    diesel::table! {
        use diesel::sql_types::*;

        use crate::sql_types::*;

        groups (account_id, id) {
            account_id -> Identifier,
            id -> Identifier,
            name -> Text,
            landings_count -> BigInt,
            redirects_count -> BigInt,
            created_at -> Moment,
            updated_at -> Moment,
            revision -> BigInt,
        }
    }
}

/// The table's name.
pub const TABLE: &str = "groups";

/// A group as it is read.
#[derive(Debug, Queryable, Selectable)]
#[diesel(table_name = groups, check_for_backend(diesel::pg::Pg, diesel::sqlite::Sqlite))]
pub struct GroupRow {
    id: StoredId,
    name: String,
    landings_count: i64,
    redirects_count: i64,
    created_at: Instant,
    updated_at: Instant,
    revision: i64,
}

impl GroupRow {
    /// The row as a value of the domain.
    pub fn into_group(self) -> Result<Group, Corrupt> {
        let Self { id, name, landings_count, redirects_count, created_at, updated_at, revision } = self;
        let (id, row) = own_id(TABLE, &id)?;
        Ok(Group {
            id,
            name: row.cell("name", Name::from_stored(name))?,
            landings_count: row.count("landings_count", landings_count)?,
            redirects_count: row.count("redirects_count", redirects_count)?,
            created_at: row.timestamp("created_at", created_at)?,
            updated_at: row.timestamp("updated_at", updated_at)?,
            revision: row.revision("revision", revision)?,
        })
    }
}

impl Listed for GroupRow {
    type Item = Group;

    fn id(&self) -> &StoredId {
        &self.id
    }

    fn read(self) -> Result<Group, Corrupt> {
        self.into_group()
    }
}

/// A group as it is inserted.
#[derive(Debug, Insertable)]
#[diesel(table_name = groups, treat_none_as_default_value = false)]
pub struct NewGroup<'a> {
    account_id: IdBytes,
    id: IdBytes,
    name: &'a str,
    landings_count: i64,
    redirects_count: i64,
    created_at: Instant,
    updated_at: Instant,
    revision: i64,
}

impl<'a> NewGroup<'a> {
    /// The row of an account's group.
    #[must_use]
    pub fn new(account: AccountId, group: &'a Group) -> Self {
        let Group { id, name, landings_count, redirects_count, created_at, updated_at, revision } = group;
        Self {
            account_id: account.into(),
            id: (*id).into(),
            name: name.as_str(),
            landings_count: whole_number(*landings_count),
            redirects_count: whole_number(*redirects_count),
            created_at: (*created_at).into(),
            updated_at: (*updated_at).into(),
            revision: whole_number(revision.get()),
        }
    }
}
