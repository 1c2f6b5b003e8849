//! Sequential ids.

use std::sync::{Arc, Mutex, PoisonError};

use signpost_app::ports::{Clock, IdSource};
use signpost_domain::Timestamp;

/// Creates ids in the form of a ULID: 48 bits of the clock's milliseconds, then the number of the node (16 bits) and a
/// counter (64 bits) instead of the random part. So they sort by creation time (D1), and a repeated test gets the same ids.
pub struct SequentialIds {
    clock: Arc<dyn Clock>,
    node: u16,
    last: Mutex<Last>,
}

struct Last {
    time: Timestamp,
    count: u64,
}

impl SequentialIds {
    /// The ids of node 0.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self::of_node(0, clock)
    }

    /// The ids of a node. Nodes that share a store need different numbers.
    #[must_use]
    pub fn of_node(node: u16, clock: Arc<dyn Clock>) -> Self {
        Self { clock, node, last: Mutex::new(Last { time: Timestamp::EPOCH, count: 0 }) }
    }
}

impl IdSource for SequentialIds {
    fn next_bits(&self) -> [u8; 16] {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        // The ids must not step back when the clock does.
        last.time = last.time.max(self.clock.now());
        last.count += 1;
        let [_, _, time @ ..] = last.time.unix_millis().to_be_bytes();
        let mut bits = [0; 16];
        let parts = time.into_iter().chain(self.node.to_be_bytes()).chain(last.count.to_be_bytes());
        for (bit, part) in bits.iter_mut().zip(parts) {
            *bit = part;
        }
        bits
    }
}
