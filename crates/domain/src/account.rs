//! Accounts, which own links and have a plan.

use crate::email::Email;
use crate::id::AccountId;
use crate::plan::{PlanName, PlanResource};
use crate::text::Name;
use crate::timestamp::Timestamp;

/// An account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// Its id.
    pub id: AccountId,
    /// The owner's e-mail address.
    pub email: Email,
    /// Its name.
    pub name: Option<Name>,
    /// The name of its plan. The plan itself comes from the configuration, which may no longer have it. Such
    /// an account has no access to the API.
    pub plan: PlanName,
    /// When it was suspended; `None` if it is not suspended.
    pub suspended_at: Option<Timestamp>,
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

/// An account's usage of its plan's limits (D15).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Landing pages and redirects together.
    pub links: u64,
    /// Groups.
    pub groups: u64,
    /// Custom domains.
    pub domains: u64,
    /// Pixels.
    pub pixels: u64,
}

impl Usage {
    /// The usage of one resource.
    #[must_use]
    pub const fn of(&self, resource: PlanResource) -> u64 {
        match resource {
            PlanResource::Links => self.links,
            PlanResource::Groups => self.groups,
            PlanResource::Domains => self.domains,
            PlanResource::Pixels => self.pixels,
        }
    }
}
