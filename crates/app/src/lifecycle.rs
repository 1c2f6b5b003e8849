//! Whether the program is on its way out (D64).

use std::sync::atomic::{AtomicBool, Ordering};

/// Tells readiness checks that the program was asked to stop, before it stops accepting.
#[derive(Debug, Default)]
pub struct Lifecycle {
    draining: AtomicBool,
}

impl Lifecycle {
    /// From now on the program is not ready any more. There is no way back.
    pub fn begin_draining(&self) {
        self.draining.store(true, Ordering::Release);
    }

    /// Whether the program was asked to stop.
    #[must_use]
    pub fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Acquire)
    }
}
