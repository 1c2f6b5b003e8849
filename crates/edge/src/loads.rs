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
        let list = self.app.target_blocklist.current();
        let is_listed = resolved.target_hosts.iter().any(|host| list.contains(host));
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
