//! The identities of users at identity providers, in the store (D77).

use async_trait::async_trait;
use signpost_domain::{ExternalIdentity, Issuer, Subject, Timestamp, User, UserId};

use super::store_error::StoreError;

/// What a user is bound to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoundIdentity {
    /// Who the user is at the issuer.
    pub subject: Subject,
    /// When the user was bound.
    pub bound_at: Timestamp,
}

/// Reading identities.
#[async_trait]
pub trait IdentityReads: Send + Sync {
    /// The user that is bound to an identity. The user may be disabled.
    async fn user_with_identity(&self, identity: &ExternalIdentity) -> Result<Option<User>, StoreError>;

    /// What a user is bound to at an issuer.
    async fn identity_of(&self, user: UserId, issuer: &Issuer) -> Result<Option<BoundIdentity>, StoreError>;
}

/// What became of a binding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Binding {
    /// The user is bound to the identity now, or was before.
    Bound,
    /// Another user is bound to the identity.
    TakenByAnother,
    /// The user is bound to another identity of the same issuer.
    HasAnother,
    /// The user does not exist.
    NoSuchUser,
}

/// Changing identities, within a unit of work.
#[async_trait]
pub trait IdentityWrites: Send {
    /// Binds a user to an identity. An identity has one user, and a user one identity of each issuer: of concurrent bindings that
    /// exclude each other, one succeeds. Binding again what is bound keeps the instant of the first binding.
    async fn bind_identity(
        &mut self,
        user: UserId,
        identity: &ExternalIdentity,
        at: Timestamp,
    ) -> Result<Binding, StoreError>;

    /// Whether a user is bound to an identity. For a locked user this holds until the unit of work ends, because whoever binds or
    /// unbinds a user locks it.
    async fn has_identity(&mut self, user: UserId, identity: &ExternalIdentity) -> Result<bool, StoreError>;

    /// Unbinds a user from its identity of an issuer. `false` if it has none.
    async fn unbind_identity(&mut self, user: UserId, issuer: &Issuer) -> Result<bool, StoreError>;

    /// Unbinds a user from its identities of all issuers. Returns how many there were.
    async fn unbind_identities(&mut self, user: UserId) -> Result<u64, StoreError>;
}
