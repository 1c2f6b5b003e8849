//! The clicks of limited redirects, which nodes take in advance (D130).

use async_trait::async_trait;
use signpost_domain::{AccountId, RedirectId, Revision};

use super::store_error::StoreError;

/// Clicks that a node has taken of the limit of a redirect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TakenClicks {
    /// How many.
    pub number: u64,
    /// Of which count ([`ClickLimit::since`](signpost_domain::ClickLimit::since)).
    pub since: Revision,
}

/// Clicks of a redirect that a node took and did not use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnusedClicks {
    /// Who has the redirect.
    pub account: AccountId,
    /// The redirect.
    pub link: RedirectId,
    /// The clicks.
    pub clicks: TakenClicks,
}

/// What a node gets that asks for clicks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClickTaking {
    /// These.
    Taken(TakenClicks),
    /// Nothing: no click of this count is left.
    Exhausted {
        /// Which count ([`ClickLimit::since`](signpost_domain::ClickLimit::since)).
        since: Revision,
    },
    /// Nothing: the account has no such redirect with a limit, or the limit was changed at this moment.
    NoLimit,
}

impl ClickTaking {
    /// The clicks, if there are any.
    #[must_use]
    pub const fn taken(self) -> Option<TakenClicks> {
        match self {
            Self::Taken(taken) => Some(taken),
            Self::Exhausted { .. } | Self::NoLimit => None,
        }
    }
}

/// Taking clicks, and giving back unused ones, within a unit of work. What is left is read with each link
/// ([`ClickLimit::left`](signpost_domain::ClickLimit::left)).
///
/// Whatever number of callers take clicks at the same time, they never get more than the limit together. A link whose last click is
/// taken, and one that has a click again, is noted as a [`VisibleChange`](super::VisibleChange), so that all nodes learn of it.
///
/// A caller that gets no answer must not repeat a call that gives back: the clicks might come back twice. They are lost then, and the
/// link sends on fewer visits than its limit.
#[async_trait]
pub trait ClickCredits: Send {
    /// Takes the [next block](signpost_domain::ClickLimit::next_block) of clicks.
    async fn take_clicks(&mut self, account: AccountId, link: RedirectId) -> Result<ClickTaking, StoreError>;

    /// Gives back clicks that were taken and not used. No link may be named twice with one count. Nothing happens to a link if the
    /// account does not have it, if the count that the clicks were taken of is over, or if not that many are taken of it.
    async fn give_back_clicks(&mut self, unused: &[UnusedClicks]) -> Result<(), StoreError>;
}
