//! Changing people.

use async_trait::async_trait;
use diesel::prelude::*;
use diesel::sql_types::{Bool, Text};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use signpost_app::ports::{MemberChange, PeopleWrites, StoreError, WriteUserError};
use signpost_domain::{
    AccountId, AuditEntry, Email, Membership, Role, Session, SessionId, Ticket, Timestamp, TokenHash, User,
    UserId,
};
use signpost_sql_rows::sql_types::{Identifier, Moment};

use crate::failure::{Failure, is_taken};
use crate::people::has_users;
use crate::schema::{accounts, audit_entries, first_user, memberships, sessions, tickets, users};
use crate::statement::statement;
use crate::unit_of_work::PostgresUnitOfWork;
use signpost_sql_rows::audit_entry::NewAuditEntry;
use signpost_sql_rows::columns::{IdBytes, Instant};
use signpost_sql_rows::membership::RoleRow;
use signpost_sql_rows::session::NewSession;
use signpost_sql_rows::ticket::{NewTicket, TicketRow, invitation_kind};
use signpost_sql_rows::user::{ChangedUser, NewUser, UserRow};

statement! {
    /// Makes a user a member of an account, or changes the role. The locks prevent a foreign-key error, which would abort the
    /// whole transaction.
    PutMember<'a> -> Bool {
        user: IdBytes => Identifier,
        account: IdBytes => Identifier,
        role: &'a str => Text,
        created_at: Instant => Moment,
    } =
    "WITH held AS MATERIALIZED (SELECT u.id AS user_id, a.id AS account_id FROM users AS u, accounts AS a WHERE u.id = \
     $1 AND a.id = $2 FOR KEY SHARE OF u, a) INSERT INTO memberships (user_id, account_id, role, created_at) SELECT \
     h.user_id, h.account_id, $3, $4 FROM held AS h ON CONFLICT (user_id, account_id) DO UPDATE SET role = excluded.role"
}

/// Whether a user exists. Its row is locked, so that a reference to it is valid when it is inserted: a foreign-key error would
/// abort the whole transaction.
pub(crate) async fn holds_user(connection: &mut &AsyncPgConnection, id: IdBytes) -> Result<bool, Failure> {
    let user = users::table.find(id).select(users::theme);
    Ok(user.for_key_share().first::<String>(connection).await.optional()?.is_some())
}

/// Like [`holds_user`], for an account.
async fn holds_account(connection: &mut &AsyncPgConnection, id: IdBytes) -> Result<bool, Failure> {
    let account = accounts::table.find(id).select(accounts::plan);
    Ok(account.for_key_share().first::<String>(connection).await.optional()?.is_some())
}

/// Whether a member may cease to be an owner.
async fn may_go(
    connection: &mut &AsyncPgConnection,
    user: IdBytes,
    account: IdBytes,
) -> Result<MemberChange, Failure> {
    match read_role(connection, user, account).await? {
        None => return Ok(MemberChange::NotAMember),
        Some(Role::Viewer | Role::Editor) => return Ok(MemberChange::Done),
        Some(Role::Owner) => {}
    }
    let other = memberships::table
        .filter(memberships::account_id.eq(account))
        .filter(memberships::user_id.ne(user))
        .filter(memberships::role.eq(Role::Owner.as_str()))
        .select(memberships::role);
    let has_other = other.first::<String>(connection).await.optional()?.is_some();
    Ok(if has_other { MemberChange::Done } else { MemberChange::LastOwner })
}

/// Deletes the invitation of a user to an account.
async fn void_invitation(
    connection: &mut &AsyncPgConnection,
    user: IdBytes,
    account: IdBytes,
) -> Result<(), Failure> {
    let key = users::table.find(user).select(users::email_key);
    let key: String = key.first(connection).await?;
    delete_invitation(connection, &key, Some(account)).await?;
    Ok(())
}

/// Deletes the invitation for an address to an account, or to no account. `false` if there is none.
async fn delete_invitation(
    connection: &mut &AsyncPgConnection,
    email_key: &str,
    account: Option<IdBytes>,
) -> Result<bool, Failure> {
    let invitation = tickets::table
        .filter(tickets::email_key.eq(email_key))
        .filter(tickets::kind.eq(invitation_kind()))
        .filter(tickets::account_id.is_not_distinct_from(account));
    Ok(diesel::delete(invitation).execute(connection).await? > 0)
}

async fn read_role(
    connection: &mut &AsyncPgConnection,
    user: IdBytes,
    account: IdBytes,
) -> Result<Option<Role>, Failure> {
    let found = memberships::table.find((user, account)).select(RoleRow::as_select());
    let found = found.first(connection).await.optional()?;
    Ok(found.map(RoleRow::into_role).transpose()?)
}

#[async_trait]
impl PeopleWrites for PostgresUnitOfWork {
    async fn lock_first_user(&mut self) -> Result<bool, StoreError> {
        self.step(async |connection| {
            if has_users(connection).await? {
                return Ok(true);
            }
            // An inserting transaction holds this row until it commits or rolls back.
            let row = first_user::table.select(first_user::is_the_row);
            row.for_update().first::<bool>(connection).await?;
            has_users(connection).await
        })
        .await
    }

    async fn oldest_account(&mut self) -> Result<Option<AccountId>, StoreError> {
        self.step(async |connection| {
            let oldest = accounts::table.order(accounts::id).select(accounts::id);
            Ok(oldest.first::<IdBytes>(connection).await.optional()?.map(IdBytes::id))
        })
        .await
    }

    async fn insert_user(&mut self, user: &User) -> Result<(), WriteUserError> {
        let is_inserted = self.step(async |connection| {
            // A shared lock: concurrent inserts do not block each other, but `lock_first_user` blocks them.
            let row = first_user::table.select(first_user::is_the_row);
            row.for_key_share().first::<bool>(connection).await?;
            let inserted = diesel::insert_into(users::table)
                .values(NewUser::from(user))
                .on_conflict(users::email_key)
                .do_nothing()
                .execute(connection)
                .await?;
            Ok(inserted > 0)
        });
        if is_inserted.await? { Ok(()) } else { Err(WriteUserError::EmailTaken) }
    }

    async fn lock_user(&mut self, id: UserId) -> Result<Option<User>, StoreError> {
        self.step(async |connection| {
            let found = users::table
                .find(IdBytes::from(id))
                .select(UserRow::as_select())
                .for_update()
                .first(connection)
                .await
                .optional()?;
            Ok(found.map(UserRow::into_user).transpose()?)
        })
        .await
    }

    async fn update_user(&mut self, user: &User) -> Result<(), WriteUserError> {
        let id = IdBytes::from(user.id);
        let is_updated = self.step(async |connection| {
            let holder = users::table.filter(users::email_key.eq(user.email.comparison_key()));
            let other = holder.filter(users::id.ne(id)).select(users::theme);
            if other.first::<String>(connection).await.optional()?.is_some() {
                return Ok(false);
            }
            let update = diesel::update(users::table.find(id)).set(ChangedUser::from(user));
            match update.execute(connection).await {
                Ok(0) => Err(Failure::Other(format!("{} does not exist", user.id))),
                Ok(_) => Ok(true),
                // Another transaction has taken the address since; the next attempt sees its user.
                Err(error) if is_taken(&error, "users_email") => Err(Failure::Contended),
                Err(error) => Err(error.into()),
            }
        });
        if is_updated.await? { Ok(()) } else { Err(WriteUserError::EmailTaken) }
    }

    async fn put_member(&mut self, membership: &Membership) -> Result<bool, StoreError> {
        let Membership { user_id, account_id, role, created_at } = *membership;
        let put = PutMember {
            user: user_id.into(),
            account: account_id.into(),
            role: role.as_str(),
            created_at: created_at.into(),
        };
        self.step(async |connection| Ok(put.execute(connection).await? > 0)).await
    }

    async fn lock_members(&mut self, account: AccountId) -> Result<bool, StoreError> {
        self.step(async |connection| {
            let account = accounts::table.find(IdBytes::from(account)).select(accounts::plan);
            Ok(account.for_no_key_update().first::<String>(connection).await.optional()?.is_some())
        })
        .await
    }

    async fn change_role(
        &mut self,
        user: UserId,
        account: AccountId,
        role: Role,
    ) -> Result<MemberChange, StoreError> {
        let (user, account) = (IdBytes::from(user), IdBytes::from(account));
        self.step(async |connection| {
            let change = may_go(connection, user, account).await?;
            if change == MemberChange::LastOwner && role == Role::Owner {
                return Ok(MemberChange::Done);
            }
            if change == MemberChange::Done {
                let member = diesel::update(memberships::table.find((user, account)));
                member.set(memberships::role.eq(role.as_str())).execute(connection).await?;
                void_invitation(connection, user, account).await?;
            }
            Ok(change)
        })
        .await
    }

    async fn remove_member(&mut self, user: UserId, account: AccountId) -> Result<MemberChange, StoreError> {
        let (user, account) = (IdBytes::from(user), IdBytes::from(account));
        self.step(async |connection| {
            let change = may_go(connection, user, account).await?;
            if change == MemberChange::Done {
                diesel::delete(memberships::table.find((user, account))).execute(connection).await?;
                void_invitation(connection, user, account).await?;
            }
            Ok(change)
        })
        .await
    }

    async fn role_of(&mut self, user: UserId, account: AccountId) -> Result<Option<Role>, StoreError> {
        self.step(async |connection| read_role(connection, user.into(), account.into()).await).await
    }

    async fn insert_session(&mut self, session: &Session) -> Result<bool, StoreError> {
        self.step(async |connection| {
            if !holds_user(connection, session.user_id.into()).await? {
                return Ok(false);
            }
            let row = NewSession::from(session);
            diesel::insert_into(sessions::table).values(row).execute(connection).await?;
            Ok(true)
        })
        .await
    }

    async fn confirm_session(
        &mut self,
        id: SessionId,
        before: &TokenHash,
        after: &TokenHash,
        at: Timestamp,
    ) -> Result<bool, StoreError> {
        let [before, after] = [before, after].map(|hash| hash.to_bytes().to_vec());
        self.step(async |connection| {
            let session = sessions::table.find(IdBytes::from(id)).filter(sessions::token_hash.eq(before));
            let change = (sessions::token_hash.eq(after), sessions::confirmed_at.eq(Instant::from(at)));
            Ok(diesel::update(session).set(change).execute(connection).await? > 0)
        })
        .await
    }

    async fn end_session(&mut self, user: UserId, id: SessionId) -> Result<bool, StoreError> {
        self.step(async |connection| {
            let session = sessions::table.find(IdBytes::from(id));
            let session = session.filter(sessions::user_id.eq(IdBytes::from(user)));
            Ok(diesel::delete(session).execute(connection).await? > 0)
        })
        .await
    }

    async fn end_sessions(&mut self, user: UserId, kept: Option<SessionId>) -> Result<u64, StoreError> {
        self.step(async |connection| {
            let all = sessions::table.filter(sessions::user_id.eq(IdBytes::from(user)));
            let ended = match kept.map(IdBytes::from) {
                Some(kept) => diesel::delete(all.filter(sessions::id.ne(kept))).execute(connection).await?,
                None => diesel::delete(all).execute(connection).await?,
            };
            Ok(u64::try_from(ended).unwrap_or(u64::MAX))
        })
        .await
    }

    async fn insert_ticket(&mut self, ticket: &Ticket) -> Result<bool, StoreError> {
        self.step(async |connection| {
            let row = NewTicket::from(ticket);
            if let Some(user) = row.user_id()
                && !holds_user(connection, user).await?
            {
                return Ok(false);
            }
            if let Some(account) = row.account_id()
                && !holds_account(connection, account).await?
            {
                return Ok(false);
            }
            diesel::insert_into(tickets::table)
                .values(row)
                .on_conflict((tickets::email_key, tickets::kind))
                .do_update()
                .set(NewTicket::from(ticket))
                .execute(connection)
                .await?;
            Ok(true)
        })
        .await
    }

    async fn take_ticket(&mut self, hash: &TokenHash) -> Result<Option<Ticket>, StoreError> {
        self.step(async |connection| {
            let taken = diesel::delete(tickets::table.find(hash.to_bytes().to_vec()))
                .returning(TicketRow::as_returning())
                .get_result(connection)
                .await
                .optional()?;
            Ok(taken.map(TicketRow::into_ticket).transpose()?)
        })
        .await
    }

    async fn withdraw_invitation(
        &mut self,
        email: &Email,
        account: Option<AccountId>,
    ) -> Result<bool, StoreError> {
        let account = account.map(IdBytes::from);
        self.step(async |connection| delete_invitation(connection, &email.comparison_key(), account).await)
            .await
    }

    async fn void_tickets(&mut self, email: &Email) -> Result<(), StoreError> {
        self.step(async |connection| {
            let all = tickets::table.filter(tickets::email_key.eq(email.comparison_key()));
            diesel::delete(all).execute(connection).await?;
            Ok(())
        })
        .await
    }

    async fn record(&mut self, entry: &AuditEntry) -> Result<(), StoreError> {
        self.step(async |connection| {
            let row = NewAuditEntry::from(entry);
            diesel::insert_into(audit_entries::table).values(row).execute(connection).await?;
            Ok(())
        })
        .await
    }
}
