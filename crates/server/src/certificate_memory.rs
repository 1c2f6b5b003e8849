//! Keeps the certificates in memory as the store has them (D185).

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use signpost_app::changes::{ChangeSubscriber, Origin};
use signpost_app::ports::{Affected, StoreError, VisibleChange};
use signpost_domain::{AccountId, Hostname};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use crate::certificate_reader::CertificateReader;

/// How many rows one read takes.
const AT_ONCE: u16 = 500;

/// How long to wait after the store gave no answer.
const PAUSE: Duration = Duration::from_millis(500);

/// Everything is read again this often, in case that a change was missed.
const EVERYTHING_AGAIN: Duration = Duration::from_hours(1);

/// What has to be read again.
#[derive(Debug, Default)]
struct Outdated {
    everything: bool,
    hostnames: BTreeSet<Hostname>,
    accounts: BTreeSet<AccountId>,
}

impl Outdated {
    fn is_empty(&self) -> bool {
        !self.everything && self.hostnames.is_empty() && self.accounts.is_empty()
    }
}

/// Notes what has changed; the task reads it.
#[derive(Debug, Default)]
struct Notes {
    outdated: Mutex<Outdated>,
    has_some: Notify,
}

impl Notes {
    fn note(&self, note: impl FnOnce(&mut Outdated)) {
        // Nothing panics while the lock is held.
        note(&mut self.outdated.lock().unwrap_or_else(PoisonError::into_inner));
        self.has_some.notify_one();
    }

    fn take(&self) -> Outdated {
        std::mem::take(&mut self.outdated.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl ChangeSubscriber for Notes {
    fn changed(&self, change: &VisibleChange, _: Origin) {
        match &change.affected {
            Affected::Domain(hostname) => {
                self.note(|outdated| _ = outdated.hostnames.insert(hostname.clone()));
            }
            Affected::Account => self.note(|outdated| _ = outdated.accounts.insert(change.account)),
            // Links have no part in certificates.
            Affected::Addresses(_) => {}
        }
    }

    fn anything_may_have_changed(&self) {
        self.note(|outdated| outdated.everything = true);
    }
}

/// The certificates of the store in memory.
pub(crate) struct CertificateMemory {
    reader: CertificateReader,
    notes: Arc<Notes>,
}

impl CertificateMemory {
    /// Reads all certificates, and then follows changes until the task is aborted. If the store gives no answer, the node starts
    /// without certificates, and reads them as soon as it answers.
    pub(crate) async fn follow(reader: CertificateReader) -> JoinHandle<()> {
        let notes = Arc::<Notes>::default();
        // Before the first read, so that no change is missed.
        reader.app.changes.subscribe(Arc::<Notes>::clone(&notes));
        let memory = Self { reader, notes };
        if memory.read_everything().await.is_err() {
            memory.notes.anything_may_have_changed();
        }
        tokio::spawn(memory.keep_up())
    }

    async fn keep_up(self) {
        let mut again = tokio::time::interval(EVERYTHING_AGAIN);
        again.tick().await;
        loop {
            tokio::select! {
                () = self.notes.has_some.notified() => {}
                _ = again.tick() => self.notes.anything_may_have_changed(),
            }
            let outdated = self.notes.take();
            if outdated.is_empty() {
                continue;
            }
            if let Err(error) = self.read_again(&outdated).await {
                tracing::warn!(%error, "cannot read certificates; the previous ones are still served");
                self.notes.note(|notes| {
                    notes.everything |= outdated.everything;
                    notes.hostnames.extend(outdated.hostnames);
                    notes.accounts.extend(outdated.accounts);
                });
                tokio::time::sleep(PAUSE).await;
            }
        }
    }

    async fn read_again(&self, outdated: &Outdated) -> Result<(), StoreError> {
        let CertificateReader { app, served, .. } = &self.reader;
        if outdated.everything {
            return self.read_everything().await;
        }
        let of_accounts = outdated.accounts.iter().flat_map(|account| served.hostnames(Some(*account)));
        let hostnames: BTreeSet<_> = outdated.hostnames.iter().cloned().chain(of_accounts).collect();
        for hostname in hostnames {
            match app.store.certificate(&hostname).await {
                Ok(Some(stored)) => self.reader.serve(stored),
                Ok(None) => served.remove(&hostname),
                // Reading it again would not help, and the hostnames behind it must not wait.
                Err(error @ StoreError::Corrupt { .. }) => {
                    tracing::error!(%hostname, %error, "a certificate cannot be read; the previous one is still served");
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    async fn read_everything(&self) -> Result<(), StoreError> {
        let CertificateReader { app, served, .. } = &self.reader;
        let mut gone: BTreeSet<_> = served.hostnames(None).into_iter().collect();
        let mut after = None;
        loop {
            let (rows, next) = app.store.certificates(after.as_ref(), AT_ONCE).await?;
            for stored in rows {
                gone.remove(&stored.hostname);
                self.reader.serve(stored);
            }
            after = next;
            if after.is_none() {
                break;
            }
        }
        for hostname in gone {
            served.remove(&hostname);
        }
        Ok(())
    }
}
