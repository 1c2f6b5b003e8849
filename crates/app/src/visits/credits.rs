//! The clicks of limited redirects, which this node takes in advance and gives back (D130).

use signpost_domain::{AccountId, RedirectId};

use crate::application::Application;
use crate::ports::{ClickTaking, StoreError, TakenClicks};
use crate::unit_of_work::{Attempts, MaybeContended, commit};

/// Takes clicks of a redirect for this node.
///
/// # Errors
/// The store broke. If it lost only the answer, the clicks are taken and nobody uses them: the link sends on fewer visits than its
/// limit, never more.
pub async fn take_clicks(
    app: &Application,
    account: AccountId,
    link: RedirectId,
) -> Result<ClickTaking, StoreError> {
    let attempts = Attempts::at(app);
    attempts
        .run(|| async {
            let mut work = attempts.begin().await?;
            let taking = work.take_clicks(account, link).await?;
            if taking.taken().is_some() {
                commit(app, work).await?;
            }
            Ok(taking)
        })
        .await
}

/// Clicks were not given back, as far as known.
#[derive(Debug, thiserror::Error)]
#[error("unused clicks were not given back")]
pub struct GiveBackError {
    /// Why.
    pub source: StoreError,
    /// Whether they may be back nevertheless. Then the caller must not repeat it, because they might come back twice.
    pub may_be_done: bool,
}

impl MaybeContended for GiveBackError {
    fn is_contended(&self) -> bool {
        self.source.is_contended()
    }
}

/// Gives back clicks that visits of this node did not use.
///
/// # Errors
/// The store broke.
pub async fn give_back_clicks(
    app: &Application,
    account: AccountId,
    link: RedirectId,
    unused: TakenClicks,
) -> Result<(), GiveBackError> {
    let undone = |source| GiveBackError { source, may_be_done: false };
    let attempts = Attempts::at(app);
    attempts
        .run(|| async {
            let mut work = attempts.begin().await.map_err(undone)?;
            work.give_back_clicks(account, link, unused).await.map_err(undone)?;
            commit(app, work).await.map_err(|source| GiveBackError {
                may_be_done: !matches!(source, StoreError::Contended),
                source,
            })
        })
        .await
}
