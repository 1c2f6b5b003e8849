//! Upkeep of people and keys: writing when they were last seen, and deleting what has expired.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use super::{DoneBy, Job, Progress};
use crate::app_error::AppError;
use crate::application::Application;

/// How many uses of keys one statement writes.
const KEYS_AT_ONCE: usize = 500;

/// How many rows of each kind one step deletes.
const ROWS_AT_ONCE: u16 = 500;

/// Writes when keys and sessions were last used (D72, D80). A node that crashes forgets at most one period of uses.
pub struct NoteUses {
    app: Arc<Application>,
}

impl NoteUses {
    /// The job for this node.
    #[must_use]
    pub const fn new(app: Arc<Application>) -> Self {
        Self { app }
    }
}

#[async_trait]
impl Job for NoteUses {
    fn name(&self) -> &'static str {
        "note-uses"
    }

    fn done_by(&self) -> DoneBy {
        DoneBy::EveryNode
    }

    fn period(&self) -> Duration {
        Duration::from_secs(20)
    }

    async fn step(&self) -> Result<Progress, AppError> {
        let uses = &self.app.gatekeeper.recent_uses;
        for keys in uses.take_keys().chunks(KEYS_AT_ONCE) {
            self.app.store.note_key_uses(keys).await?;
        }
        for (session, at) in uses.take_sessions() {
            self.app.store.see_session(session, at).await?;
        }
        Ok(Progress::Done)
    }
}

/// Deletes sessions, tickets and counts of failed sign-ins that have expired, and old entries of the audit.
pub struct DeleteExpiredPeople {
    app: Arc<Application>,
}

impl DeleteExpiredPeople {
    /// The job for this application.
    #[must_use]
    pub const fn new(app: Arc<Application>) -> Self {
        Self { app }
    }
}

#[async_trait]
impl Job for DeleteExpiredPeople {
    fn name(&self) -> &'static str {
        "delete-expired-people"
    }

    fn period(&self) -> Duration {
        Duration::from_hours(1)
    }

    async fn step(&self) -> Result<Progress, AppError> {
        let is_more = self.app.store.delete_expired_people(self.app.clock.now(), ROWS_AT_ONCE).await?;
        Ok(if is_more { Progress::More } else { Progress::Done })
    }
}
