//! Asking the store where an address leads, once for all who want to know at the same time.

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::FutureExt as _;
use futures_util::future::Shared;
use signpost_app::Application;
use signpost_app::visits::resolve;
use signpost_domain::Address;
use tokio::sync::oneshot;

use crate::compiled_link::CompiledLink;
use crate::link_cache::LinkCache;
use crate::outage_log::OutageLog;
use crate::wanted::{KnownSite, Wanted};

/// What a load came to.
#[derive(Clone)]
pub(crate) enum Loaded {
    /// What is at the address, also if that is nothing.
    Link(CompiledLink),
    /// The store could not say.
    StoreAway,
    /// A mistake of ours.
    Broken,
}

type Load = Shared<oneshot::Receiver<Loaded>>;

/// The loads under way.
pub(crate) struct Loads {
    app: Arc<Application>,
    cache: Arc<LinkCache>,
    outages: OutageLog,
    under_way: Mutex<HashMap<Address, Load>>,
}

impl Loads {
    pub(crate) fn new(app: Arc<Application>, cache: Arc<LinkCache>) -> Arc<Self> {
        Arc::new(Self { app, cache, outages: OutageLog::default(), under_way: Mutex::default() })
    }

    /// What is at `wanted`, as of a moment after this was called, or as of an earlier one since which nothing changed.
    pub(crate) async fn load(self: &Arc<Self>, wanted: &Wanted<'_>) -> Loaded {
        let Some(address) = wanted.to_address() else { return Loaded::Broken };
        let (load, is_own) = self.join(&address);
        match load.await {
            Ok(Loaded::Link(link))
                if is_own || link.view().holds(link.moment(), wanted, &self.cache.generations) =>
            {
                return Loaded::Link(link);
            }
            // A load that cannot find out now is no reason to ask at once again: an outage would be asked about by everybody
            // who waits, one after the other.
            Ok(loaded @ Loaded::StoreAway) => return loaded,
            Ok(loaded @ Loaded::Broken) if is_own => return loaded,
            // It began before a change, or was lost with the worker that ran it.
            Ok(Loaded::Link(_) | Loaded::Broken) | Err(_) => {}
        }
        // The next load has begun after this was called, so its outcome is new enough whatever changes meanwhile.
        let (load, _) = self.join(&address);
        load.await.unwrap_or(Loaded::Broken)
    }

    /// The load of `address`, and whether it begins only now.
    fn join(self: &Arc<Self>, address: &Address) -> (Load, bool) {
        let mut under_way = self.under_way();
        if let Some(load) = under_way.get(address) {
            return (load.clone(), false);
        }
        let (sender, receiver) = oneshot::channel();
        let load = receiver.shared();
        under_way.insert(address.clone(), load.clone());
        drop(under_way);
        // By itself, so that it does not end with the visitor who began it.
        tokio::spawn(Arc::clone(self).run(address.clone(), sender));
        (load, true)
    }

    fn run(
        self: Arc<Self>,
        address: Address,
        sender: oneshot::Sender<Loaded>,
    ) -> impl Future<Output = ()> + Send {
        let ending = Ending { loads: self, address, sender: Some(sender) };
        async move {
            let loaded = ending.loads.read(&ending.address).await;
            ending.with(loaded);
        }
    }

    async fn read(&self, address: &Address) -> Loaded {
        let generations = &self.cache.generations;
        let moment = generations.now();
        let resolved = match resolve(&self.app, address.clone()).await {
            Ok(resolved) => resolved,
            Err(error) => {
                self.outages.note(&error);
                return Loaded::StoreAway;
            }
        };
        let is_listed = resolved.is_listed(&self.app.target_blocklist.current());
        let site = KnownSite::at(address, generations);
        let wanted =
            Wanted::new(&site, address.slug.as_ref().map(signpost_domain::Slug::as_str), generations);
        match CompiledLink::new(&wanted, &resolved, is_listed, moment, generations) {
            Ok(link) => {
                self.cache.insert(wanted.hash(), link.clone());
                Loaded::Link(link)
            }
            Err(error) => {
                tracing::error!(%error, "a link cannot be shown");
                Loaded::Broken
            }
        }
    }

    /// Nothing panics between the locks.
    fn under_way(&self) -> MutexGuard<'_, HashMap<Address, Load>> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends a load, also one that panics or that is lost with its runtime.
struct Ending {
    loads: Arc<Loads>,
    address: Address,
    sender: Option<oneshot::Sender<Loaded>>,
}

impl Ending {
    fn with(mut self, loaded: Loaded) {
        let sender = self.sender.take();
        // Whoever comes now finds the outcome in the cache, or begins anew.
        drop(self);
        if let Some(sender) = sender {
            // Nobody may wait any more.
            let _ = sender.send(loaded);
        }
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        self.loads.under_way().remove(&self.address);
    }
}

#[cfg(test)]
mod tests {
    use signpost_app::changes::{ChangeSubscriber as _, Origin};
    use signpost_app::ports::{Affected, Store as _, VisibleChange};
    use signpost_domain::Redirect;
    use signpost_memory::{Fault, InMemory, Step};
    use signpost_port_contracts::samples;
    use tokio::task::JoinSet;

    use super::*;
    use crate::link_view::LeadsTo;

    /// Loads on a store with one redirect.
    struct Scene {
        memory: InMemory,
        loads: Arc<Loads>,
        redirect: Redirect,
        account: signpost_domain::AccountId,
    }

    impl Scene {
        #[expect(clippy::disallowed_methods, reason = "this puts into the store what no use case makes")]
        async fn new() -> Self {
            let memory = InMemory::default();
            let account = samples::account();
            let redirect = samples::redirect("sale").with(|content| {
                content.target_url = samples::target("https://example.com/no/address/of/ours")
            });
            let mut work = memory.store.begin().await.unwrap();
            work.insert_account(&account).await.unwrap();
            work.insert_links(account.id, &[redirect.clone().into()], 10).await.unwrap();
            work.commit().await.unwrap();
            let app = Arc::new(memory.application());
            let cache = Arc::new(LinkCache::new(1 << 20, 0, Arc::clone(&app.link_memory)));
            Self { memory, loads: Loads::new(app, cache), redirect, account: account.id }
        }

        /// Changes the redirect as a use case does.
        #[expect(clippy::disallowed_methods, reason = "the subscriber is told by the test itself")]
        async fn deactivate(&self) {
            let before = self.redirect.clone().into_any();
            let after = Redirect { is_active: false, ..self.redirect.clone() }.into_any();
            let mut work = self.memory.store.begin().await.unwrap();
            work.update_link(self.account, &before, &after).await.unwrap();
            work.commit().await.unwrap();
            let addresses = [self.redirect.placement.address().unwrap()].into();
            let change = VisibleChange { account: self.account, affected: Affected::Addresses(addresses) };
            self.loads.cache.changed(&change, Origin::ThisNode);
        }

        /// Waits until so many have joined the load of the redirect, which each of them and the table of loads hold.
        async fn joined_by(&self, visitors: usize) {
            let address = self.redirect.placement.address().unwrap();
            while self.loads.under_way().get(&address).and_then(Shared::strong_count) <= Some(visitors) {
                tokio::task::yield_now().await;
            }
        }

        /// What a visit of this slug finds that does not look into the cache.
        fn load(&self, slug: &'static str) -> impl Future<Output = Loaded> + Send + use<> {
            let loads = Arc::clone(&self.loads);
            async move {
                let generations = &loads.cache.generations;
                let address = samples::on_system(slug).address().unwrap();
                let site = KnownSite::at(&address, generations);
                loads.load(&Wanted::new(&site, Some(slug), generations)).await
            }
        }
    }

    fn is_there(loaded: &Loaded) -> bool {
        match loaded {
            Loaded::Link(link) => link.view().leads_to() != LeadsTo::Nothing,
            Loaded::StoreAway | Loaded::Broken => panic!("the load failed"),
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn d58_ten_thousand_visitors_of_one_cold_link_cost_one_query() {
        let scene = Scene::new().await;
        let held = scene.memory.store.link_reads().hold();
        let mut waiting: JoinSet<_> = (0..10_000).map(|_| scene.load("sale")).collect();
        scene.memory.store.link_reads().counted(1).await;
        scene.joined_by(10_000).await;
        drop(held);
        while let Some(loaded) = waiting.join_next().await {
            assert!(is_there(&loaded.unwrap()));
        }
        assert_eq!(scene.memory.store.link_reads().count(), 1);
        assert!(scene.loads.under_way().is_empty());
    }

    /// Whoever comes after a change waits for the load that began before it, and does not get its outcome.
    #[tokio::test(flavor = "multi_thread")]
    async fn d58_r12_who_comes_after_a_change_never_gets_what_was_read_before_it() {
        for _ in 0..50 {
            let scene = Scene::new().await;
            let held = scene.memory.store.link_reads().hold();
            let early = tokio::spawn(scene.load("sale"));
            scene.memory.store.link_reads().counted(1).await;
            scene.deactivate().await;
            let late: JoinSet<_> = (0..20).map(|_| scene.load("sale")).collect();
            scene.joined_by(21).await;
            drop(held);
            assert!(late.join_all().await.iter().all(|loaded| !is_there(loaded)));
            let _ = early.await.unwrap();
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn d58_an_outage_is_asked_about_once_by_all_who_wait() {
        let scene = Scene::new().await;
        let held = scene.memory.store.link_reads().hold();
        let first = tokio::spawn(scene.load("sale"));
        scene.memory.store.link_reads().counted(1).await;
        drop(held);
        assert!(is_there(&first.await.unwrap()));
        scene.memory.store.faults().fail_next(Step::Read, Fault::Unavailable, 1);
        assert!(matches!(scene.load("other").await, Loaded::StoreAway));
        assert!(!is_there(&scene.load("other").await), "as soon as it is back");
        assert!(scene.loads.under_way().is_empty());
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_visitor_who_goes_away_ends_no_load() {
        let scene = Scene::new().await;
        let held = scene.memory.store.link_reads().hold();
        let first = tokio::spawn(scene.load("sale"));
        scene.memory.store.link_reads().counted(1).await;
        let second = tokio::spawn(scene.load("sale"));
        first.abort();
        drop(held);
        assert!(is_there(&second.await.unwrap()));
        assert_eq!(scene.memory.store.link_reads().count(), 1);
    }
}
