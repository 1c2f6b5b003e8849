//! Accounts with what they use, as operators see them (D69).

use std::collections::HashMap;

use signpost_domain::{Account, AccountId, Page, PageLimit, PagePosition, Plan, QuotaRemaining, Usage};

use super::OperatorError;
use crate::application::Application;
use crate::operator::Operator;
use crate::ports::AccountMember;

/// An account with what it uses of its plan. It has no content of the account, which operators see as members only.
#[derive(Debug, Clone)]
pub struct AccountOverview {
    /// The account.
    pub account: Account,
    /// How many links, groups, domains and pixels it has.
    pub usage: Usage,
    /// Its plan. `None` if the configuration of this node lacks it.
    pub plan: Option<Plan>,
}

/// One page of all accounts with what they use, newest first.
///
/// # Errors
/// The store broke.
pub async fn overviews(
    app: &Application,
    _by: &Operator,
    limit: PageLimit,
    after: Option<PagePosition>,
) -> Result<Page<AccountOverview>, OperatorError> {
    let Page { items, next, left_out } = app.store.accounts(limit, after).await?;
    let ids: Vec<AccountId> = items.iter().map(|account| account.id).collect();
    let usage: HashMap<AccountId, Usage> = app.store.usage_of_each(&ids).await?.into_iter().collect();
    // One without usage was deleted meanwhile, or its counts cannot be read.
    let overview = |account: Account| {
        let usage = *usage.get(&account.id)?;
        Some(AccountOverview { plan: app.plans.get(&account.plan).cloned(), account, usage })
    };
    Ok(Page { items: items.into_iter().filter_map(overview).collect(), next, left_out })
}

/// One account with what it uses.
///
/// # Errors
/// [`OperatorError::NoSuchAccount`]. Or the store broke.
pub async fn overview(
    app: &Application,
    _by: &Operator,
    id: AccountId,
) -> Result<AccountOverview, OperatorError> {
    let missing = || OperatorError::NoSuchAccount(id);
    let account = app.store.account(id).await?.ok_or_else(missing)?;
    let usage = app.store.usage(id).await?.ok_or_else(missing)?;
    Ok(AccountOverview { plan: app.plans.get(&account.plan).cloned(), account, usage })
}

/// What is left of the request budget of an account. `None` without a plan, or if the quota store gives no answer. Asking costs
/// nothing of it.
pub async fn remaining_of(
    app: &Application,
    _by: &Operator,
    AccountOverview { account, plan, .. }: &AccountOverview,
) -> Option<QuotaRemaining> {
    app.quota.remaining(account.id, plan.as_ref()?.budget, app.clock.now()).await.ok()
}

/// One page of the members of an account, newest user first.
///
/// # Errors
/// The store broke.
pub async fn members(
    app: &Application,
    _by: &Operator,
    id: AccountId,
    limit: PageLimit,
    after: Option<PagePosition>,
) -> Result<Page<AccountMember>, OperatorError> {
    Ok(app.store.members(id, limit, after).await?)
}
