//! The authenticated sender of a request.

use signpost_domain::{Account, AccountId, Link, LinkId, Plan, QuotaRemaining, RequestBudget, Usage};

use crate::admission::{RequestPermit, SearchPermit};
use crate::app_error::AppError;
use crate::application::Application;
use crate::ports::StoreError;

/// An account's request budget and its remainder, for the four `RateLimit-*` headers (D17).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateLimits {
    /// The budget of the plan.
    pub budget: RequestBudget,
    /// The remainder.
    pub remaining: QuotaRemaining,
}

/// An account whose request was admitted. Only [`admission::admit`](crate::admission::admit) makes one, so a function that
/// takes a caller serves an authenticated, entitled and counted request. The request is in flight until the caller is
/// dropped.
#[derive(Debug, Clone)]
pub struct Caller {
    pub(crate) account: Account,
    pub(crate) usage: Usage,
    pub(crate) plan: Plan,
    pub(crate) rate_limits: RateLimits,
    pub(crate) permit: RequestPermit,
    /// A link of the account, read together with the key.
    pub(crate) link_read_ahead: Option<Link>,
}

impl Caller {
    /// Admits a search of this request until the permit is dropped.
    ///
    /// # Errors
    /// [`AppError::TooManySearches`] if the account has reached the bound on its searches in flight on this node.
    pub fn search(&self) -> Result<SearchPermit, AppError> {
        self.permit.search().ok_or(AppError::TooManySearches)
    }

    /// The account's link with this id. Uses the link that was read ahead, if it is the same.
    pub(crate) async fn link(&self, app: &Application, id: LinkId) -> Result<Option<Link>, StoreError> {
        match &self.link_read_ahead {
            Some(link) if link.id() == id => Ok(Some(link.clone())),
            Some(_) | None => app.store.link(self.account.id, id).await,
        }
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

    /// The request budget after this request.
    #[must_use]
    pub const fn rate_limits(&self) -> RateLimits {
        self.rate_limits
    }
}
