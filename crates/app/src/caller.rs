//! Who acts for an account.

use signpost_domain::{
    Account, AccountId, ApiKeyId, ClientNetwork, Permission, PermissionSet, Plan, Refusal, Role, Usage,
    UserId,
};

use crate::admission::{RequestPermit, SearchPermit};
use crate::app_error::AppError;

/// By what somebody acts for an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Actor {
    /// A program with this key of the account.
    Key(ApiKeyId),
    /// A signed-in person with this role in the account.
    User {
        /// The person.
        user: UserId,
        /// The role.
        role: Role,
    },
}

/// Somebody who acts for an account. Only [`admit`](crate::admission::admit) and [`enter`](crate::admission::enter) make one, so a
/// function that takes a caller serves an authenticated and entitled request. The request is in flight until the last clone of the caller is dropped.
#[derive(Debug, Clone)]
pub struct Caller {
    pub(crate) account: Account,
    pub(crate) usage: Usage,
    pub(crate) plan: Plan,
    pub(crate) actor: Actor,
    pub(crate) network: ClientNetwork,
    pub(crate) permissions: PermissionSet,
    pub(crate) permit: RequestPermit,
}

impl Caller {
    /// Returns if the caller has this permission. Every use case asks first.
    ///
    /// # Errors
    /// [`Refusal::NotPermitted`] otherwise. [`Refusal::AccountSuspended`] if only the suspension is in the way.
    pub const fn require(&self, permission: Permission) -> Result<(), Refusal> {
        if !self.permissions.contains(permission) {
            Err(Refusal::NotPermitted(permission))
        } else if permission.is_for_changes() && self.account.is_suspended() {
            Err(Refusal::AccountSuspended)
        } else {
            Ok(())
        }
    }

    /// Whether [`require`](Self::require) agrees.
    #[must_use]
    pub fn may(&self, permission: Permission) -> bool {
        self.require(permission).is_ok()
    }

    /// The caller without the permissions that are not in `permissions`.
    #[must_use]
    pub fn limited_to(mut self, permissions: PermissionSet) -> Self {
        self.permissions = self.permissions.intersection(permissions);
        self
    }

    /// Admits a search of this request until the permit is dropped.
    ///
    /// # Errors
    /// [`AppError::TooManySearches`] if the account has reached the bound on its searches in flight on this node.
    pub fn search(&self) -> Result<SearchPermit, AppError> {
        self.permit.search().ok_or(AppError::TooManySearches)
    }

    /// By what the caller acts.
    #[must_use]
    pub const fn actor(&self) -> Actor {
        self.actor
    }

    /// The network that the request comes from.
    #[must_use]
    pub const fn network(&self) -> ClientNetwork {
        self.network
    }

    /// The account's id.
    #[must_use]
    pub const fn account_id(&self) -> AccountId {
        self.account.id
    }

    /// The account.
    #[must_use]
    pub const fn account(&self) -> &Account {
        &self.account
    }

    /// The account's usage of its plan's limits when the request was admitted.
    #[must_use]
    pub const fn usage(&self) -> &Usage {
        &self.usage
    }

    /// The account's plan.
    #[must_use]
    pub const fn plan(&self) -> &Plan {
        &self.plan
    }
}
