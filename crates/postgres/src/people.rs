//! Reading people.

use async_trait::async_trait;
use diesel::dsl::AsSelect;
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::sql_types::{Binary, Nullable};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use signpost_app::ports::{
    AccountMember, AuditFilter, AuditScope, INVITATIONS_LISTED, PeopleReads, SessionHolder, StoreError,
};
use signpost_domain::{
    Account, AccountId, AuditEntry, Email, Invitation, Page, PageLimit, PagePosition, Role, Session, Ticket,
    Timestamp, TokenHash, User, UserId,
};
use signpost_sql_rows::sql_types::Identifier;

use crate::audit_search::search;
use crate::cached_query::cached_query;
use crate::failure::Failure;
use crate::inline_limit::{InlineLimit, rows_to_read};
use crate::newest_rows::NewestRows;
use crate::schema::{accounts, audit_entries, memberships, sessions, tickets, users};
use crate::store::PostgresStore;
use signpost_sql_rows::account::{AccountRow, UsageRow};
use signpost_sql_rows::audit_entry::{self, AuditEntryRow};
use signpost_sql_rows::columns::{IdBytes, Instant, signed};
use signpost_sql_rows::listed;
use signpost_sql_rows::membership::{MembershipRow, RoleRow};
use signpost_sql_rows::session::{SessionHolderRow, SessionRow, into_session_holder};
use signpost_sql_rows::ticket::{TicketRow, invitation_kind, invitations_in};
use signpost_sql_rows::user::UserRow;

/// The maximum length of the lists that have no pages.
const MOST_LISTED: u16 = 100;

cached_query! {
    /// A session with its user, and the user's place in an account. At most one session has a given hash.
    SessionHolderOf -> (
        AsSelect<SessionRow, Pg>,
        AsSelect<UserRow, Pg>,
        AsSelect<Option<RoleRow>, Pg>,
        AsSelect<Option<AccountRow>, Pg>,
        AsSelect<Option<UsageRow>, Pg>,
    ) {
        account: Option<IdBytes> => Nullable<Identifier>,
        hash: Vec<u8> => Binary,
    } = sessions::table
        .inner_join(users::table)
        .left_join(memberships::table.on(
            memberships::user_id.eq(sessions::user_id).and(memberships::account_id.nullable().eq(account))
        ))
        .left_join(accounts::table.on(accounts::id.nullable().eq(memberships::account_id.nullable())))
        .filter(sessions::token_hash.eq(hash))
        .select((
            SessionRow::as_select(),
            UserRow::as_select(),
            Option::<RoleRow>::as_select(),
            Option::<AccountRow>::as_select(),
            Option::<UsageRow>::as_select(),
        ))
}

#[async_trait]
impl PeopleReads for PostgresStore {
    async fn session_holder(
        &self,
        hash: &TokenHash,
        account: Option<AccountId>,
    ) -> Result<Option<SessionHolder>, StoreError> {
        let query = SessionHolderOf { account: account.map(IdBytes::from), hash: hash.to_bytes().to_vec() };
        self.read(async |connection| {
            let found: Vec<SessionHolderRow> = query.load(connection).await?;
            Ok(found.into_iter().next().map(into_session_holder).transpose()?)
        })
        .await
    }

    async fn user(&self, id: UserId) -> Result<Option<User>, StoreError> {
        self.read(async |connection| {
            let found = users::table
                .find(IdBytes::from(id))
                .select(UserRow::as_select())
                .first(connection)
                .await
                .optional()?;
            Ok(found.map(UserRow::into_user).transpose()?)
        })
        .await
    }

    async fn user_with_email(&self, email: &Email) -> Result<Option<User>, StoreError> {
        self.read(async |connection| {
            let found = users::table
                .filter(users::email_key.eq(email.comparison_key()))
                .select(UserRow::as_select())
                .first(connection)
                .await
                .optional()?;
            Ok(found.map(UserRow::into_user).transpose()?)
        })
        .await
    }

    async fn users_with_ids(&self, ids: &[UserId]) -> Result<Vec<User>, StoreError> {
        let ids: Vec<IdBytes> = ids.iter().copied().map(IdBytes::from).collect();
        self.read(async |connection| {
            let query = users::table.filter(users::id.eq_any(ids)).select(UserRow::as_select());
            let rows: Vec<UserRow> = query.load(connection).await?;
            Ok(rows.into_iter().filter_map(listed::readable).collect())
        })
        .await
    }

    async fn users(&self, limit: PageLimit, after: Option<PagePosition>) -> Result<Page<User>, StoreError> {
        let below = after.map_or_else(IdBytes::highest, IdBytes::from);
        self.read(async |connection| {
            let all = users::table.order(users::id.desc()).select(UserRow::as_select()).into_boxed();
            let query = match after {
                Some(_) => all.filter(users::id.lt(below)),
                None => all.filter(users::id.le(below)),
            };
            let rows: Vec<UserRow> =
                InlineLimit { query, number: rows_to_read(limit) }.load(connection).await?;
            Ok(listed::page(rows, limit))
        })
        .await
    }

    async fn any_user(&self) -> Result<bool, StoreError> {
        self.read(async |connection| has_users(connection).await).await
    }

    async fn accounts_of(&self, user: UserId) -> Result<Vec<(Account, Role)>, StoreError> {
        self.read(async |connection| {
            let query = memberships::table
                .inner_join(accounts::table)
                .filter(memberships::user_id.eq(IdBytes::from(user)))
                .order(memberships::account_id)
                .select((RoleRow::as_select(), AccountRow::as_select()));
            let rows: Vec<(RoleRow, AccountRow)> =
                InlineLimit { query, number: MOST_LISTED }.load(connection).await?;
            Ok(rows.into_iter().filter_map(listed::readable).collect())
        })
        .await
    }

    async fn members(
        &self,
        account: AccountId,
        limit: PageLimit,
        after: Option<PagePosition>,
    ) -> Result<Page<AccountMember>, StoreError> {
        let below = after.map_or_else(IdBytes::highest, IdBytes::from);
        self.read(async |connection| {
            let all = memberships::table
                .inner_join(users::table)
                .filter(memberships::account_id.eq(IdBytes::from(account)))
                // The order names both columns of the index, as for sessions.
                .order((memberships::account_id.desc(), memberships::user_id.desc()))
                .select((MembershipRow::as_select(), UserRow::as_select()))
                .into_boxed();
            let query = match after {
                Some(_) => all.filter(memberships::user_id.lt(below)),
                None => all.filter(memberships::user_id.le(below)),
            };
            let rows: Vec<(MembershipRow, UserRow)> =
                InlineLimit { query, number: rows_to_read(limit) }.load(connection).await?;
            Ok(listed::page(rows, limit))
        })
        .await
    }

    async fn sessions(&self, user: UserId) -> Result<Vec<Session>, StoreError> {
        self.read(async |connection| {
            // The order names both columns of the index, so that PostgreSQL does not walk the primary key instead.
            let query = sessions::table
                .filter(sessions::user_id.eq(IdBytes::from(user)))
                .order((sessions::user_id.desc(), sessions::id.desc()))
                .select(SessionRow::as_select());
            let rows: Vec<SessionRow> = InlineLimit { query, number: MOST_LISTED }.load(connection).await?;
            Ok(rows.into_iter().filter_map(listed::readable).collect())
        })
        .await
    }

    async fn invitations(
        &self,
        account: Option<AccountId>,
        now: Timestamp,
    ) -> Result<Vec<Invitation>, StoreError> {
        self.read(async |connection| {
            let valid = tickets::table
                .filter(tickets::kind.eq(invitation_kind()))
                .filter(tickets::expires_at.gt(Instant::from(now)))
                .order((tickets::created_at.desc(), tickets::email_key))
                .limit(signed(INVITATIONS_LISTED))
                .select(TicketRow::as_select())
                .into_boxed();
            // `IS NOT DISTINCT FROM` would not use the index.
            let valid = match account.map(IdBytes::from) {
                Some(account) => valid.filter(tickets::account_id.eq(account)),
                None => valid.filter(tickets::account_id.is_null()),
            };
            Ok(invitations_in(valid.load::<TicketRow>(connection).await?))
        })
        .await
    }

    async fn ticket(&self, hash: &TokenHash) -> Result<Option<Ticket>, StoreError> {
        self.read(async |connection| {
            let found = tickets::table
                .find(hash.to_bytes().to_vec())
                .select(TicketRow::as_select())
                .first(connection)
                .await
                .optional()?;
            Ok(found.map(TicketRow::into_ticket).transpose()?)
        })
        .await
    }

    async fn audit_entries(
        &self,
        scope: AuditScope,
        limit: PageLimit,
        after: Option<PagePosition>,
    ) -> Result<Page<AuditEntry>, StoreError> {
        let account = match scope {
            AuditScope::Account(account) => account,
            AuditScope::Installation => return self.all_audit_entries(limit, after).await,
        };
        self.read(async |connection| {
            let query = NewestRows::<AuditEntryRow>::for_page(audit_entry::TABLE, account, limit, after);
            let rows = query.load(connection).await?;
            Ok(listed::page(rows, limit))
        })
        .await
    }

    async fn matching_audit_entries(
        &self,
        scope: AuditScope,
        filter: &AuditFilter,
        limit: PageLimit,
        after: Option<PagePosition>,
    ) -> Result<Page<AuditEntry>, StoreError> {
        self.read(async |connection| {
            let (rows, last) = search(connection, scope, filter, limit, after).await?;
            Ok(listed::part(rows, limit, last.as_ref()))
        })
        .await
    }
}

impl PostgresStore {
    async fn all_audit_entries(
        &self,
        limit: PageLimit,
        after: Option<PagePosition>,
    ) -> Result<Page<AuditEntry>, StoreError> {
        let below = after.map_or_else(IdBytes::highest, IdBytes::from);
        self.read(async |connection| {
            let all = audit_entries::table
                .order(audit_entries::id.desc())
                .select(AuditEntryRow::as_select())
                .into_boxed();
            let query = match after {
                Some(_) => all.filter(audit_entries::id.lt(below)),
                None => all.filter(audit_entries::id.le(below)),
            };
            let rows: Vec<AuditEntryRow> =
                InlineLimit { query, number: rows_to_read(limit) }.load(connection).await?;
            Ok(listed::page(rows, limit))
        })
        .await
    }
}

pub(crate) async fn has_users(connection: &mut &AsyncPgConnection) -> Result<bool, Failure> {
    // The order makes PostgreSQL use the index instead of scanning the table.
    let oldest = users::table.order(users::id).select(users::id);
    Ok(oldest.first::<IdBytes>(connection).await.optional()?.is_some())
}
