//! The clicks of limited redirects, which this node takes in advance and gives back (D130).

use std::collections::BTreeMap;

use signpost_domain::{AccountId, RedirectId, Revision};

use crate::application::Application;
use crate::ports::{ClickTaking, StoreError, UnusedClicks};
use crate::unit_of_work::{Attempts, MaybeContended, commit};

/// Clicks were neither taken nor given back, as far as known.
#[derive(Debug, thiserror::Error)]
#[error("clicks of a limited link were neither taken nor given back")]
pub struct CreditError {
    /// Why.
    pub source: StoreError,
    /// Whether it may be done nevertheless. Then clicks that were taken are lost, and the caller must not give back again, because the
    /// clicks might come back twice.
    pub may_be_done: bool,
}

impl MaybeContended for CreditError {
    fn is_contended(&self) -> bool {
        self.source.is_contended()
    }
}

/// A failure before the commit.
const fn undone(source: StoreError) -> CreditError {
    CreditError { source, may_be_done: false }
}

/// A failure of the commit.
fn committing(source: StoreError) -> CreditError {
    CreditError { may_be_done: !source.is_contended(), source }
}

/// Takes clicks of a redirect for this node.
///
/// # Errors
/// The store broke. If it lost only the answer, the clicks are taken and nobody uses them: the link sends on fewer visits than its
/// limit, never more.
pub async fn take_clicks(
    app: &Application,
    account: AccountId,
    link: RedirectId,
) -> Result<ClickTaking, CreditError> {
    let attempts = Attempts::at(app);
    attempts
        .run(|| async {
            let mut work = attempts.begin().await.map_err(undone)?;
            let taking = work.take_clicks(account, link).await.map_err(undone)?;
            if taking.taken().is_some() {
                commit(app, work).await.map_err(committing)?;
            }
            Ok(taking)
        })
        .await
}

/// Gives back clicks that visits of this node did not use, all in one unit of work.
///
/// # Errors
/// The store broke.
pub async fn give_back_clicks(app: &Application, unused: &[UnusedClicks]) -> Result<(), CreditError> {
    // In the order of the links, so that units of work of several nodes do not wait for each other in a circle.
    let mut by_count: BTreeMap<(RedirectId, Revision), UnusedClicks> = BTreeMap::new();
    for more in unused {
        by_count
            .entry((more.link, more.clicks.since))
            .and_modify(|all| all.clicks.number = all.clicks.number.saturating_add(more.clicks.number))
            .or_insert(*more);
    }
    let unused: Vec<UnusedClicks> = by_count.into_values().collect();
    if unused.is_empty() {
        return Ok(());
    }
    let attempts = Attempts::at(app);
    attempts
        .run(|| async {
            let mut work = attempts.begin().await.map_err(undone)?;
            work.give_back_clicks(&unused).await.map_err(undone)?;
            commit(app, work).await.map_err(committing)
        })
        .await
}
