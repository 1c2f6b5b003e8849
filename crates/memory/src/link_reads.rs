//! Reads of published links, which a test can count and delay.

use std::sync::{Mutex, PoisonError};

use tokio::sync::watch;

/// Counts the reads of published links, and can delay them.
#[derive(Debug)]
pub struct LinkReadGate {
    /// The number of reads.
    read: watch::Sender<usize>,
    gate: Mutex<Option<watch::Receiver<()>>>,
}

/// Reads of published links wait while this value exists; see [`LinkReadGate::hold`].
#[derive(Debug)]
#[must_use = "dropping it releases the reads"]
pub struct HeldLinkReads {
    _open: watch::Sender<()>,
}

impl Default for LinkReadGate {
    fn default() -> Self {
        Self { read: watch::Sender::new(0), gate: Mutex::default() }
    }
}

impl LinkReadGate {
    /// Makes each read fetch its result and then wait until the returned value is dropped, like an answer that is slow to
    /// arrive.
    pub fn hold(&self) -> HeldLinkReads {
        let (open, gate) = watch::channel(());
        *self.gate.lock().unwrap_or_else(PoisonError::into_inner) = Some(gate);
        HeldLinkReads { _open: open }
    }

    /// The number of reads so far, including those that wait.
    #[must_use]
    pub fn count(&self) -> usize {
        *self.read.borrow()
    }

    /// Returns once there were this many reads. It waits forever if they do not come.
    pub async fn counted(&self, times: usize) {
        // The other end lives as long as this one, so waiting cannot fail.
        let _ = self.read.subscribe().wait_for(|count| *count >= times).await;
    }

    /// What happens after a read has fetched its result.
    pub(crate) async fn pass(&self) {
        let gate = self.gate.lock().unwrap_or_else(PoisonError::into_inner).clone();
        self.read.send_modify(|count| *count = count.saturating_add(1));
        if let Some(mut gate) = gate {
            // Nothing is ever sent: this ends when the other end is dropped.
            while gate.changed().await.is_ok() {}
        }
    }
}
