//! Rows of `identities`.

use diesel::prelude::*;
use signpost_app::ports::{Binding, BoundIdentity};
use signpost_domain::{ExternalIdentity, Subject, Timestamp, UserId};

use crate::Corrupt;
use crate::cell::RowName;
use crate::columns::{IdBytes, Instant, StoredId};
use crate::schema::identities;

/// The table, as the migrations of both databases leave it. If only one database has a column, its comment
/// names the database.
#[allow(missing_docs, clippy::wildcard_imports, reason = "diesel writes tables like this")]
pub(crate) mod table {
    diesel::table! {
        use diesel::sql_types::*;

        use crate::sql_types::*;

        identities (issuer, subject) {
            issuer -> Text,
            subject -> Text,
            user_id -> Identifier,
            created_at -> Moment,
        }
    }
}

const TABLE: &str = "identities";

/// What a user is bound to at an issuer.
#[derive(Debug, Queryable, Selectable)]
#[diesel(table_name = identities, check_for_backend(diesel::pg::Pg, diesel::sqlite::Sqlite))]
pub struct IdentityRow {
    subject: String,
    user_id: StoredId,
    created_at: Instant,
}

impl IdentityRow {
    /// The row as a value of the application.
    pub fn into_bound(self) -> Result<BoundIdentity, Corrupt> {
        let Self { subject, user_id, created_at } = self;
        let row = RowName::new(TABLE, UserId::from_bytes(user_id.position()));
        Ok(BoundIdentity {
            subject: row.cell("subject", Subject::from_stored(subject))?,
            bound_at: row.timestamp("created_at", created_at)?,
        })
    }
}

/// What becomes of the binding of `user` to an identity that has this user already.
#[must_use]
pub fn binding_to_identity_of(holder: UserId, user: UserId) -> Binding {
    if holder == user { Binding::Bound } else { Binding::TakenByAnother }
}

/// An identity as it is inserted.
#[derive(Debug, Insertable)]
#[diesel(table_name = identities)]
pub struct NewIdentity<'a> {
    issuer: &'a str,
    subject: &'a str,
    user_id: IdBytes,
    created_at: Instant,
}

impl<'a> NewIdentity<'a> {
    /// The identity of a user.
    #[must_use]
    pub fn of(user: UserId, identity: &'a ExternalIdentity, at: Timestamp) -> Self {
        let ExternalIdentity { issuer, subject } = identity;
        Self {
            issuer: issuer.as_str(),
            subject: subject.as_str(),
            user_id: user.into(),
            created_at: at.into(),
        }
    }
}
