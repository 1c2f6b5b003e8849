//! Rows of `certificate_challenges` and `certificate_authorities`, and the kinds of `order_events`.

use diesel::prelude::*;
use signpost_app::ports::{StoredAuthorityAccount, StoredChallenge};
use signpost_domain::{Hostname, OrderKind, SealedSecret};

use crate::Corrupt;
use crate::cell::RowName;
use crate::columns::Instant;
use crate::schema::{certificate_authorities, certificate_challenges};

/// The tables, as the migrations of both databases leave them. If only one database has a column, its comment
/// names the database.
#[allow(missing_docs, clippy::wildcard_imports, reason = "diesel writes tables like this")]
pub(crate) mod table {
    diesel::table! {
        use diesel::sql_types::*;

        use crate::sql_types::*;

        certificate_challenges (token) {
            token -> Text,
            hostname -> Text,
            key_authorization -> Text,
            expires_at -> Moment,
        }
    }

    diesel::table! {
        use diesel::sql_types::*;

        use crate::sql_types::*;

        certificate_authorities (directory) {
            directory -> Text,
            account_uri -> Nullable<Text>,
            credentials -> Nullable<Binary>,
            wait_until -> Nullable<Moment>,
        }
    }
}

/// A challenge as it is read and written.
#[derive(Debug, Clone, Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(table_name = certificate_challenges, check_for_backend(diesel::pg::Pg, diesel::sqlite::Sqlite))]
pub struct ChallengeRow {
    token: String,
    hostname: String,
    key_authorization: String,
    expires_at: Instant,
}

impl From<&StoredChallenge> for ChallengeRow {
    fn from(challenge: &StoredChallenge) -> Self {
        let StoredChallenge { token, hostname, key_authorization, expires_at } = challenge;
        Self {
            token: token.clone(),
            hostname: hostname.as_str().to_owned(),
            key_authorization: key_authorization.clone(),
            expires_at: (*expires_at).into(),
        }
    }
}

impl ChallengeRow {
    /// The row as a value of the port.
    pub fn into_challenge(self) -> Result<StoredChallenge, Corrupt> {
        let Self { token, hostname, key_authorization, expires_at } = self;
        // Not by its token, which is for the authority alone.
        let row = RowName::new("certificate_challenges", &hostname);
        Ok(StoredChallenge {
            hostname: row.cell("hostname", Hostname::from_stored(hostname))?,
            expires_at: row.timestamp("expires_at", expires_at)?,
            token,
            key_authorization,
        })
    }
}

/// The account at an authority, and until when to leave it alone.
#[derive(Debug, Clone, Queryable, Selectable)]
#[diesel(table_name = certificate_authorities, check_for_backend(diesel::pg::Pg, diesel::sqlite::Sqlite))]
pub struct AuthorityRow {
    account_uri: Option<String>,
    credentials: Option<Vec<u8>>,
}

impl AuthorityRow {
    /// The account; `None` if there is none.
    #[must_use]
    pub fn into_account(self) -> Option<StoredAuthorityAccount> {
        let Self { account_uri, credentials } = self;
        Some(StoredAuthorityAccount { uri: account_uri?, credentials: SealedSecret(credentials?) })
    }

    /// The accounts of rows with the URLs of their directories.
    #[must_use]
    pub fn into_accounts(rows: Vec<(String, Self)>) -> Vec<(String, StoredAuthorityAccount)> {
        rows.into_iter().filter_map(|(directory, row)| Some((directory, row.into_account()?))).collect()
    }
}

/// The column `kind` of an event that counts against the budgets of failures.
pub const FAILURE_EVENT: &str = "failure";

/// The column `kind` of an order for a new name.
pub const NEW_ORDER_EVENT: &str = "new";

/// The column `kind` of an order for a new name that has brought no certificate.
pub const FAILED_NEW_ORDER_EVENT: &str = "failed_new";

/// The column `kind` of a renewal that names its predecessor. It counts against no budget.
const RENEWAL_EVENT: &str = "renewal";

/// The column `kind` of a renewal that does not name its predecessor.
pub const PLAIN_RENEWAL_EVENT: &str = "plain_renewal";

/// The column `kind` of an order.
#[must_use]
pub const fn order_event(kind: OrderKind) -> &'static str {
    match kind {
        OrderKind::New | OrderKind::Catchup => NEW_ORDER_EVENT,
        OrderKind::Renewal { names_predecessor: true } => RENEWAL_EVENT,
        OrderKind::Renewal { names_predecessor: false } => PLAIN_RENEWAL_EVENT,
    }
}

/// The column `kind` of an order that has brought no certificate, and so counts no longer against the budgets of certificates.
#[must_use]
pub const fn failed_order_event(kind: OrderKind) -> &'static str {
    match kind {
        OrderKind::New | OrderKind::Catchup => FAILED_NEW_ORDER_EVENT,
        OrderKind::Renewal { .. } => RENEWAL_EVENT,
    }
}
