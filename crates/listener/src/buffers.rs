//! Buffers that connections of one worker share, so that an idle connection holds none.

use std::cell::RefCell;

use bytes::BytesMut;

/// What a fresh buffer holds. The heads of most requests fit.
const FRESH_BYTES: usize = 2 * 1024;

/// A buffer that has grown beyond this is not kept.
const LARGEST_KEPT_BYTES: usize = 64 * 1024;

/// How many are kept.
const MOST_KEPT: usize = 64;

/// Empty buffers that were used before.
#[derive(Debug, Default)]
pub(crate) struct Buffers(RefCell<Vec<BytesMut>>);

impl Buffers {
    /// An empty buffer.
    pub(crate) fn take(&self) -> BytesMut {
        self.0.borrow_mut().pop().unwrap_or_else(|| BytesMut::with_capacity(FRESH_BYTES))
    }

    /// Takes the room of a buffer away from its owner, who leaves it without capacity.
    pub(crate) fn give_back(&self, buffer: &mut BytesMut) {
        let mut buffer = std::mem::take(buffer);
        buffer.clear();
        let mut kept = self.0.borrow_mut();
        if kept.len() < MOST_KEPT && (FRESH_BYTES..=LARGEST_KEPT_BYTES).contains(&buffer.capacity()) {
            kept.push(buffer);
        }
    }
}
