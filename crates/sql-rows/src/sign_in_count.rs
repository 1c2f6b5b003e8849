//! Rows of `sign_in_counts`.

use diesel::prelude::*;
use signpost_domain::{SignInFailures, SignInKey};

use crate::Corrupt;
use crate::cell::RowName;
use crate::columns::Instant;
use crate::schema::sign_in_counts;

/// The table, as the migrations of both databases leave it. If only one database has a column, its comment
/// names the database.
#[allow(missing_docs, clippy::wildcard_imports, reason = "diesel writes tables like this")]
pub(crate) mod table {
    diesel::table! {
        use diesel::sql_types::*;

        use crate::sql_types::*;

        sign_in_counts (key) {
            key -> Binary,
            failures -> BigInt,
            last_at -> Moment,
        }
    }
}

const TABLE: &str = "sign_in_counts";

/// The failures with a key.
#[derive(Debug, Clone, Copy, Queryable, Selectable)]
#[diesel(table_name = sign_in_counts, check_for_backend(diesel::pg::Pg, diesel::sqlite::Sqlite))]
pub struct FailuresRow {
    failures: i64,
    last_at: Instant,
}

impl FailuresRow {
    /// The row of this key as a value of the domain.
    pub fn into_failures(self, key: &SignInKey) -> Result<SignInFailures, Corrupt> {
        let Self { failures, last_at } = self;
        let row = RowName::of_bytes(TABLE, &key.to_bytes());
        let count = row.cell("failures", u32::try_from(failures).map_err(|_| "is not a count"))?;
        Ok(SignInFailures { count, last_at: Some(row.timestamp("last_at", last_at)?) })
    }
}
