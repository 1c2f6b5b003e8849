//! Loads from the store that concurrent visits share.

use std::collections::HashMap;
use std::future::Future;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::FutureExt as _;
use futures_util::future::Shared;
use tokio::sync::oneshot;

/// A load in flight. It fails if the worker that ran it was lost.
pub(crate) type Load<V> = Shared<oneshot::Receiver<V>>;

/// The loads in flight, by what they load.
pub(crate) struct SharedLoads<K: Eq + Hash, V>(Mutex<HashMap<K, Load<V>>>);

impl<K: Eq + Hash, V> Default for SharedLoads<K, V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Clone + Eq + Hash + Send + 'static, V: Clone + Send + Sync + 'static> SharedLoads<K, V> {
    /// The load of `key`, and whether this call started it, with `read`.
    pub(crate) fn join<F: Future<Output = V> + Send + 'static>(
        self: &Arc<Self>,
        key: &K,
        read: impl FnOnce() -> F,
    ) -> (Load<V>, bool) {
        let mut in_flight = self.in_flight();
        if let Some(load) = in_flight.get(key) {
            return (load.clone(), false);
        }
        let (sender, receiver) = oneshot::channel();
        let load = receiver.shared();
        in_flight.insert(key.clone(), load.clone());
        drop(in_flight);
        let guard = LoadGuard { loads: Arc::clone(self), key: key.clone(), sender: Some(sender) };
        let read = read();
        // A task of its own, so that the load outlives the visitor who started it.
        tokio::spawn(async move {
            let loaded = read.await;
            guard.end(loaded);
        });
        (load, true)
    }
}

impl<K: Eq + Hash, V> SharedLoads<K, V> {
    /// No code panics while it holds the lock.
    pub(crate) fn in_flight(&self) -> MutexGuard<'_, HashMap<K, Load<V>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Removes the load when it ends, even if it panics or its runtime stops.
struct LoadGuard<K: Eq + Hash, V> {
    loads: Arc<SharedLoads<K, V>>,
    key: K,
    sender: Option<oneshot::Sender<V>>,
}

impl<K: Eq + Hash, V> LoadGuard<K, V> {
    fn end(mut self, loaded: V) {
        let sender = self.sender.take();
        // Later visitors find the outcome in the cache, or start a new load.
        drop(self);
        if let Some(sender) = sender {
            // All waiting visitors may be gone.
            let _ = sender.send(loaded);
        }
    }
}

impl<K: Eq + Hash, V> Drop for LoadGuard<K, V> {
    fn drop(&mut self) {
        self.loads.in_flight().remove(&self.key);
    }
}
