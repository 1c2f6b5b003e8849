//! Accounts, which own links and have a plan.

use crate::email::Email;
use crate::id::AccountId;
use crate::plan::PlanName;
use crate::text::Name;
use crate::timestamp::Timestamp;

/// An account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// Its id.
    pub id: AccountId,
    /// The contact address.
    pub email: Email,
    /// Its name.
    pub name: Option<Name>,
    /// The name of its plan. The plan itself comes from the configuration, which may no longer have it. Such
    /// an account has no access to the API.
    pub plan: PlanName,
    /// When it was suspended; `None` if it is not suspended.
    pub suspended_at: Option<Timestamp>,
    /// Whether a password alone does not let its members in.
    pub requires_second_factor: bool,
    /// When it was created.
    pub created_at: Timestamp,
}

impl Account {
    /// Whether the account is suspended.
    #[must_use]
    pub const fn is_suspended(&self) -> bool {
        self.suspended_at.is_some()
    }
}
