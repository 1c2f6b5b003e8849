//! What a visit of a link would get, and why (D136).
//!
//! The answer comes from what serves visits, by a [port](crate::ports::VisitExplainer), so that it cannot differ from what visitors get.
//! These use cases only find the caller's link.

mod explanation;
mod facts;

use signpost_domain::{IdReference, Link, LinkIdKind, Permission};

use crate::app_error::AppError;
use crate::application::Application;
use crate::caller::Caller;
use crate::idempotency::{Idempotency, Operation};
use crate::links;
use crate::ports::{ExplainedVisit, OpenedUrl};

pub use explanation::{AppliedRule, Check, Explanation, Step, StepResult, Steps, VisitOutcome};
pub use facts::{VisitFacts, VisitHeader, VisitQuery, VisitedUrl, parse_visitor_address};

/// Explains a visit of the caller's link with this id.
///
/// # Errors
/// The kind's `…NotFound`, equally for a malformed id, an unknown id, and another account's (D2). The store broke.
pub async fn by_id<K: LinkIdKind>(
    app: &Application,
    caller: &Caller,
    id: IdReference<K>,
    facts: VisitFacts,
) -> Result<Explanation, AppError> {
    caller.require(Permission::Read)?;
    let link = links::any(app, caller, id).await?;
    explained(app, caller, link, facts).await
}

/// Explains a visit of a URL. The query of the URL counts unless `facts` have one.
///
/// Every URL at which no link of the caller is gets the same [`Explanation::unknown`], whether something else is there or not.
///
/// # Errors
/// The store broke.
pub async fn by_url(
    app: &Application,
    caller: &Caller,
    url: &VisitedUrl,
    mut facts: VisitFacts,
) -> Result<Explanation, AppError> {
    caller.require(Permission::Read)?;
    let Some(OpenedUrl { address, query }) = app.explainer.explainer()?.opened(url) else {
        return Ok(Explanation::unknown());
    };
    let account = caller.account_id();
    let occupied = app.store.occupied(account, std::slice::from_ref(&address)).await?;
    let Some(own) = occupied.into_iter().find_map(|(_, own)| own) else { return Ok(Explanation::unknown()) };
    let Some(link) = app.store.link(account, own).await? else { return Ok(Explanation::unknown()) };
    facts.query = facts.query.or(query);
    explained(app, caller, link, facts).await
}

/// Explains a visit once for each idempotency key: a request that is sent again gets the first explanation (D12). Without a key
/// nothing is written.
///
/// # Errors
/// Those of `explain`; [`AppError::AnsweredBefore`] if the request ran meanwhile.
pub async fn once<F: Future<Output = Result<Explanation, AppError>>>(
    app: &Application,
    caller: &Caller,
    idempotency: Idempotency<'_, Explanation>,
    explain: impl Fn() -> F,
) -> Result<Explanation, AppError> {
    caller.require(Permission::Read)?;
    let operation = Operation::new(app, caller, idempotency);
    let explanation = operation.run(explain).await?;
    operation.run(|| operation.finish(None, false, &explanation)).await?;
    Ok(explanation)
}

async fn explained(
    app: &Application,
    caller: &Caller,
    link: Link,
    facts: VisitFacts,
) -> Result<Explanation, AppError> {
    let Some(address) = link.placement.address() else {
        return Ok(Explanation::not_there("The link has lost its address, because its domain was removed."));
    };
    let visit = ExplainedVisit {
        account: caller.account_id(),
        link: link.id(),
        address,
        is_active: link.is_active,
        is_domain_active: link.is_domain_active,
        at: facts.at.unwrap_or_else(|| app.clock.now()),
        facts,
    };
    Ok(app.explainer.explainer()?.explain(visit).await?)
}
