//! Rows of `remembered_answers`.

use diesel::prelude::*;
use signpost_app::ports::{
    AnswerOwner, RememberedAnswer, RememberedRequest, RequestFingerprint, SizedAnswer,
};
use signpost_domain::IdempotencyKey;

use crate::Corrupt;
use crate::cell::RowName;
use crate::columns::Instant;
use crate::schema::remembered_answers;

/// The table, as the migrations of both databases leave it. If only one database has a column, its comment
/// names the database.
#[allow(missing_docs, clippy::wildcard_imports, reason = "diesel writes tables like this")]
pub(crate) mod table {
    diesel::table! {
        use diesel::sql_types::*;

        use crate::sql_types::*;

        remembered_answers (account_id, key) {
            /// Only on SQLite: its own number of the row.
            rowid -> BigInt,
            /// The owner: an account, or a user who acts as an operator.
            account_id -> Identifier,
            key -> Text,
            fingerprint -> Binary,
            status -> Integer,
            location -> Nullable<Text>,
            body -> Text,
            created_at -> Moment,
            bytes -> Integer,
        }
    }
}

const TABLE: &str = "remembered_answers";

/// The range of HTTP statuses.
const STATUSES: std::ops::RangeInclusive<u16> = 100..=999;

/// The remembered answer of a key, as it is read.
#[derive(Debug, Queryable, Selectable)]
#[diesel(table_name = remembered_answers, check_for_backend(diesel::pg::Pg, diesel::sqlite::Sqlite))]
pub struct RememberedAnswerRow {
    fingerprint: Vec<u8>,
    status: i32,
    location: Option<String>,
    body: String,
}

impl RememberedAnswerRow {
    /// The remembered answer of this owner and key.
    pub fn into_request(
        self,
        owner: AnswerOwner,
        key: &IdempotencyKey,
    ) -> Result<RememberedRequest, Corrupt> {
        let Self { fingerprint, status, location, body } = self;
        let row = RowName::new(TABLE, format_args!("{owner} {}", key.as_str()));
        let status = u16::try_from(status).ok().filter(|status| STATUSES.contains(status));
        let status = row.cell("status", status.ok_or("is not an HTTP status"))?;
        let fingerprint = <[u8; 32]>::try_from(fingerprint).map_err(|_| "does not have 32 bytes");
        let fingerprint = RequestFingerprint::from_bytes(row.cell("fingerprint", fingerprint)?);
        Ok(RememberedRequest { fingerprint, answer: RememberedAnswer { status, location, body } })
    }
}

/// The size of an answer.
#[derive(Debug, Queryable, Selectable)]
#[diesel(table_name = remembered_answers, check_for_backend(diesel::pg::Pg, diesel::sqlite::Sqlite))]
pub struct SizeRow {
    created_at: Instant,
    bytes: i32,
}

impl SizeRow {
    /// The size of an answer of this owner.
    pub fn into_sized(self, owner: AnswerOwner) -> Result<SizedAnswer, Corrupt> {
        let Self { created_at, bytes } = self;
        let row = RowName::new(TABLE, format_args!("{owner}"));
        let since = row.cell("created_at", created_at.timestamp().ok_or("is not a valid time"))?;
        Ok(SizedAnswer { since, bytes: row.cell("bytes", u32::try_from(bytes))? })
    }
}
