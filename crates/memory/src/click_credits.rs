//! The clicks of limited redirects.

use async_trait::async_trait;
use signpost_app::ports::{ClickCredits, ClickTaking, StoreError, TakenClicks, UnusedClicks};
use signpost_domain::{AccountId, AnyContent, ClickLimit, Link, LinkId, RedirectId};

use crate::state::State;
use crate::unit_of_work::MemoryUnitOfWork;

/// The account's redirect with this id, if it has a limit.
fn limited(state: &mut State, account: AccountId, id: RedirectId) -> Option<(&mut Link, ClickLimit)> {
    let link = state.owned_mut(account)?.links.get_mut(&LinkId::from(id))?;
    let AnyContent::Redirect(content) = &link.content else { return None };
    let limit = content.click_limit?;
    Some((link, limit))
}

/// Writes the limit of a redirect.
fn write(link: &mut Link, limit: ClickLimit) {
    if let AnyContent::Redirect(content) = &mut link.content {
        content.click_limit = Some(limit);
    }
}

/// The link after an update: what is taken of a limit that goes on stays (D130).
pub(crate) fn keeping_taken(stored: &Link, mut after: Link) -> Link {
    if let (AnyContent::Redirect(stored), AnyContent::Redirect(content)) =
        (&stored.content, &mut after.content)
        && let (Some(kept), Some(limit)) = (stored.click_limit, content.click_limit)
        && kept.since() == limit.since()
    {
        content.click_limit = Some(ClickLimit::new(limit.max(), kept.taken(), kept.since()));
    }
    after
}

#[async_trait]
impl ClickCredits for MemoryUnitOfWork {
    async fn take_clicks(&mut self, account: AccountId, link: RedirectId) -> Result<ClickTaking, StoreError> {
        self.write_noting(|state, changes| {
            let Some((link, before)) = limited(state, account, link) else { return Ok(ClickTaking::NoLimit) };
            let number = before.next_block();
            if number == 0 {
                return Ok(ClickTaking::Exhausted { since: before.since() });
            }
            let after = before.with_more_taken(number);
            write(link, after);
            if after.is_exhausted() {
                changes.note_links(account, [&*link]);
            }
            Ok(ClickTaking::Taken(TakenClicks { number, since: after.since() }))
        })
    }

    async fn give_back_clicks(&mut self, unused: &[UnusedClicks]) -> Result<(), StoreError> {
        self.write_noting(|state, changes| {
            for UnusedClicks { account, link, clicks } in unused.iter().copied() {
                let Some((link, before)) = limited(state, account, link) else { continue };
                let after = before.with_given_back(clicks.number);
                let Some(after) = after.filter(|after| after.since() == clicks.since) else { continue };
                write(link, after);
                if before.is_exhausted() && !after.is_exhausted() {
                    changes.note_links(account, [&*link]);
                }
            }
            Ok(())
        })
    }
}
