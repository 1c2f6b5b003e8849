//! Rows of `sessions`.

use diesel::prelude::*;
use signpost_app::ports::{Member, SessionHolder};
use signpost_domain::{AgentName, ClientNetwork, Session, TokenHash};

use crate::Corrupt;
use crate::account::{AccountRow, UsageRow};
use crate::cell::own_id;
use crate::columns::{IdBytes, Instant, StoredId};
use crate::listed::Listed;
use crate::membership::RoleRow;
use crate::schema::sessions;
use crate::user::UserRow;

/// The table, as the migrations of both databases leave it. If only one database has a column, its comment
/// names the database.
#[allow(missing_docs, clippy::wildcard_imports, reason = "diesel writes tables like this")]
pub(crate) mod table {
    diesel::table! {
        use diesel::sql_types::*;

        use crate::sql_types::*;

        sessions (id) {
            id -> Identifier,
            token_hash -> Binary,
            user_id -> Identifier,
            created_at -> Moment,
            seen_at -> Moment,
            confirmed_at -> Moment,
            is_kept -> Bool,
            agent -> Nullable<Text>,
            network -> Nullable<Text>,
        }
    }
}

const TABLE: &str = "sessions";

/// A session as it is read.
#[derive(Debug, Queryable, Selectable)]
#[diesel(table_name = sessions, check_for_backend(diesel::pg::Pg, diesel::sqlite::Sqlite))]
pub struct SessionRow {
    id: StoredId,
    token_hash: Vec<u8>,
    user_id: StoredId,
    created_at: Instant,
    seen_at: Instant,
    confirmed_at: Instant,
    is_kept: bool,
    agent: Option<String>,
    network: Option<String>,
}

impl SessionRow {
    /// The row as a value of the domain.
    pub fn into_session(self) -> Result<Session, Corrupt> {
        let Self { id, token_hash, user_id, created_at, seen_at, confirmed_at, is_kept, agent, network } =
            self;
        let (id, row) = own_id(TABLE, &id)?;
        let hash = <[u8; 32]>::try_from(token_hash).map_err(|_| "does not have 32 bytes");
        Ok(Session {
            id,
            hash: TokenHash::from_bytes(row.cell("token_hash", hash)?),
            user_id: row.id("user_id", &user_id)?,
            created_at: row.timestamp("created_at", created_at)?,
            seen_at: row.timestamp("seen_at", seen_at)?,
            confirmed_at: row.timestamp("confirmed_at", confirmed_at)?,
            is_kept,
            agent: agent.map(|agent| row.cell("agent", AgentName::from_stored(agent))).transpose()?,
            network: network
                .map(|network| row.cell("network", ClientNetwork::from_stored(&network)))
                .transpose()?,
        })
    }
}

/// A session with its user, and the user's place in an account, if the user has one there.
pub type SessionHolderRow = (SessionRow, UserRow, Option<RoleRow>, Option<AccountRow>, Option<UsageRow>);

/// The rows as a value of the application.
pub fn into_session_holder(rows: SessionHolderRow) -> Result<SessionHolder, Corrupt> {
    let (session, user, role, account, usage) = rows;
    let member = match (role, account, usage) {
        (Some(role), Some(account), Some(usage)) => {
            let (role, account) = (role.into_role()?, account.into_account()?);
            let usage = usage.into_usage(account.id)?;
            Some(Member { role, account, usage })
        }
        _ => None,
    };
    Ok(SessionHolder { session: session.into_session()?, user: user.into_user()?, member })
}

impl Listed for SessionRow {
    type Item = Session;

    fn id(&self) -> &StoredId {
        &self.id
    }

    fn read(self) -> Result<Session, Corrupt> {
        self.into_session()
    }
}

/// A session as it is inserted.
#[derive(Debug, Insertable)]
#[diesel(table_name = sessions, treat_none_as_default_value = false)]
pub struct NewSession<'a> {
    id: IdBytes,
    token_hash: Vec<u8>,
    user_id: IdBytes,
    created_at: Instant,
    seen_at: Instant,
    confirmed_at: Instant,
    is_kept: bool,
    agent: Option<&'a str>,
    network: Option<String>,
}

impl<'a> From<&'a Session> for NewSession<'a> {
    fn from(session: &'a Session) -> Self {
        let Session { id, hash, user_id, created_at, seen_at, confirmed_at, is_kept, agent, network } =
            session;
        Self {
            id: (*id).into(),
            token_hash: hash.to_bytes().to_vec(),
            user_id: (*user_id).into(),
            created_at: (*created_at).into(),
            seen_at: (*seen_at).into(),
            confirmed_at: (*confirmed_at).into(),
            is_kept: *is_kept,
            agent: agent.as_ref().map(AgentName::as_str),
            network: network.map(|network| network.to_string()),
        }
    }
}
