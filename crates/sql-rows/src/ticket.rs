//! Rows of `tickets`.

use diesel::prelude::*;
use signpost_domain::{
    AccountId, Email, Invitation, Role, Ticket, TicketKind, TicketPurpose, TokenHash, UserId,
};

use crate::Corrupt;
use crate::cell::RowName;
use crate::columns::{IdBytes, Instant, StoredId};
use crate::listed;
use crate::schema::tickets;

/// The table, as the migrations of both databases leave it. If only one database has a column, its comment
/// names the database.
#[allow(missing_docs, clippy::wildcard_imports, reason = "diesel writes tables like this")]
pub(crate) mod table {
    diesel::table! {
        use diesel::sql_types::*;

        use crate::sql_types::*;

        tickets (token_hash) {
            token_hash -> Binary,
            kind -> Text,
            email -> Nullable<Text>,
            email_key -> Text,
            account_id -> Nullable<Identifier>,
            user_id -> Nullable<Identifier>,
            role -> Nullable<Text>,
            is_operator -> Bool,
            created_at -> Moment,
            expires_at -> Moment,
        }
    }
}

const TABLE: &str = "tickets";

const FIRST_START: &str = "first_start";
const INVITATION: &str = "invitation";
const PASSWORD_RESET: &str = "password_reset";

const fn kind_column(kind: TicketKind) -> &'static str {
    match kind {
        TicketKind::FirstStart => FIRST_START,
        TicketKind::Invitation => INVITATION,
        TicketKind::PasswordReset => PASSWORD_RESET,
    }
}

/// A ticket as it is read.
#[derive(Debug, Queryable, Selectable)]
#[diesel(table_name = tickets, check_for_backend(diesel::pg::Pg, diesel::sqlite::Sqlite))]
pub struct TicketRow {
    token_hash: Vec<u8>,
    kind: String,
    email: Option<String>,
    account_id: Option<StoredId>,
    user_id: Option<StoredId>,
    role: Option<String>,
    is_operator: bool,
    created_at: Instant,
    expires_at: Instant,
}

impl TicketRow {
    /// The row as a value of the domain.
    pub fn into_ticket(self) -> Result<Ticket, Corrupt> {
        let Self { token_hash, kind, email, account_id, user_id, role, is_operator, created_at, expires_at } =
            self;
        let row = RowName::of_bytes(TABLE, &token_hash);
        let hash = <[u8; 32]>::try_from(token_hash).map_err(|_| "does not have 32 bytes");
        let hash = TokenHash::from_bytes(row.cell("token_hash", hash)?);
        let email = email.map(|email| row.cell("email", Email::from_stored(email))).transpose()?;
        let account: Option<AccountId> = account_id.map(|id| row.id("account_id", &id)).transpose()?;
        let user: Option<UserId> = user_id.map(|id| row.id("user_id", &id)).transpose()?;
        let role = role.map(|role| row.cell("role", Role::from_name(&role).ok_or("is not a role")));
        let role = role.transpose()?;
        let purpose = match kind.as_str() {
            FIRST_START => TicketPurpose::FirstStart { account: row.present("account_id", account)? },
            INVITATION => TicketPurpose::Invitation {
                email: row.present("email", email)?,
                joins: account.map(|account| Ok((account, row.present("role", role)?))).transpose()?,
                is_operator,
            },
            PASSWORD_RESET => TicketPurpose::PasswordReset {
                user: row.present("user_id", user)?,
                email: row.present("email", email)?,
            },
            _ => return Err(row.corrupt("kind", "is not a kind of tickets")),
        };
        Ok(Ticket {
            hash,
            purpose,
            created_at: row.timestamp("created_at", created_at)?,
            expires_at: row.timestamp("expires_at", expires_at)?,
        })
    }
}

/// The invitations of a list. An unreadable row is logged and left out (ADR 35).
pub fn invitations_in(rows: Vec<TicketRow>) -> Vec<Invitation> {
    let tickets = rows.into_iter().filter_map(|row| listed::readable_or_logged(row.into_ticket()));
    tickets.filter_map(Ticket::into_invitation).collect()
}

/// The `kind` of invitations.
#[must_use]
pub const fn invitation_kind() -> &'static str {
    kind_column(TicketKind::Invitation)
}

/// A ticket as it is inserted, or written over the older one for the same purpose.
#[derive(Debug, Insertable, AsChangeset)]
#[diesel(table_name = tickets, treat_none_as_default_value = false, treat_none_as_null = true)]
pub struct NewTicket<'a> {
    token_hash: Vec<u8>,
    kind: &'static str,
    email: Option<&'a str>,
    email_key: String,
    account_id: Option<IdBytes>,
    user_id: Option<IdBytes>,
    role: Option<&'static str>,
    is_operator: bool,
    created_at: Instant,
    expires_at: Instant,
}

impl<'a> From<&'a Ticket> for NewTicket<'a> {
    fn from(ticket: &'a Ticket) -> Self {
        let Ticket { hash, purpose, created_at, expires_at } = ticket;
        let (account, user, role, makes_operator) = match purpose {
            TicketPurpose::FirstStart { account } => (Some(*account), None, None, false),
            TicketPurpose::Invitation { email: _, joins, is_operator } => {
                let (account, role) = joins.unzip();
                (account, None, role, *is_operator)
            }
            TicketPurpose::PasswordReset { user, email: _ } => (None, Some(*user), None, false),
        };
        Self {
            token_hash: hash.to_bytes().to_vec(),
            kind: kind_column(purpose.kind()),
            email: purpose.email().map(Email::as_str),
            email_key: purpose.email().map(Email::comparison_key).unwrap_or_default(),
            account_id: account.map(IdBytes::from),
            user_id: user.map(IdBytes::from),
            role: role.map(Role::as_str),
            is_operator: makes_operator,
            created_at: (*created_at).into(),
            expires_at: (*expires_at).into(),
        }
    }
}

impl NewTicket<'_> {
    /// The account that the ticket refers to.
    #[must_use]
    pub const fn account_id(&self) -> Option<IdBytes> {
        self.account_id
    }

    /// The user that the ticket refers to.
    #[must_use]
    pub const fn user_id(&self) -> Option<IdBytes> {
        self.user_id
    }
}
