//! Accounts with what they use, as operators see them (D69).

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use signpost_domain::{Account, AccountId, Page, PageLimit, PagePosition, Plan, QuotaRemaining, Usage};

use super::OperatorError;
use crate::application::Application;
use crate::operator::Operator;
use crate::ports::AccountMember;

/// How many accounts are read at the same time.
const READS_AT_ONCE: usize = 8;

/// An account with what it uses of its plan. It has no content of the account, which operators see as members only.
#[derive(Debug, Clone)]
pub struct AccountOverview {
    /// The account.
    pub account: Account,
    /// How many links, groups, domains and pixels it has.
    pub usage: Usage,
    /// Its plan. `None` if the configuration of this node lacks it.
    pub plan: Option<Plan>,
    /// What is left of its request budget. `None` without a plan, or if the quota store gives no answer.
    pub remaining: Option<QuotaRemaining>,
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
    let reads = stream::iter(items).map(|account| overview_of(app, account)).buffered(READS_AT_ONCE);
    let items: Vec<Option<AccountOverview>> = reads.try_collect().await?;
    Ok(Page { items: items.into_iter().flatten().collect(), next, left_out })
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
    overview_of(app, account).await?.ok_or_else(missing)
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

/// `None` if the account was deleted meanwhile.
async fn overview_of(app: &Application, account: Account) -> Result<Option<AccountOverview>, OperatorError> {
    let Some(usage) = app.store.usage(account.id).await? else { return Ok(None) };
    let plan = app.plans.get(&account.plan).cloned();
    let remaining = match &plan {
        Some(plan) => app.quota.remaining(account.id, plan.budget, app.clock.now()).await.ok(),
        None => None,
    };
    Ok(Some(AccountOverview { account, usage, plan, remaining }))
}
