//! The nodes as their clients see them: as a balancer does, which sends nobody to a node that is not ready.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::harness::{Account, Program, Visitor};

/// One node, for an account's clients and for visitors.
#[derive(Clone)]
pub struct Door {
    pub node: usize,
    pub account: Account,
    pub visitor: Visitor,
}

/// The nodes that requests are sent to.
pub struct Doors {
    open: Mutex<Vec<Door>>,
    changed: Condvar,
    key: String,
}

impl Doors {
    /// All these nodes, for the account with this key.
    pub fn new(nodes: &[Program], key: &str) -> Self {
        let doors = Self { open: Mutex::default(), changed: Condvar::new(), key: key.to_owned() };
        for (number, node) in nodes.iter().enumerate() {
            doors.open(number, node);
        }
        doors
    }

    /// Sends requests to this node, too.
    pub fn open(&self, number: usize, node: &Program) {
        let door = Door { node: number, account: node.with_key(&self.key), visitor: node.visitor() };
        self.doors().push(door);
        self.changed.notify_all();
    }

    /// Sends no more requests to this node.
    pub fn close(&self, number: usize) {
        self.doors().retain(|door| door.node != number);
    }

    /// Waits until requests are sent to this node.
    pub fn await_open(&self, number: usize) {
        let _doors = self.wait_while(|doors| doors.iter().all(|door| door.node != number));
    }

    /// The node for the request with this number. Where no node is ready the request waits.
    pub fn pick(&self, turn: usize) -> Door {
        let doors = self.wait_while(<[Door]>::is_empty);
        doors[turn % doors.len()].clone()
    }

    fn wait_while(&self, is_so: impl Fn(&[Door]) -> bool) -> MutexGuard<'_, Vec<Door>> {
        let patience = Duration::from_mins(1);
        let waited = self.changed.wait_timeout_while(self.doors(), patience, |doors| is_so(doors));
        let (doors, waited) = waited.unwrap_or_else(PoisonError::into_inner);
        assert!(!waited.timed_out(), "the nodes do not become ready");
        doors
    }

    fn doors(&self) -> MutexGuard<'_, Vec<Door>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
