//! Reads of published links, which a test may count and hold.

use std::sync::{Mutex, PoisonError};

use tokio::sync::watch;

/// Counts the reads of published links, and lets them wait.
#[derive(Debug)]
pub struct LinkReadGate {
    /// How many have read what is there.
    read: watch::Sender<usize>,
    gate: Mutex<Option<watch::Receiver<()>>>,
}

/// While this lives, reads of published links wait; see [`LinkReadGate::hold`].
#[derive(Debug)]
#[must_use = "dropping it lets the reads go on"]
pub struct HeldLinkReads {
    _open: watch::Sender<()>,
}

impl Default for LinkReadGate {
    fn default() -> Self {
        Self { read: watch::Sender::new(0), gate: Mutex::default() }
    }
}

impl LinkReadGate {
    /// From now on each read looks at what is there and then waits until what this returns is dropped, as an answer does that
    /// is slow on its way.
    pub fn hold(&self) -> HeldLinkReads {
        let (open, gate) = watch::channel(());
        *self.gate.lock().unwrap_or_else(PoisonError::into_inner) = Some(gate);
        HeldLinkReads { _open: open }
    }

    /// How many reads there were so far, those that wait included.
    #[must_use]
    pub fn count(&self) -> usize {
        *self.read.borrow()
    }

    /// Returns once there were so many. It waits for ever if they do not come.
    pub async fn counted(&self, times: usize) {
        // The other end lives as long as this does, so waiting cannot fail.
        let _ = self.read.subscribe().wait_for(|count| *count >= times).await;
    }

    /// What is to be done when a read has looked at what is there.
    pub(crate) async fn pass(&self) {
        let gate = self.gate.lock().unwrap_or_else(PoisonError::into_inner).clone();
        self.read.send_modify(|count| *count = count.saturating_add(1));
        if let Some(mut gate) = gate {
            // Nothing is ever sent: this ends when the other end is dropped.
            while gate.changed().await.is_ok() {}
        }
    }
}
