//! Changing people.

use async_trait::async_trait;
use diesel::dsl::exists;
use diesel::prelude::*;
use signpost_app::ports::{MemberChange, PeopleWrites, StoreError, WriteUserError};
use signpost_domain::{
    AccountId, AuditEntry, Email, Membership, Role, Session, SessionId, Ticket, Timestamp, TokenHash, User,
    UserId,
};

use crate::failure::Failure;
use crate::people::{has_users, read_user};
use crate::schema::{accounts, audit_entries, memberships, sessions, tickets, users};
use crate::sql_errors::{is_taken, refers_to_nothing};
use crate::unit_of_work::{SqliteUnitOfWork, Stop};
use signpost_sql_rows::audit_entry::NewAuditEntry;
use signpost_sql_rows::columns::{IdBytes, Instant, StoredId};
use signpost_sql_rows::membership::{NewMembership, RoleRow};
use signpost_sql_rows::session::NewSession;
use signpost_sql_rows::ticket::{NewTicket, TicketRow, invitation_kind};
use signpost_sql_rows::user::{ChangedUser, NewUser};

/// Whether an insertion succeeded. It did not if it refers to a missing row; any other error is a failure.
fn is_inserted(outcome: QueryResult<usize>) -> Result<bool, Failure> {
    match outcome {
        Ok(_) => Ok(true),
        Err(error) if refers_to_nothing(&error) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Whether a member may cease to be an owner.
fn may_go(
    connection: &mut SqliteConnection,
    user: IdBytes,
    account: IdBytes,
) -> Result<MemberChange, Failure> {
    let role = read_role(connection, user, account)?;
    let others = memberships::table
        .filter(memberships::account_id.eq(account))
        .filter(memberships::user_id.ne(user))
        .filter(memberships::role.eq(Role::Owner.as_str()));
    Ok(match role {
        None => MemberChange::NotAMember,
        Some(Role::Owner) if !diesel::select(exists(others)).get_result(connection)? => {
            MemberChange::LastOwner
        }
        Some(Role::Viewer | Role::Editor | Role::Owner) => MemberChange::Done,
    })
}

/// Deletes the invitation of a user to an account.
fn void_invitation(
    connection: &mut SqliteConnection,
    user: IdBytes,
    account: IdBytes,
) -> Result<(), Failure> {
    let key: String = users::table.find(user).select(users::email_key).first(connection)?;
    delete_invitation(connection, &key, Some(account))?;
    Ok(())
}

/// Deletes the invitation for an address to an account, or to no account. `false` if there is none.
fn delete_invitation(
    connection: &mut SqliteConnection,
    email_key: &str,
    account: Option<IdBytes>,
) -> Result<bool, Failure> {
    let invitation = tickets::table
        .filter(tickets::email_key.eq(email_key))
        .filter(tickets::kind.eq(invitation_kind()))
        .filter(tickets::account_id.is(account));
    Ok(diesel::delete(invitation).execute(connection)? > 0)
}

fn read_role(
    connection: &mut SqliteConnection,
    user: IdBytes,
    account: IdBytes,
) -> Result<Option<Role>, Failure> {
    let found =
        memberships::table.find((user, account)).select(RoleRow::as_select()).first(connection).optional()?;
    Ok(found.map(RoleRow::into_role).transpose()?)
}

#[async_trait]
impl PeopleWrites for SqliteUnitOfWork {
    async fn lock_first_user(&mut self) -> Result<bool, StoreError> {
        // There is one writer.
        self.step(has_users).await
    }

    async fn oldest_account(&mut self) -> Result<Option<AccountId>, StoreError> {
        let step = |connection: &mut SqliteConnection| {
            let oldest = accounts::table
                .filter(accounts::id.ge(IdBytes::lowest()))
                .order(accounts::id)
                .select(accounts::id)
                .first::<StoredId>(connection)
                .optional()?;
            Ok(oldest.map(|id| id.bytes("accounts")).transpose()?.map(AccountId::from_bytes))
        };
        self.step(step).await
    }

    async fn insert_user(&mut self, user: &User) -> Result<(), WriteUserError> {
        let user = user.clone();
        let step = move |connection: &mut SqliteConnection| {
            let inserted = diesel::insert_into(users::table)
                .values(NewUser::from(&user))
                .on_conflict(users::email_key)
                .do_nothing()
                .execute(connection)?;
            if inserted == 0 { Err(Stop::Decided(WriteUserError::EmailTaken)) } else { Ok(()) }
        };
        self.decide(step).await?
    }

    async fn lock_user(&mut self, id: UserId) -> Result<Option<User>, StoreError> {
        self.step(move |connection| read_user(connection, id)).await
    }

    async fn update_user(&mut self, user: &User) -> Result<(), WriteUserError> {
        let user = user.clone();
        let step = move |connection: &mut SqliteConnection| {
            let updated = diesel::update(users::table.find(IdBytes::from(user.id)))
                .set(ChangedUser::from(&user))
                .execute(connection);
            match updated {
                Ok(0) => Err(Failure::Other(format!("{} does not exist", user.id)).into()),
                Ok(_) => Ok(()),
                Err(error) if is_taken(&error, "users.email_key") => {
                    Err(Stop::Decided(WriteUserError::EmailTaken))
                }
                Err(error) => Err(error.into()),
            }
        };
        self.decide(step).await?
    }

    async fn put_member(&mut self, membership: &Membership) -> Result<bool, StoreError> {
        let membership = *membership;
        let step = move |connection: &mut SqliteConnection| {
            let put = diesel::insert_into(memberships::table)
                .values(NewMembership::from(&membership))
                .on_conflict((memberships::user_id, memberships::account_id))
                .do_update()
                .set(memberships::role.eq(membership.role.as_str()))
                .execute(connection);
            is_inserted(put)
        };
        self.step(step).await
    }

    async fn lock_members(&mut self, account: AccountId) -> Result<bool, StoreError> {
        // There is one writer.
        let step = move |connection: &mut SqliteConnection| {
            Ok(diesel::select(exists(accounts::table.find(IdBytes::from(account)))).get_result(connection)?)
        };
        self.step(step).await
    }

    async fn change_role(
        &mut self,
        user: UserId,
        account: AccountId,
        role: Role,
    ) -> Result<MemberChange, StoreError> {
        let (user, account) = (IdBytes::from(user), IdBytes::from(account));
        let step = move |connection: &mut SqliteConnection| {
            let change = may_go(connection, user, account)?;
            if change == MemberChange::LastOwner && role == Role::Owner {
                return Ok(MemberChange::Done);
            }
            if change == MemberChange::Done {
                diesel::update(memberships::table.find((user, account)))
                    .set(memberships::role.eq(role.as_str()))
                    .execute(connection)?;
                void_invitation(connection, user, account)?;
            }
            Ok(change)
        };
        self.step(step).await
    }

    async fn remove_member(&mut self, user: UserId, account: AccountId) -> Result<MemberChange, StoreError> {
        let (user, account) = (IdBytes::from(user), IdBytes::from(account));
        let step = move |connection: &mut SqliteConnection| {
            let change = may_go(connection, user, account)?;
            if change == MemberChange::Done {
                diesel::delete(memberships::table.find((user, account))).execute(connection)?;
                void_invitation(connection, user, account)?;
            }
            Ok(change)
        };
        self.step(step).await
    }

    async fn role_of(&mut self, user: UserId, account: AccountId) -> Result<Option<Role>, StoreError> {
        self.step(move |connection| read_role(connection, user.into(), account.into())).await
    }

    async fn insert_session(&mut self, session: &Session) -> Result<bool, StoreError> {
        let session = session.clone();
        let step = move |connection: &mut SqliteConnection| {
            is_inserted(
                diesel::insert_into(sessions::table).values(NewSession::from(&session)).execute(connection),
            )
        };
        self.step(step).await
    }

    async fn confirm_session(
        &mut self,
        id: SessionId,
        before: &TokenHash,
        after: &TokenHash,
        at: Timestamp,
    ) -> Result<bool, StoreError> {
        let [before, after] = [before, after].map(|hash| hash.to_bytes().to_vec());
        let step = move |connection: &mut SqliteConnection| {
            let session = sessions::table.find(IdBytes::from(id)).filter(sessions::token_hash.eq(before));
            let change = (sessions::token_hash.eq(after), sessions::confirmed_at.eq(Instant::from(at)));
            Ok(diesel::update(session).set(change).execute(connection)? > 0)
        };
        self.step(step).await
    }

    async fn end_session(&mut self, user: UserId, id: SessionId) -> Result<bool, StoreError> {
        let step = move |connection: &mut SqliteConnection| {
            let session =
                sessions::table.find(IdBytes::from(id)).filter(sessions::user_id.eq(IdBytes::from(user)));
            Ok(diesel::delete(session).execute(connection)? > 0)
        };
        self.step(step).await
    }

    async fn end_sessions(&mut self, user: UserId, kept: Option<SessionId>) -> Result<u64, StoreError> {
        let step = move |connection: &mut SqliteConnection| {
            let all = sessions::table.filter(sessions::user_id.eq(IdBytes::from(user)));
            let ended = match kept.map(IdBytes::from) {
                Some(kept) => diesel::delete(all.filter(sessions::id.ne(kept))).execute(connection)?,
                None => diesel::delete(all).execute(connection)?,
            };
            Ok(u64::try_from(ended).unwrap_or(u64::MAX))
        };
        self.step(step).await
    }

    async fn insert_ticket(&mut self, ticket: &Ticket) -> Result<bool, StoreError> {
        let ticket = ticket.clone();
        let step = move |connection: &mut SqliteConnection| {
            let inserted = diesel::insert_into(tickets::table)
                .values(NewTicket::from(&ticket))
                .on_conflict((tickets::email_key, tickets::kind))
                .do_update()
                .set(NewTicket::from(&ticket))
                .execute(connection);
            is_inserted(inserted)
        };
        self.step(step).await
    }

    async fn take_ticket(&mut self, hash: &TokenHash) -> Result<Option<Ticket>, StoreError> {
        let hash = hash.to_bytes().to_vec();
        let step = move |connection: &mut SqliteConnection| {
            let taken = diesel::delete(tickets::table.find(hash))
                .returning(TicketRow::as_returning())
                .get_result(connection)
                .optional()?;
            Ok(taken.map(TicketRow::into_ticket).transpose()?)
        };
        self.step(step).await
    }

    async fn withdraw_invitation(
        &mut self,
        email: &Email,
        account: Option<AccountId>,
    ) -> Result<bool, StoreError> {
        let key = email.comparison_key();
        let account = account.map(IdBytes::from);
        self.step(move |connection| delete_invitation(connection, &key, account)).await
    }

    async fn void_tickets(&mut self, email: &Email) -> Result<(), StoreError> {
        let key = email.comparison_key();
        let step = move |connection: &mut SqliteConnection| {
            diesel::delete(tickets::table.filter(tickets::email_key.eq(key))).execute(connection)?;
            Ok(())
        };
        self.step(step).await
    }

    async fn record(&mut self, entry: &AuditEntry) -> Result<(), StoreError> {
        let entry = entry.clone();
        let step = move |connection: &mut SqliteConnection| {
            diesel::insert_into(audit_entries::table)
                .values(NewAuditEntry::from(&entry))
                .execute(connection)?;
            Ok(())
        };
        self.step(step).await
    }
}
