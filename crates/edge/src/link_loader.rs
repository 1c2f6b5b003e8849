//! Loads links from the store. Concurrent visits of one address share a load.

use std::sync::Arc;

use signpost_app::Application;
use signpost_app::visits::{Resolved, resolve};
use signpost_domain::{Address, Timestamp};

use crate::compiled_link::{CompileError, CompiledLink};
use crate::generations::Moment;
use crate::landing_page::Forms;
use crate::link_cache::LinkCache;
use crate::outage_log::OutageLog;
use crate::requested_address::{HashedSite, RequestedAddress};
use crate::shared_loads::{Load, SharedLoads};

/// The outcome of a load.
#[derive(Clone)]
pub(crate) enum Loaded {
    /// A link, or that the address is empty.
    Link(CompiledLink),
    /// The store is unavailable.
    StoreUnavailable,
    /// An internal error.
    Failed,
}

/// Loads links, and keeps them in the cache.
pub(crate) struct LinkLoader {
    app: Arc<Application>,
    cache: Arc<LinkCache>,
    outages: OutageLog,
    loads: Arc<SharedLoads<Address, Loaded>>,
}

impl LinkLoader {
    pub(crate) fn new(app: Arc<Application>, cache: Arc<LinkCache>) -> Arc<Self> {
        Arc::new(Self { app, cache, outages: OutageLog::default(), loads: Arc::default() })
    }

    /// Returns what is at `requested`, as of a moment after the call, or as of an earlier one without changes
    /// since.
    pub(crate) async fn load(self: &Arc<Self>, requested: &RequestedAddress<'_>) -> Loaded {
        let Some(address) = requested.to_address() else { return Loaded::Failed };
        let (load, is_own) = self.join(&address);
        match load.await {
            Ok(Loaded::Link(link))
                if is_own || link.view().holds(link.moment(), requested, &self.cache.generations) =>
            {
                return Loaded::Link(link);
            }
            // Waiting visitors do not retry one after the other: that would multiply the load on a failing
            // store.
            Ok(loaded @ Loaded::StoreUnavailable) => return loaded,
            Ok(loaded @ Loaded::Failed) if is_own => return loaded,
            // The load began before a change, or was lost with the worker that ran it.
            Ok(Loaded::Link(_) | Loaded::Failed) | Err(_) => {}
        }
        // The next load began after this call, so any later change is newer than the answer must be.
        let (load, _) = self.join(&address);
        load.await.unwrap_or(Loaded::Failed)
    }

    /// The load of `address`, and whether this call started it.
    fn join(self: &Arc<Self>, address: &Address) -> (Load<Loaded>, bool) {
        self.loads.join(address, || {
            let (loader, address) = (Arc::clone(self), address.clone());
            async move { loader.read(&address).await }
        })
    }

    /// Compiles what was read as of `moment`, for visits about `now`, with a page in these forms.
    pub(crate) fn compiled(
        &self,
        requested: &RequestedAddress<'_>,
        resolved: &Resolved,
        moment: Moment,
        now: Timestamp,
        forms: Forms,
    ) -> Result<CompiledLink, CompileError> {
        let list = self.app.target_blocklist.current();
        CompiledLink::new(requested, resolved, &list, moment, now, forms, &self.cache.generations)
    }

    async fn read(&self, address: &Address) -> Loaded {
        let generations = &self.cache.generations;
        let moment = generations.now();
        let resolved = match resolve(&self.app, address.clone()).await {
            Ok(resolved) => resolved,
            Err(error) => {
                self.outages.note(|unlogged| {
                    tracing::error!(%error, unlogged, "the store cannot say where links lead");
                });
                return Loaded::StoreUnavailable;
            }
        };
        let site = HashedSite::at(address, generations);
        let slug = address.slug.as_ref().map(signpost_domain::Slug::as_str);
        let requested = RequestedAddress::new(&site, slug, generations);
        match self.compiled(&requested, &resolved, moment, self.app.clock.now(), Forms::All) {
            Ok(link) => {
                self.cache.insert(requested.hash(), link.clone());
                Loaded::Link(link)
            }
            Err(error) => {
                tracing::error!(%error, "a link cannot be shown");
                Loaded::Failed
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::future::Shared;
    use signpost_app::changes::{ChangeSubscriber as _, Origin};
    use signpost_app::ports::{Affected, Store as _, VisibleChange};
    use signpost_domain::Redirect;
    use signpost_memory::{Fault, InMemory, Step};
    use signpost_port_contracts::samples;
    use tokio::task::JoinSet;

    use super::*;
    use crate::link_view::Destination;

    /// A loader on a store with one redirect.
    struct Scene {
        memory: InMemory,
        loader: Arc<LinkLoader>,
        redirect: Redirect,
        account: signpost_domain::AccountId,
    }

    impl Scene {
        #[expect(clippy::disallowed_methods, reason = "the test stores values that no use case creates")]
        async fn new() -> Self {
            let memory = InMemory::default();
            let account = samples::account();
            let redirect = samples::redirect("sale").with(|content| {
                content.target_url = samples::target("https://example.com/no/address/of/ours");
            });
            let mut work = memory.store.begin().await.unwrap();
            work.insert_account(&account).await.unwrap();
            work.insert_links(account.id, &[redirect.clone().into()], 10).await.unwrap();
            work.commit().await.unwrap();
            let app = Arc::new(memory.application());
            let cache = Arc::new(LinkCache::new(1 << 20, 0, Arc::clone(&app.link_memory)));
            Self { memory, loader: LinkLoader::new(app, cache), redirect, account: account.id }
        }

        /// Deactivates the redirect as a use case does.
        #[expect(clippy::disallowed_methods, reason = "the test notifies the subscriber")]
        async fn deactivate(&self) {
            let before = self.redirect.clone().into_any();
            let after = Redirect { is_active: false, ..self.redirect.clone() }.into_any();
            let mut work = self.memory.store.begin().await.unwrap();
            work.update_link(self.account, &before, &after).await.unwrap();
            work.commit().await.unwrap();
            let addresses = [self.redirect.placement.address().unwrap()].into();
            let change = VisibleChange { account: self.account, affected: Affected::Addresses(addresses) };
            self.loader.cache.changed(&change, Origin::ThisNode);
        }

        /// Waits until this many visitors have joined the load. Each visitor and the table of loads hold a
        /// reference.
        async fn joined_by(&self, visitors: usize) {
            let address = self.redirect.placement.address().unwrap();
            while self.loader.loads.in_flight().get(&address).and_then(Shared::strong_count) <= Some(visitors)
            {
                tokio::task::yield_now().await;
            }
        }

        /// Loads this slug without reading the cache.
        fn load(&self, slug: &'static str) -> impl Future<Output = Loaded> + Send + use<> {
            let loader = Arc::clone(&self.loader);
            async move {
                let generations = &loader.cache.generations;
                let address = samples::on_system(slug).address().unwrap();
                let site = HashedSite::at(&address, generations);
                loader.load(&RequestedAddress::new(&site, Some(slug), generations)).await
            }
        }
    }

    fn is_there(loaded: &Loaded) -> bool {
        match loaded {
            Loaded::Link(link) => link.view().destination() != Destination::Nothing,
            Loaded::StoreUnavailable | Loaded::Failed => panic!("the load failed"),
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn d58_ten_thousand_visitors_of_a_cold_link_cost_one_query() {
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
        assert!(scene.loader.loads.in_flight().is_empty());
    }

    /// A visitor who comes after a change waits for the load that began before it, and does not get its
    /// outcome.
    #[tokio::test(flavor = "multi_thread")]
    async fn d58_r12_visit_after_a_change_never_gets_an_earlier_read() {
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
    async fn d58_waiting_visitors_share_one_query_during_an_outage() {
        let scene = Scene::new().await;
        let held = scene.memory.store.link_reads().hold();
        let first = tokio::spawn(scene.load("sale"));
        scene.memory.store.link_reads().counted(1).await;
        drop(held);
        assert!(is_there(&first.await.unwrap()));
        scene.memory.store.faults().fail_next(Step::Read, Fault::Unavailable, 1);
        assert!(matches!(scene.load("other").await, Loaded::StoreUnavailable));
        assert!(!is_there(&scene.load("other").await), "once the store is back");
        assert!(scene.loader.loads.in_flight().is_empty());
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn load_continues_when_its_visitor_leaves() {
        let scene = Scene::new().await;
        let held = scene.memory.store.link_reads().hold();
        let first = tokio::spawn(scene.load("sale"));
        scene.memory.store.link_reads().counted(1).await;
        let second = tokio::spawn(scene.load("sale"));
        scene.joined_by(2).await;
        first.abort();
        drop(held);
        assert!(is_there(&second.await.unwrap()));
        assert_eq!(scene.memory.store.link_reads().count(), 1);
    }
}
