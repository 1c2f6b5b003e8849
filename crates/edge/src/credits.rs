//! The clicks of limited links that this node has taken in advance (D130, ADR 85).

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Duration, Instant};

use signpost_app::Application;
use signpost_app::changes::{ChangeSubscriber, Origin};
use signpost_app::ports::{Affected, ClickTaking, StoreError, TakenClicks, UnusedClicks, VisibleChange};
use signpost_app::visits::{CreditError, give_back_clicks, take_clicks};
use signpost_domain::{AccountId, Address, RedirectId, Site};
use tokio::task::JoinHandle;
use tokio::time::MissedTickBehavior;

use crate::shared_loads::SharedLoads;

/// After how long without a visit a node gives back the clicks of a link.
const IDLE_LIMIT: Duration = Duration::from_secs(5);

/// How often the node looks for clicks to give back.
const INTERVAL: Duration = Duration::from_millis(250);

/// How long a node that stops may take to give everything back.
const LAST_LIMIT: Duration = Duration::from_secs(5);

/// The clicks of how many limits go back in one unit of work at most.
const MOST_AT_ONCE: usize = 256;

/// A limit of a link. Clicks that were taken under another limit of the same link are not used for it, so that a lower limit applies as
/// soon as this node knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct LimitKey {
    pub(crate) link: RedirectId,
    /// The number of the limit.
    pub(crate) max: u64,
    /// The name of the count.
    pub(crate) since: u64,
}

/// The link of a visit that needs a click.
#[derive(Debug, Clone)]
pub(crate) struct LimitedLink {
    pub(crate) key: LimitKey,
    pub(crate) account: AccountId,
    /// Where the link was visited, to tell which changes are about it.
    pub(crate) address: Option<Address>,
}

/// Whether a visit may be sent on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Credit {
    /// It may: a click was used for it.
    Used,
    /// No click is left.
    Exhausted,
    /// This node has no click, and the store does not answer, or it has another limit of the link than this node knows.
    Unavailable,
}

/// The outcome of asking the store for clicks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Taking {
    Taken,
    Exhausted,
    Unavailable,
}

/// The outcome of giving clicks back to the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GivingBack {
    Done,
    /// It took none of them, because it cannot read one of the links. It answers for others.
    Unreadable,
    Unavailable,
}

/// The unused clicks of one limit.
#[derive(Debug)]
struct HeldClicks {
    link: LimitedLink,
    /// The count of which they were taken, as the store names it.
    taken: TakenClicks,
    unused: AtomicU64,
    /// When a visit last asked for one, in milliseconds of this node.
    asked_at: AtomicU64,
    /// The link has changed since, so they are given back.
    is_due: AtomicBool,
}

/// The clicks that this node holds.
///
/// A visit takes the lock for reading only, and then decrements a number. The lock is taken for writing when clicks come from the store
/// or go back.
pub(crate) struct Credits {
    app: Arc<Application>,
    held: Arc<Held>,
    /// The requests to the store, at most one for each limit.
    takings: Arc<SharedLoads<LimitKey, Taking>>,
    /// Held while clicks go back, so that a node that stops waits for those that are on their way.
    giving_back: tokio::sync::Mutex<()>,
    began: Instant,
}

impl Credits {
    pub(crate) fn new(app: Arc<Application>) -> Arc<Self> {
        Arc::new(Self {
            app,
            held: Arc::default(),
            takings: Arc::default(),
            giving_back: tokio::sync::Mutex::default(),
            began: Instant::now(),
        })
    }

    /// The part that must know of changes. It does not hold the application, which holds its subscribers.
    pub(crate) fn subscriber(&self) -> Arc<dyn ChangeSubscriber> {
        Arc::<Held>::clone(&self.held)
    }

    /// Whether this node has a click of the limit.
    pub(crate) fn has(&self, key: &LimitKey) -> bool {
        self.held.read().get(key).is_some_and(|held| held.unused.load(Ordering::Acquire) > 0)
    }

    /// Uses a click for a visit. It asks the store if the node has none, with one request at a time for all visits that wait.
    pub(crate) async fn use_one(self: &Arc<Self>, link: LimitedLink) -> Credit {
        loop {
            if self.use_held(&link.key) {
                return Credit::Used;
            }
            let (taking, _) = self.takings.join(&link.key, || {
                let (credits, link) = (Arc::clone(self), link.clone());
                async move { credits.take(link).await }
            });
            match taking.await {
                // Other visits may have used them, so this one looks again.
                Ok(Taking::Taken) => {}
                Ok(Taking::Exhausted) => return Credit::Exhausted,
                Ok(Taking::Unavailable) | Err(_) => return Credit::Unavailable,
            }
        }
    }

    fn use_held(&self, key: &LimitKey) -> bool {
        let all = self.held.read();
        let Some(held) = all.get(key) else { return false };
        held.asked_at.store(self.millis(Instant::now()), Ordering::Relaxed);
        let less_one = |unused: u64| unused.checked_sub(1);
        held.unused.fetch_update(Ordering::AcqRel, Ordering::Acquire, less_one).is_ok()
    }

    /// Takes clicks from the store.
    async fn take(&self, link: LimitedLink) -> Taking {
        match take_clicks(&self.app, link.account, link.key.link).await {
            Ok(ClickTaking::Taken(taken)) if taken.since.get() == link.key.since => {
                self.hold(link, taken);
                Taking::Taken
            }
            Ok(ClickTaking::Exhausted { since }) if since.get() == link.key.since => Taking::Exhausted,
            // The link has another limit by now, or none. This node learns of it within a second, and must not say until then
            // that the link is at its end.
            Ok(ClickTaking::Taken(taken)) => {
                let key = LimitKey { since: taken.since.get(), ..link.key };
                self.give_back(vec![(LimitedLink { key, ..link }, taken)]).await;
                Taking::Unavailable
            }
            Ok(ClickTaking::Exhausted { .. } | ClickTaking::NoLimit) => Taking::Unavailable,
            Err(CreditError { may_be_done: false, source: error }) => {
                tracing::debug!(link = %link.key.link, %error, "no clicks could be taken");
                Taking::Unavailable
            }
            Err(CreditError { may_be_done: true, source: error }) => {
                tracing::warn!(
                    link = %link.key.link,
                    %error,
                    "the store may have given out clicks of a limited link; then they are lost"
                );
                Taking::Unavailable
            }
        }
    }

    /// Adds clicks to those of their limit.
    fn hold(&self, link: LimitedLink, taken: TakenClicks) {
        let now = self.millis(Instant::now());
        let mut all = self.held.write();
        let held = all.entry(link.key).or_insert_with(|| HeldClicks {
            link,
            taken,
            unused: AtomicU64::new(0),
            asked_at: AtomicU64::new(now),
            is_due: AtomicBool::new(false),
        });
        held.unused.fetch_add(taken.number, Ordering::AcqRel);
        held.asked_at.store(now, Ordering::Relaxed);
        held.is_due.store(false, Ordering::Release);
    }

    /// Gives back the clicks of links that were not visited for a while, or that have changed.
    pub(crate) async fn give_back_idle(&self, now: Instant) {
        let (now, limit) = (self.millis(now), u64::try_from(IDLE_LIMIT.as_millis()).unwrap_or(u64::MAX));
        self.give_back_those(|held| {
            held.is_due.load(Ordering::Acquire)
                || now.saturating_sub(held.asked_at.load(Ordering::Relaxed)) >= limit
        })
        .await;
    }

    /// Gives back all clicks, because the node stops. It gives up after some seconds.
    pub(crate) async fn give_back_all(&self) {
        let all = self.give_back_those(|_| true);
        if tokio::time::timeout(LAST_LIMIT, all).await.is_err() {
            tracing::warn!(
                "the store did not take back all unused clicks of limited links in time; they are lost"
            );
        }
    }

    /// Gives back in portions. As soon as the store does not answer, the rest stays where visits can use it.
    async fn give_back_those(&self, is_due: impl Fn(&HeldClicks) -> bool + Send + Sync) {
        let _one_at_a_time = self.giving_back.lock().await;
        let due: Vec<LimitKey> =
            self.held.read().iter().filter(|(_, held)| is_due(held)).map(|(key, _)| *key).collect();
        let mut rest = due.as_slice();
        // The first portion is small: while the store does not answer, no visit can use what is on its way.
        let mut size = 1;
        while !rest.is_empty() {
            let (portion, later) = rest.split_at(rest.len().min(size));
            match self.give_back(self.withdraw(portion, &is_due)).await {
                GivingBack::Unreadable if portion.len() > 1 => {
                    // One link must not keep those of the others.
                    for key in portion {
                        let withdrawn = self.withdraw(std::slice::from_ref(key), |_| true);
                        if self.give_back(withdrawn).await == GivingBack::Unavailable {
                            return;
                        }
                    }
                }
                GivingBack::Done | GivingBack::Unreadable => {}
                GivingBack::Unavailable => return,
            }
            rest = later;
            size = MOST_AT_ONCE.min(size * 2);
        }
    }

    /// Removes clicks of these limits, so that no visit uses them any more. Some may have been visited meanwhile.
    fn withdraw(
        &self,
        keys: &[LimitKey],
        is_due: impl Fn(&HeldClicks) -> bool,
    ) -> Vec<(LimitedLink, TakenClicks)> {
        let mut withdrawn = Vec::with_capacity(keys.len());
        let mut all = self.held.write();
        for key in keys {
            if !all.get(key).is_some_and(&is_due) {
                continue;
            }
            let Some(HeldClicks { link, taken, unused, .. }) = all.remove(key) else { continue };
            let number = unused.into_inner();
            if number > 0 {
                withdrawn.push((link, TakenClicks { number, ..taken }));
            }
        }
        withdrawn
    }

    /// Gives clicks back to the store, all or none. If it certainly did not take them, the node keeps them and tries again later. If it
    /// may have taken them, they are lost, because they must not come back twice.
    async fn give_back(&self, unused: Vec<(LimitedLink, TakenClicks)>) -> GivingBack {
        let clicks: Vec<UnusedClicks> = unused
            .iter()
            .map(|(link, clicks)| UnusedClicks {
                account: link.account,
                link: link.key.link,
                clicks: *clicks,
            })
            .collect();
        match give_back_clicks(&self.app, &clicks).await {
            Ok(()) => GivingBack::Done,
            Err(CreditError { may_be_done: false, source }) => {
                for (link, clicks) in unused {
                    self.hold(link, clicks);
                }
                if matches!(source, StoreError::Corrupt { .. }) {
                    GivingBack::Unreadable
                } else {
                    GivingBack::Unavailable
                }
            }
            Err(CreditError { may_be_done: true, source }) => {
                for (link, clicks) in unused {
                    tracing::warn!(
                        link = %link.key.link,
                        clicks = clicks.number,
                        error = %source,
                        "the store may not have taken back unused clicks of a limited link; they are lost"
                    );
                }
                GivingBack::Unavailable
            }
        }
    }

    /// Gives back clicks periodically until the task is aborted.
    pub(crate) fn give_back_periodically(self: &Arc<Self>) -> JoinHandle<()> {
        let credits = Arc::clone(self);
        tokio::spawn(async move {
            let mut ticks = tokio::time::interval(INTERVAL);
            ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
            loop {
                ticks.tick().await;
                credits.give_back_idle(Instant::now()).await;
            }
        })
    }

    fn millis(&self, now: Instant) -> u64 {
        u64::try_from(now.saturating_duration_since(self.began).as_millis()).unwrap_or(u64::MAX)
    }
}

/// All unused clicks of this node.
#[derive(Default)]
struct Held(RwLock<HashMap<LimitKey, HeldClicks>>);

impl Held {
    /// No code panics while it holds the lock.
    fn read(&self) -> RwLockReadGuard<'_, HashMap<LimitKey, HeldClicks>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, HashMap<LimitKey, HeldClicks>> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl HeldClicks {
    /// Whether a change may be about the link.
    fn may_be_changed_by(&self, VisibleChange { account, affected }: &VisibleChange) -> bool {
        let LimitedLink { account: owner, address, .. } = &self.link;
        owner == account
            && match (affected, address) {
                (Affected::Account, _) | (_, None) => true,
                (Affected::Addresses(addresses), Some(address)) => addresses.contains(address),
                (Affected::Domain(hostname), Some(address)) => address.site == Site::Custom(hostname.clone()),
            }
    }
}

/// Clicks of a link that has changed go back: its limit may be another one, and if it is exhausted, they are the last ones, which
/// visitors of other nodes can have.
impl ChangeSubscriber for Held {
    fn changed(&self, change: &VisibleChange, _: Origin) {
        for held in self.read().values().filter(|held| held.may_be_changed_by(change)) {
            held.is_due.store(true, Ordering::Release);
        }
    }

    fn anything_may_have_changed(&self) {
        for held in self.read().values() {
            held.is_due.store(true, Ordering::Release);
        }
    }
}

#[cfg(test)]
#[path = "credits_tests.rs"]
mod tests;
