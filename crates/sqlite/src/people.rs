//! Reading people.

use async_trait::async_trait;
use diesel::dsl::exists;
use diesel::prelude::*;
use signpost_app::ports::{
    AccountMember, AuditFilter, AuditScope, INVITATIONS_LISTED, PeopleReads, SessionHolder, StoreError,
};
use signpost_domain::{
    Account, AccountId, AuditEntry, Email, Invitation, Page, PageLimit, PagePosition, Role, Session, Ticket,
    Timestamp, TokenHash, User, UserId,
};

use crate::audit_search::search;
use crate::columns::UpperBound;
use crate::failure::Failure;
use crate::schema::{accounts, audit_entries, memberships, sessions, tickets, users};
use crate::store::SqliteStore;
use signpost_sql_rows::account::{AccountRow, UsageRow};
use signpost_sql_rows::audit_entry::AuditEntryRow;
use signpost_sql_rows::columns::{IdBytes, Instant, signed};
use signpost_sql_rows::listed;
use signpost_sql_rows::membership::{MembershipRow, RoleRow};
use signpost_sql_rows::session::{SessionHolderRow, SessionRow, into_session_holder};
use signpost_sql_rows::ticket::{TicketRow, invitation_kind, invitations_in};
use signpost_sql_rows::user::UserRow;

/// The maximum length of the lists that have no pages.
const MOST_LISTED: i64 = 100;

#[async_trait]
impl PeopleReads for SqliteStore {
    async fn session_holder(
        &self,
        hash: &TokenHash,
        account: Option<AccountId>,
    ) -> Result<Option<SessionHolder>, StoreError> {
        let hash = hash.to_bytes().to_vec();
        let account = account.map(IdBytes::from);
        let read = move |connection: &mut SqliteConnection| {
            let in_account = memberships::user_id
                .eq(sessions::user_id)
                .and(memberships::account_id.nullable().eq(account));
            let found = sessions::table
                .inner_join(users::table)
                .left_join(memberships::table.on(in_account))
                .left_join(accounts::table.on(accounts::id.nullable().eq(memberships::account_id.nullable())))
                .filter(sessions::token_hash.eq(hash))
                .select((
                    SessionRow::as_select(),
                    UserRow::as_select(),
                    Option::<RoleRow>::as_select(),
                    Option::<AccountRow>::as_select(),
                    Option::<UsageRow>::as_select(),
                ))
                .first::<SessionHolderRow>(connection)
                .optional()?;
            Ok(found.map(into_session_holder).transpose()?)
        };
        self.readers().read(read).await
    }

    async fn user(&self, id: UserId) -> Result<Option<User>, StoreError> {
        self.readers().read(move |connection| read_user(connection, id)).await
    }

    async fn user_with_email(&self, email: &Email) -> Result<Option<User>, StoreError> {
        let key = email.comparison_key();
        let read = move |connection: &mut SqliteConnection| {
            let found = users::table
                .filter(users::email_key.eq(key))
                .select(UserRow::as_select())
                .first(connection)
                .optional()?;
            Ok(found.map(UserRow::into_user).transpose()?)
        };
        self.readers().read(read).await
    }

    async fn users_with_ids(&self, ids: &[UserId]) -> Result<Vec<User>, StoreError> {
        let ids: Vec<IdBytes> = ids.iter().copied().map(IdBytes::from).collect();
        let read = move |connection: &mut SqliteConnection| {
            let found = users::table.filter(users::id.eq_any(ids)).select(UserRow::as_select());
            Ok(found.load::<UserRow>(connection)?)
        };
        Ok(self.readers().read(read).await?.into_iter().filter_map(listed::readable).collect())
    }

    async fn users(&self, limit: PageLimit, after: Option<PagePosition>) -> Result<Page<User>, StoreError> {
        let read = move |connection: &mut SqliteConnection| {
            let rows = users::table
                .filter(users::id.lt(UpperBound::from(after)))
                .order(users::id.desc())
                .limit(i64::from(limit.get()) + 1)
                .select(UserRow::as_select())
                .load::<UserRow>(connection)?;
            Ok(rows)
        };
        Ok(listed::page(self.readers().read(read).await?, limit))
    }

    async fn any_user(&self) -> Result<bool, StoreError> {
        self.readers().read(has_users).await
    }

    async fn accounts_of(&self, user: UserId) -> Result<Vec<(Account, Role)>, StoreError> {
        let read = move |connection: &mut SqliteConnection| {
            let rows = memberships::table
                .inner_join(accounts::table)
                .filter(memberships::user_id.eq(IdBytes::from(user)))
                .order(memberships::account_id)
                .limit(MOST_LISTED)
                .select((RoleRow::as_select(), AccountRow::as_select()))
                .load::<(RoleRow, AccountRow)>(connection)?;
            Ok(rows)
        };
        Ok(self.readers().read(read).await?.into_iter().filter_map(listed::readable).collect())
    }

    async fn members(
        &self,
        account: AccountId,
        limit: PageLimit,
        after: Option<PagePosition>,
    ) -> Result<Page<AccountMember>, StoreError> {
        let read = move |connection: &mut SqliteConnection| {
            let rows = memberships::table
                .inner_join(users::table)
                .filter(memberships::account_id.eq(IdBytes::from(account)))
                .filter(memberships::user_id.lt(UpperBound::from(after)))
                .order(memberships::user_id.desc())
                .limit(i64::from(limit.get()) + 1)
                .select((MembershipRow::as_select(), UserRow::as_select()))
                .load::<(MembershipRow, UserRow)>(connection)?;
            Ok(rows)
        };
        Ok(listed::page(self.readers().read(read).await?, limit))
    }

    async fn sessions(&self, user: UserId) -> Result<Vec<Session>, StoreError> {
        let read = move |connection: &mut SqliteConnection| {
            let rows = sessions::table
                .filter(sessions::user_id.eq(IdBytes::from(user)))
                .order(sessions::id.desc())
                .limit(MOST_LISTED)
                .select(SessionRow::as_select())
                .load::<SessionRow>(connection)?;
            Ok(rows)
        };
        Ok(self.readers().read(read).await?.into_iter().filter_map(listed::readable).collect())
    }

    async fn invitations(
        &self,
        account: Option<AccountId>,
        now: Timestamp,
    ) -> Result<Vec<Invitation>, StoreError> {
        let read = move |connection: &mut SqliteConnection| {
            let rows = tickets::table
                .filter(tickets::account_id.is(account.map(IdBytes::from)))
                .filter(tickets::kind.eq(invitation_kind()))
                .filter(tickets::expires_at.gt(Instant::from(now)))
                .order((tickets::created_at.desc(), tickets::email_key))
                .limit(signed(INVITATIONS_LISTED))
                .select(TicketRow::as_select())
                .load::<TicketRow>(connection)?;
            Ok(rows)
        };
        Ok(invitations_in(self.readers().read(read).await?))
    }

    async fn ticket(&self, hash: &TokenHash) -> Result<Option<Ticket>, StoreError> {
        let hash = hash.to_bytes().to_vec();
        let read = move |connection: &mut SqliteConnection| {
            let found =
                tickets::table.find(hash).select(TicketRow::as_select()).first(connection).optional()?;
            Ok(found.map(TicketRow::into_ticket).transpose()?)
        };
        self.readers().read(read).await
    }

    async fn audit_entries(
        &self,
        scope: AuditScope,
        limit: PageLimit,
        after: Option<PagePosition>,
    ) -> Result<Page<AuditEntry>, StoreError> {
        let read = move |connection: &mut SqliteConnection| {
            let newest_first = audit_entries::table
                .filter(audit_entries::id.lt(UpperBound::from(after)))
                .order(audit_entries::id.desc())
                .limit(i64::from(limit.get()) + 1)
                .select(AuditEntryRow::as_select())
                .into_boxed();
            let rows = match scope {
                AuditScope::Account(account) => {
                    newest_first.filter(audit_entries::account_id.eq(IdBytes::from(account)))
                }
                AuditScope::Installation => newest_first,
            };
            Ok(rows.load::<AuditEntryRow>(connection)?)
        };
        Ok(listed::page(self.readers().read(read).await?, limit))
    }

    async fn matching_audit_entries(
        &self,
        scope: AuditScope,
        filter: &AuditFilter,
        limit: PageLimit,
        after: Option<PagePosition>,
    ) -> Result<Page<AuditEntry>, StoreError> {
        let filter = filter.clone();
        let read = move |connection: &mut SqliteConnection| search(connection, scope, &filter, limit, after);
        let (rows, last) = self.readers().read(read).await?;
        Ok(listed::part(rows, limit, last.as_ref()))
    }
}

pub(crate) fn read_user(connection: &mut SqliteConnection, id: UserId) -> Result<Option<User>, Failure> {
    let found =
        users::table.find(IdBytes::from(id)).select(UserRow::as_select()).first(connection).optional()?;
    Ok(found.map(UserRow::into_user).transpose()?)
}

pub(crate) fn has_users(connection: &mut SqliteConnection) -> Result<bool, Failure> {
    let any = users::table.filter(users::id.lt(UpperBound::None));
    Ok(diesel::select(exists(any)).get_result(connection)?)
}
