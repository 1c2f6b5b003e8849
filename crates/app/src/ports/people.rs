//! Users, their memberships and sessions, and tickets in the store (D68–D72, D78).

use async_trait::async_trait;
use signpost_domain::{
    Account, AccountId, ApiKeyId, AuditEntry, Email, Invitation, Membership, Page, PageLimit, PagePosition,
    Role, Session, SessionId, SignInFailures, SignInKey, Ticket, Timestamp, TokenHash, Usage, User, UserId,
};

use super::audit_filter::AuditFilter;
use super::store_error::StoreError;

/// A session with its user, and the user's place in an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionHolder {
    /// The session, which may have ended.
    pub session: Session,
    /// Its user, who may be disabled.
    pub user: User,
    /// The user's place in the account that was asked for. `None` if the user is not a member of it, or if the account does
    /// not exist.
    pub member: Option<Member>,
}

/// The place of a user in an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// The role.
    pub role: Role,
    /// The account.
    pub account: Account,
    /// The account's usage of its plan's limits.
    pub usage: Usage,
}

/// A user as a member of an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountMember {
    /// The user.
    pub user: User,
    /// The role in the account.
    pub role: Role,
    /// When the user joined.
    pub joined_at: Timestamp,
}

/// Which entries of the audit are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuditScope {
    /// Those of one account.
    Account(AccountId),
    /// All of them.
    Installation,
}

/// How many invitations [`PeopleReads::invitations`] returns at most.
pub const INVITATIONS_LISTED: usize = 100;

/// Reading people.
#[async_trait]
pub trait PeopleReads: Send + Sync {
    /// The session with this token hash, its user, and the user's place in `account` if one is given, in one round trip. Every
    /// request to the dashboard begins with this call.
    async fn session_holder(
        &self,
        hash: &TokenHash,
        account: Option<AccountId>,
    ) -> Result<Option<SessionHolder>, StoreError>;

    /// The user with this id.
    async fn user(&self, id: UserId) -> Result<Option<User>, StoreError>;

    /// The user with this e-mail address, compared without case.
    async fn user_with_email(&self, email: &Email) -> Result<Option<User>, StoreError>;

    /// The users with these ids, at most a hundred, in no order. Unknown ids are left out.
    async fn users_with_ids(&self, ids: &[UserId]) -> Result<Vec<User>, StoreError>;

    /// One page of all users, newest (highest id) first.
    async fn users(&self, limit: PageLimit, after: Option<PagePosition>) -> Result<Page<User>, StoreError>;

    /// Whether there is any user.
    async fn any_user(&self) -> Result<bool, StoreError>;

    /// The accounts that a user is a member of, with the role, oldest account (lowest id) first, at most a hundred.
    async fn accounts_of(&self, user: UserId) -> Result<Vec<(Account, Role)>, StoreError>;

    /// One page of the members of an account, newest user (highest id) first.
    async fn members(
        &self,
        account: AccountId,
        limit: PageLimit,
        after: Option<PagePosition>,
    ) -> Result<Page<AccountMember>, StoreError>;

    /// The sessions of a user, newest (highest id) first, including those that have ended but are not deleted yet; at most a
    /// hundred.
    async fn sessions(&self, user: UserId) -> Result<Vec<Session>, StoreError>;

    /// The invitations to an account, or those to no account, that are valid at `now`, newest first, at most
    /// [`INVITATIONS_LISTED`].
    async fn invitations(
        &self,
        account: Option<AccountId>,
        now: Timestamp,
    ) -> Result<Vec<Invitation>, StoreError>;

    /// The ticket with this token hash. It may have expired.
    async fn ticket(&self, hash: &TokenHash) -> Result<Option<Ticket>, StoreError>;

    /// One page of the audit, newest (highest id) first.
    async fn audit_entries(
        &self,
        scope: AuditScope,
        limit: PageLimit,
        after: Option<PagePosition>,
    ) -> Result<Page<AuditEntry>, StoreError>;

    /// One page of the entries of the audit that match, newest (highest id) first.
    ///
    /// One call looks at no more than [`AUDIT_ENTRIES_SEARCHED`](super::AUDIT_ENTRIES_SEARCHED) entries of the scope. So a page may
    /// have fewer entries than `limit`, or none, and a next position all the same. It finds entries whose order by id differs from
    /// their order by instant by up to [`AUDIT_CLOCKS_DIFFER`](super::AUDIT_CLOCKS_DIFFER). A call may take several round trips.
    async fn matching_audit_entries(
        &self,
        scope: AuditScope,
        filter: &AuditFilter,
        limit: PageLimit,
        after: Option<PagePosition>,
    ) -> Result<Page<AuditEntry>, StoreError>;
}

/// The decision about an attempt to sign in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignInTurn {
    /// The attempt may go on. It is counted as a failure until it succeeds.
    Allowed,
    /// Too many failures: the attempt must not go on, and was not counted.
    WaitUntil(Timestamp),
}

/// Upkeep of people. Each call is a unit of work of its own.
#[async_trait]
pub trait PeopleUpkeep: Send + Sync {
    /// Counts an attempt to sign in as a failure, unless the failures so far ask for a wait
    /// ([`SignInFailures::allowed_from`]). Of concurrent attempts with one key, each sees those before it. Keeps at most
    /// [`FAILURE_COUNTS_KEPT`](signpost_domain::FAILURE_COUNTS_KEPT) counts and drops those whose last failure is oldest.
    async fn count_sign_in(&self, key: &SignInKey, now: Timestamp) -> Result<SignInTurn, StoreError>;

    /// The failures with this key, current or not.
    async fn sign_in_failures(&self, key: &SignInKey) -> Result<SignInFailures, StoreError>;

    /// Forgets the failures with this key, because an attempt succeeded.
    async fn forget_sign_ins(&self, key: &SignInKey) -> Result<(), StoreError>;

    /// Moves the instant of a session's last request to `at`, unless it is later already. An unknown session is left alone.
    async fn see_session(&self, id: SessionId, at: Timestamp) -> Result<(), StoreError>;

    /// Moves the instants of the last uses of keys, each unless it is later already. Unknown keys are left alone.
    async fn note_key_uses(&self, uses: &[(ApiKeyId, Timestamp)]) -> Result<(), StoreError>;

    /// Deletes sessions that have ended, tickets that have expired, failures that no longer count, and entries of the audit
    /// that are older than [`AUDIT_KEPT`](signpost_domain::AUDIT_KEPT): at most `at_most` of each. Returns whether there may
    /// be more. A store with a clock of its own deletes only what has expired by that clock as well.
    async fn delete_expired_people(&self, now: Timestamp, at_most: u16) -> Result<bool, StoreError>;
}

/// Why a user was not written.
#[derive(Debug, thiserror::Error)]
pub enum WriteUserError {
    /// A decision: another user has this e-mail address, compared without case.
    #[error("a user has this e-mail address already")]
    EmailTaken,
    /// The store broke.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What became of a change of a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemberChange {
    /// It was made, or there was nothing to change.
    Done,
    /// The user is not a member of the account, or the account does not exist.
    NotAMember,
    /// The user is the last owner of the account, who stays one (D68).
    LastOwner,
}

/// Changing people, within a unit of work.
#[async_trait]
pub trait PeopleWrites: Send {
    /// Whether there is any user. Until this unit of work ends, no other one can insert the first user.
    async fn lock_first_user(&mut self) -> Result<bool, StoreError>;

    /// The oldest account (lowest id).
    async fn oldest_account(&mut self) -> Result<Option<AccountId>, StoreError>;

    /// Inserts a user.
    async fn insert_user(&mut self, user: &User) -> Result<(), WriteUserError>;

    /// Reads a user and locks it until the unit of work ends.
    async fn lock_user(&mut self, id: UserId) -> Result<Option<User>, StoreError>;

    /// Replaces everything of a locked user but its id and the instant of its creation.
    async fn update_user(&mut self, user: &User) -> Result<(), WriteUserError>;

    /// Makes a user a member of an account, or changes the role of a member, who keeps the instant of joining. `false` if the
    /// user or the account does not exist.
    async fn put_member(&mut self, membership: &Membership) -> Result<bool, StoreError>;

    /// Locks the members of an account: until this unit of work ends, no other one that locks them can begin to change or remove
    /// one. `false` if the account does not exist.
    async fn lock_members(&mut self, account: AccountId) -> Result<bool, StoreError>;

    /// Gives a member of an account with locked members another role, unless the account would have no owner then. Deletes the
    /// invitation to the account for the member's e-mail address too, which could give the old role back.
    async fn change_role(
        &mut self,
        user: UserId,
        account: AccountId,
        role: Role,
    ) -> Result<MemberChange, StoreError>;

    /// Removes a member from an account with locked members, unless the account would have no owner then. Deletes the invitation
    /// to the account for the member's e-mail address too, which would let the user in again.
    async fn remove_member(&mut self, user: UserId, account: AccountId) -> Result<MemberChange, StoreError>;

    /// The role of a user in an account.
    async fn role_of(&mut self, user: UserId, account: AccountId) -> Result<Option<Role>, StoreError>;

    /// Inserts a session. `false` if its user does not exist.
    async fn insert_session(&mut self, session: &Session) -> Result<bool, StoreError>;

    /// Gives a session a new token because its user has confirmed the password at `at`. `false` if the session does not exist
    /// or has a token other than `before`.
    async fn confirm_session(
        &mut self,
        id: SessionId,
        before: &TokenHash,
        after: &TokenHash,
        at: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Deletes a session of a user. `false` if the user has none with this id.
    async fn end_session(&mut self, user: UserId, id: SessionId) -> Result<bool, StoreError>;

    /// Deletes all sessions of a user, but not `kept`. Returns how many.
    async fn end_sessions(&mut self, user: UserId, kept: Option<SessionId>) -> Result<u64, StoreError>;

    /// Inserts a ticket, and deletes the older ones of the same kind and e-mail address (compared without case), or of the same
    /// kind if the kind has no address. `false`, and nothing is deleted, if its account or its user does not exist.
    async fn insert_ticket(&mut self, ticket: &Ticket) -> Result<bool, StoreError>;

    /// Deletes the ticket with this token hash and returns it. Of concurrent units of work, one gets it. It may have expired.
    async fn take_ticket(&mut self, hash: &TokenHash) -> Result<Option<Ticket>, StoreError>;

    /// Deletes the invitation for an e-mail address (compared without case) to an account, or to no account. `false` if there is
    /// none.
    async fn withdraw_invitation(
        &mut self,
        email: &Email,
        account: Option<AccountId>,
    ) -> Result<bool, StoreError>;

    /// Deletes all tickets for an e-mail address, compared without case.
    async fn void_tickets(&mut self, email: &Email) -> Result<(), StoreError>;

    /// Adds an entry to the audit. It stays when its account is deleted.
    async fn record(&mut self, entry: &AuditEntry) -> Result<(), StoreError>;
}
