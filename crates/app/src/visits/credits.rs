//! The clicks of limited redirects, which this node takes in advance and gives back (D130).

use signpost_domain::{AccountId, RedirectId};

use crate::application::Application;
use crate::ports::{StoreError, TakenClicks};
use crate::unit_of_work::{Attempts, commit};

/// Takes clicks of a redirect for this node. `None` if none is left, or if the account has no such redirect with a limit.
///
/// # Errors
/// The store broke. If it lost only the answer, the clicks are taken and nobody uses them: the link sends on fewer visits than its
/// limit, never more.
pub async fn take_clicks(
    app: &Application,
    account: AccountId,
    link: RedirectId,
) -> Result<Option<TakenClicks>, StoreError> {
    let attempts = Attempts::at(app);
    attempts
        .run(|| async {
            let mut work = attempts.begin().await?;
            let taken = work.take_clicks(account, link).await?;
            if taken.is_some() {
                commit(app, work).await?;
            }
            Ok(taken)
        })
        .await
}

/// Gives back clicks that visits of this node did not use. A caller that gets an error must not repeat it: the clicks may be back
/// already.
///
/// # Errors
/// The store broke.
pub async fn give_back_clicks(
    app: &Application,
    account: AccountId,
    link: RedirectId,
    unused: TakenClicks,
) -> Result<(), StoreError> {
    let attempts = Attempts::at(app);
    attempts
        .run(|| async {
            let mut work = attempts.begin().await?;
            work.give_back_clicks(account, link, unused).await?;
            commit(app, work).await
        })
        .await
}
