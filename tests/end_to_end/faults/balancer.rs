//! The nodes as their clients see them: behind a balancer, which sends no request to a node that is not ready.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::harness::{Account, Program, Visitor};

/// One node, for an account's clients and for visitors.
#[derive(Clone)]
pub struct Backend {
    pub node: usize,
    pub account: Account,
    pub visitor: Visitor,
}

/// The nodes that get requests.
pub struct Balancer {
    backends: Mutex<Vec<Backend>>,
    changed: Condvar,
    key: String,
}

impl Balancer {
    /// A balancer before all these nodes, for the account with this key.
    pub fn new(nodes: &[Program], key: &str) -> Self {
        let balancer = Self { backends: Mutex::default(), changed: Condvar::new(), key: key.to_owned() };
        for (number, node) in nodes.iter().enumerate() {
            balancer.add(number, node);
        }
        balancer
    }

    /// Sends requests to this node, too.
    pub fn add(&self, number: usize, node: &Program) {
        let backend = Backend { node: number, account: node.with_key(&self.key), visitor: node.visitor() };
        self.backends().push(backend);
        self.changed.notify_all();
    }

    /// Sends no more requests to this node.
    pub fn remove(&self, number: usize) {
        self.backends().retain(|backend| backend.node != number);
    }

    /// Waits until this node gets requests.
    pub fn await_added(&self, number: usize) {
        let _backends = self.wait_while(|backends| backends.iter().all(|backend| backend.node != number));
    }

    /// The node for the request with this number. If no node is ready, the request waits.
    pub fn pick(&self, turn: usize) -> Backend {
        let backends = self.wait_while(<[Backend]>::is_empty);
        backends[turn % backends.len()].clone()
    }

    fn wait_while(&self, is_so: impl Fn(&[Backend]) -> bool) -> MutexGuard<'_, Vec<Backend>> {
        let patience = Duration::from_mins(1);
        let waited = self.changed.wait_timeout_while(self.backends(), patience, |backends| is_so(backends));
        let (backends, waited) = waited.unwrap_or_else(PoisonError::into_inner);
        assert!(!waited.timed_out(), "the nodes do not become ready");
        backends
    }

    fn backends(&self) -> MutexGuard<'_, Vec<Backend>> {
        self.backends.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
