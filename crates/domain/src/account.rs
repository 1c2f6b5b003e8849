//! An account: who owns links, on which plan.

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
    /// The address of its owner.
    pub email: Email,
    /// Its name, if it was given one.
    pub name: Option<Name>,
    /// The plan it is on. The plan itself comes from the configuration, so the name may be one that no
    /// longer stands there; such an account has no access to the API.
    pub plan: PlanName,
    /// Since when it is suspended; `None` if it is not.
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

/// How much an account has of what plans limit (D15).
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
    /// How much there is of one resource.
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
