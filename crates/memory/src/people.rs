//! People, their memberships, sessions and tickets, failed sign-ins, and the audit.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use signpost_app::ports::{
    AccountMember, AuditFilter, AuditScope, INVITATIONS_LISTED, Member, PeopleReads, SessionHolder,
    StoreError,
};
use signpost_domain::{
    Account, AccountId, AuditEntry, AuditEntryId, Email, ExternalIdentity, Invitation, Membership, Page,
    PageLimit, PagePosition, Role, Session, SessionId, SignInFailures, SignInKey, Ticket, TicketPurpose,
    Timestamp, TokenHash, User, UserId,
};

use crate::reads::page;
use crate::state::State;
use crate::store::MemoryStore;

/// The maximum length of the lists that have no pages.
const MOST_LISTED: usize = 100;

/// Everything about people. Each part is copied on its first change in a unit of work.
#[derive(Debug, Clone, Default)]
pub(crate) struct People {
    pub(crate) users: Arc<BTreeMap<UserId, User>>,
    pub(crate) memberships: Arc<BTreeMap<(UserId, AccountId), Membership>>,
    pub(crate) sessions: Arc<BTreeMap<SessionId, Session>>,
    /// By the bytes of the hash.
    pub(crate) tickets: Arc<BTreeMap<[u8; 32], Ticket>>,
    pub(crate) failures: Arc<BTreeMap<SignInKey, SignInFailures>>,
    /// Each with its user, and the instant of the binding.
    pub(crate) identities: Arc<BTreeMap<ExternalIdentity, (UserId, Timestamp)>>,
    pub(crate) audit: Arc<BTreeMap<AuditEntryId, AuditEntry>>,
}

impl People {
    /// The user with this e-mail address, compared without case.
    pub(crate) fn with_email(&self, email: &Email) -> Option<&User> {
        let key = email.comparison_key();
        self.users.values().find(|user| user.email.comparison_key() == key)
    }

    pub(crate) fn user_mut(&mut self, id: UserId) -> Option<&mut User> {
        Arc::make_mut(&mut self.users).get_mut(&id)
    }

    pub(crate) fn role_of(&self, user: UserId, account: AccountId) -> Option<Role> {
        self.memberships.get(&(user, account)).map(|membership| membership.role)
    }

    /// Deletes what an account has of people.
    pub(crate) fn forget_account(&mut self, account: AccountId) {
        Arc::make_mut(&mut self.memberships).retain(|(_, of), _| *of != account);
        Arc::make_mut(&mut self.tickets).retain(|_, ticket| account_of(ticket) != Some(account));
    }

    pub(crate) fn failures(&self, key: &SignInKey) -> SignInFailures {
        self.failures.get(key).copied().unwrap_or_default()
    }
}

/// The account that a ticket refers to.
pub(crate) fn account_of(ticket: &Ticket) -> Option<AccountId> {
    match &ticket.purpose {
        TicketPurpose::FirstStart { account } => Some(*account),
        TicketPurpose::Invitation { email: _, joins, is_operator: _ } => joins.map(|(account, _)| account),
        TicketPurpose::PasswordReset { user: _, email: _ } => None,
    }
}

fn member(state: &State, user: UserId, account: AccountId) -> Option<Member> {
    let role = state.people.role_of(user, account)?;
    let usage = state.usage(account)?;
    Some(Member { role, account: state.owned(account)?.account.clone(), usage })
}

#[async_trait]
impl PeopleReads for MemoryStore {
    async fn session_holder(
        &self,
        hash: &TokenHash,
        account: Option<AccountId>,
    ) -> Result<Option<SessionHolder>, StoreError> {
        self.read(|state| {
            let session = state.people.sessions.values().find(|session| session.hash == *hash)?.clone();
            let user = state.people.users.get(&session.user_id)?.clone();
            let member = account.and_then(|account| member(state, user.id, account));
            Some(SessionHolder { session, user, member })
        })
    }

    async fn user(&self, id: UserId) -> Result<Option<User>, StoreError> {
        self.read(|state| state.people.users.get(&id).cloned())
    }

    async fn user_with_email(&self, email: &Email) -> Result<Option<User>, StoreError> {
        self.read(|state| state.people.with_email(email).cloned())
    }

    async fn users_with_ids(&self, ids: &[UserId]) -> Result<Vec<User>, StoreError> {
        self.read(|state| ids.iter().filter_map(|id| state.people.users.get(id).cloned()).collect())
    }

    async fn users(&self, limit: PageLimit, after: Option<PagePosition>) -> Result<Page<User>, StoreError> {
        self.read(|state| page(state.people.users.values().rev(), |user| user.id.to_bytes(), limit, after))
    }

    async fn any_user(&self) -> Result<bool, StoreError> {
        self.read(|state| !state.people.users.is_empty())
    }

    async fn accounts_of(&self, user: UserId) -> Result<Vec<(Account, Role)>, StoreError> {
        self.read(|state| {
            let [lowest, highest] =
                [[0; 16], [u8::MAX; 16]].map(|bytes| (user, AccountId::from_bytes(bytes)));
            let memberships = state.people.memberships.range(lowest..=highest);
            memberships
                .filter_map(|((_, account), membership)| {
                    Some((state.owned(*account)?.account.clone(), membership.role))
                })
                .take(MOST_LISTED)
                .collect()
        })
    }

    async fn members(
        &self,
        account: AccountId,
        limit: PageLimit,
        after: Option<PagePosition>,
    ) -> Result<Page<AccountMember>, StoreError> {
        self.read(|state| {
            let newest_first = state.people.memberships.values().rev();
            let of_account = newest_first.filter(|membership| membership.account_id == account);
            let members: Vec<AccountMember> = of_account
                .filter_map(|Membership { user_id, role, created_at, .. }| {
                    let user = state.people.users.get(user_id)?.clone();
                    Some(AccountMember { user, role: *role, joined_at: *created_at })
                })
                .collect();
            page(members.iter(), |member| member.user.id.to_bytes(), limit, after)
        })
    }

    async fn sessions(&self, user: UserId) -> Result<Vec<Session>, StoreError> {
        self.read(|state| {
            let newest_first = state.people.sessions.values().rev();
            newest_first.filter(|session| session.user_id == user).take(MOST_LISTED).cloned().collect()
        })
    }

    async fn invitations(
        &self,
        account: Option<AccountId>,
        now: Timestamp,
    ) -> Result<Vec<Invitation>, StoreError> {
        self.read(|state| {
            let valid = state.people.tickets.values().filter(|ticket| ticket.is_valid(now)).cloned();
            let mut found: Vec<_> = valid
                .filter_map(Ticket::into_invitation)
                .filter(|invitation| invitation.joins.map(|(account, _)| account) == account)
                .collect();
            found.sort_by_key(|it| (Reverse(it.created_at), it.email.comparison_key()));
            found.truncate(INVITATIONS_LISTED);
            found
        })
    }

    async fn ticket(&self, hash: &TokenHash) -> Result<Option<Ticket>, StoreError> {
        self.read(|state| state.people.tickets.get(&hash.to_bytes()).cloned())
    }

    async fn audit_entries(
        &self,
        scope: AuditScope,
        limit: PageLimit,
        after: Option<PagePosition>,
    ) -> Result<Page<AuditEntry>, StoreError> {
        self.read(|state| {
            let newest_first = state.people.audit.values().rev();
            let in_scope = newest_first.filter(|entry| match scope {
                AuditScope::Account(account) => entry.account_id == Some(account),
                AuditScope::Installation => true,
            });
            page(in_scope, |entry| entry.id.to_bytes(), limit, after)
        })
    }

    async fn matching_audit_entries(
        &self,
        scope: AuditScope,
        filter: &AuditFilter,
        limit: PageLimit,
        after: Option<PagePosition>,
    ) -> Result<Page<AuditEntry>, StoreError> {
        self.read(|state| {
            let newest_first = state.people.audit.values().rev();
            let in_scope = newest_first.filter(|entry| match scope {
                AuditScope::Account(account) => entry.account_id == Some(account),
                AuditScope::Installation => true,
            });
            let matching = in_scope.filter(|entry| filter.holds_for(entry));
            page(matching, |entry| entry.id.to_bytes(), limit, after)
        })
    }
}
