//! Changing people.

use std::sync::Arc;

use async_trait::async_trait;
use signpost_app::ports::{MemberChange, PeopleWrites, StoreError, WriteUserError};
use signpost_domain::{
    AccountId, AuditEntry, Email, Membership, Role, Session, SessionId, Ticket, TicketPurpose, Timestamp,
    TokenHash, User, UserId,
};

use crate::people::{People, account_of};
use crate::state::{absent, twice};
use crate::unit_of_work::MemoryUnitOfWork;

impl People {
    /// Writes a user, unless another one has its e-mail address.
    fn write_user(&mut self, user: &User) -> Result<(), WriteUserError> {
        if self.with_email(&user.email).is_some_and(|other| other.id != user.id) {
            return Err(WriteUserError::EmailTaken);
        }
        Arc::make_mut(&mut self.users).insert(user.id, user.clone());
        Ok(())
    }

    /// Deletes the invitation of a user to an account.
    fn void_invitation(&mut self, user: UserId, account: AccountId) {
        let key = self.users.get(&user).map(|user| user.email.comparison_key());
        if let Some(key) = key {
            self.delete_invitation(&key, Some(account));
        }
    }

    /// Deletes the invitation for an address to an account, or to no account. `false` if there is none.
    fn delete_invitation(&mut self, email_key: &str, account: Option<AccountId>) -> bool {
        let is_it = |ticket: &Ticket| match &ticket.purpose {
            TicketPurpose::Invitation { email, joins, is_operator: _ } => {
                email.comparison_key() == email_key && joins.map(|(account, _)| account) == account
            }
            TicketPurpose::FirstStart { .. } | TicketPurpose::PasswordReset { .. } => false,
        };
        let before = self.tickets.len();
        Arc::make_mut(&mut self.tickets).retain(|_, ticket| !is_it(ticket));
        self.tickets.len() < before
    }

    /// Whether a member may cease to be an owner.
    fn may_go(&self, user: UserId, account: AccountId) -> MemberChange {
        let is_owner = |membership: &Membership| membership.role == Role::Owner;
        let has_other_owner = self.memberships.values().any(|membership| {
            membership.account_id == account && membership.user_id != user && is_owner(membership)
        });
        match self.memberships.get(&(user, account)) {
            None => MemberChange::NotAMember,
            Some(member) if is_owner(member) && !has_other_owner => MemberChange::LastOwner,
            Some(_) => MemberChange::Done,
        }
    }
}

#[async_trait]
impl PeopleWrites for MemoryUnitOfWork {
    /// Units of work run one by one.
    async fn lock_first_user(&mut self) -> Result<bool, StoreError> {
        self.write(|state| Ok(!state.people.users.is_empty()))
    }

    async fn oldest_account(&mut self) -> Result<Option<AccountId>, StoreError> {
        self.write(|state| Ok(state.all().next().map(|owned| owned.account.id)))
    }

    async fn insert_user(&mut self, user: &User) -> Result<(), WriteUserError> {
        self.write(|state| {
            if state.people.users.contains_key(&user.id) {
                return Err(twice(user.id).into());
            }
            state.people.write_user(user)
        })
    }

    async fn lock_user(&mut self, id: UserId) -> Result<Option<User>, StoreError> {
        self.write(|state| Ok(state.people.users.get(&id).cloned()))
    }

    async fn update_user(&mut self, user: &User) -> Result<(), WriteUserError> {
        self.write(|state| {
            let before = state.people.users.get(&user.id).ok_or_else(|| absent(user.id))?;
            let user = User { created_at: before.created_at, ..user.clone() };
            state.people.write_user(&user)
        })
    }

    async fn put_member(&mut self, membership: &Membership) -> Result<bool, StoreError> {
        self.write(|state| {
            let Membership { user_id, account_id, role, created_at: _ } = *membership;
            if !state.people.users.contains_key(&user_id) || state.owned(account_id).is_none() {
                return Ok(false);
            }
            let memberships = Arc::make_mut(&mut state.people.memberships);
            memberships.entry((user_id, account_id)).or_insert(*membership).role = role;
            Ok(true)
        })
    }

    async fn lock_members(&mut self, account: AccountId) -> Result<bool, StoreError> {
        self.write(|state| Ok(state.owned(account).is_some()))
    }

    async fn change_role(
        &mut self,
        user: UserId,
        account: AccountId,
        role: Role,
    ) -> Result<MemberChange, StoreError> {
        self.write(|state| {
            let change = state.people.may_go(user, account);
            if change == MemberChange::LastOwner && role == Role::Owner {
                return Ok(MemberChange::Done);
            }
            if change == MemberChange::Done {
                let memberships = Arc::make_mut(&mut state.people.memberships);
                memberships.entry((user, account)).and_modify(|membership| membership.role = role);
                state.people.void_invitation(user, account);
            }
            Ok(change)
        })
    }

    async fn remove_member(&mut self, user: UserId, account: AccountId) -> Result<MemberChange, StoreError> {
        self.write(|state| {
            let people = &mut state.people;
            let change = people.may_go(user, account);
            if change == MemberChange::Done {
                Arc::make_mut(&mut people.memberships).remove(&(user, account));
                people.void_invitation(user, account);
            }
            Ok(change)
        })
    }

    async fn role_of(&mut self, user: UserId, account: AccountId) -> Result<Option<Role>, StoreError> {
        self.write(|state| Ok(state.people.role_of(user, account)))
    }

    async fn insert_session(&mut self, session: &Session) -> Result<bool, StoreError> {
        self.write(|state| {
            if state.people.sessions.contains_key(&session.id) {
                return Err(twice(session.id));
            }
            if !state.people.users.contains_key(&session.user_id) {
                return Ok(false);
            }
            Arc::make_mut(&mut state.people.sessions).insert(session.id, session.clone());
            Ok(true)
        })
    }

    async fn confirm_session(
        &mut self,
        id: SessionId,
        before: &TokenHash,
        after: &TokenHash,
        at: Timestamp,
    ) -> Result<bool, StoreError> {
        self.write(|state| {
            let session = Arc::make_mut(&mut state.people.sessions).get_mut(&id);
            let Some(session) = session.filter(|session| session.hash == *before) else { return Ok(false) };
            session.hash = *after;
            session.confirmed_at = at;
            Ok(true)
        })
    }

    async fn end_session(&mut self, user: UserId, id: SessionId) -> Result<bool, StoreError> {
        self.write(|state| {
            let is_there = state.people.sessions.get(&id).is_some_and(|session| session.user_id == user);
            if is_there {
                Arc::make_mut(&mut state.people.sessions).remove(&id);
            }
            Ok(is_there)
        })
    }

    async fn end_sessions(&mut self, user: UserId, kept: Option<SessionId>) -> Result<u64, StoreError> {
        self.write(|state| {
            let sessions = Arc::make_mut(&mut state.people.sessions);
            let before = sessions.len();
            sessions.retain(|id, session| session.user_id != user || Some(*id) == kept);
            Ok(u64::try_from(before - sessions.len()).unwrap_or(u64::MAX))
        })
    }

    async fn insert_ticket(&mut self, ticket: &Ticket) -> Result<bool, StoreError> {
        self.write(|state| {
            if account_of(ticket).is_some_and(|account| state.owned(account).is_none()) {
                return Ok(false);
            }
            if let TicketPurpose::PasswordReset { user, email: _ } = &ticket.purpose
                && !state.people.users.contains_key(user)
            {
                return Ok(false);
            }
            let key =
                |ticket: &Ticket| (ticket.purpose.kind(), ticket.purpose.email().map(Email::comparison_key));
            let tickets = Arc::make_mut(&mut state.people.tickets);
            tickets.retain(|_, older| key(older) != key(ticket));
            tickets.insert(ticket.hash.to_bytes(), ticket.clone());
            Ok(true)
        })
    }

    async fn take_ticket(&mut self, hash: &TokenHash) -> Result<Option<Ticket>, StoreError> {
        self.write(|state| Ok(Arc::make_mut(&mut state.people.tickets).remove(&hash.to_bytes())))
    }

    async fn withdraw_invitation(
        &mut self,
        email: &Email,
        account: Option<AccountId>,
    ) -> Result<bool, StoreError> {
        self.write(|state| Ok(state.people.delete_invitation(&email.comparison_key(), account)))
    }

    async fn void_tickets(&mut self, email: &Email) -> Result<(), StoreError> {
        self.write(|state| {
            let key = Some(email.comparison_key());
            let is_for = |ticket: &Ticket| ticket.purpose.email().map(Email::comparison_key) == key;
            Arc::make_mut(&mut state.people.tickets).retain(|_, ticket| !is_for(ticket));
            Ok(())
        })
    }

    async fn record(&mut self, entry: &AuditEntry) -> Result<(), StoreError> {
        self.write(|state| {
            if state.people.audit.contains_key(&entry.id) {
                return Err(twice(entry.id));
            }
            Arc::make_mut(&mut state.people.audit).insert(entry.id, entry.clone());
            Ok(())
        })
    }
}
