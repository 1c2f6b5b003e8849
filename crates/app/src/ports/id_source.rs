//! New identifiers.

use signpost_domain::{Id, IdKind};

/// Gives out the 128 bits of identifiers (D1).
pub trait IdSource: Send + Sync {
    /// Bits never given out before, by any node. Those of one source rise strictly, even when the clock steps
    /// back, so that lists keep the order of creation.
    fn next_bits(&self) -> [u8; 16];
}

impl dyn IdSource {
    /// A new identifier of the kind that the caller asks for.
    pub fn next<K: IdKind>(&self) -> Id<K> {
        Id::from_bytes(self.next_bits())
    }
}
