//! Who makes a request.

use signpost_domain::{
    Account, AccountId, ApiKeyId, Link, LinkId, Plan, QuotaRemaining, RequestBudget, Usage,
};

use crate::admission::{RequestPermit, SearchPermit};
use crate::app_error::AppError;
use crate::application::Application;
use crate::ports::StoreError;

/// The request budget of an account and what is left of it: the four `RateLimit-*` headers (D17).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateLimits {
    /// What the plan allows.
    pub budget: RequestBudget,
    /// What is left.
    pub remaining: QuotaRemaining,
}

/// An account whose request was admitted. Only [`admission::admit`](crate::admission::admit) makes one, so a
/// function that takes a caller takes an authenticated, entitled and counted request. The account has it in flight until
/// the caller is dropped.
#[derive(Debug, Clone)]
pub struct Caller {
    pub(crate) account: Account,
    pub(crate) usage: Usage,
    pub(crate) key_id: ApiKeyId,
    pub(crate) plan: Plan,
    pub(crate) rate_limits: RateLimits,
    /// The request is in flight until this is dropped.
    pub(crate) permit: RequestPermit,
    /// A link of the account, as it was when the key was read.
    pub(crate) link_read_ahead: Option<Link>,
}

impl Caller {
    /// Room for the request to search, until the permit is dropped.
    ///
    /// # Errors
    /// [`AppError::TooManySearches`]: the account has as many searches in flight on this node as it may.
    pub fn search(&self) -> Result<SearchPermit, AppError> {
        self.permit.search().ok_or(AppError::TooManySearches)
    }

    /// The account's link with this id, without asking for what was read ahead.
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

    /// How much the account had of what plans limit when the request was admitted.
    #[must_use]
    pub const fn usage(&self) -> &Usage {
        &self.usage
    }

    /// The key that was used.
    #[must_use]
    pub const fn key_id(&self) -> ApiKeyId {
        self.key_id
    }

    /// The plan, as it is now.
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
