//! What becomes known of a request on its way inwards and is needed on the way out.

use std::cell::Cell;
use std::rc::Rc;

use signpost_app::RateLimits;
use signpost_domain::AccountId;

/// Facts about one request. The frame keeps one end and puts the other into the request, because the request
/// itself is gone when a handler panics.
#[derive(Debug, Clone, Default)]
pub(crate) struct RequestFacts(Rc<Facts>);

#[derive(Debug, Default)]
struct Facts {
    account: Cell<Option<AccountId>>,
    rate_limits: Cell<Option<RateLimits>>,
}

impl RequestFacts {
    /// Whose request it is.
    pub(crate) fn account(&self) -> Option<AccountId> {
        self.0.account.get()
    }

    /// Notes whose request it is.
    pub(crate) fn set_account(&self, account: AccountId) {
        self.0.account.set(Some(account));
    }

    /// The account's budget, if the account was identified.
    pub(crate) fn rate_limits(&self) -> Option<RateLimits> {
        self.0.rate_limits.get()
    }

    /// Notes the account's budget.
    pub(crate) fn set_rate_limits(&self, rate_limits: RateLimits) {
        self.0.rate_limits.set(Some(rate_limits));
    }
}
