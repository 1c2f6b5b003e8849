//! The change log.

use std::collections::VecDeque;
use std::time::Duration;

use async_trait::async_trait;
use signpost_app::ports::{
    ChangeId, ChangeLog, ChangePosition, LoggedChange, ReadChanges, StoreError, VisibleChange,
};
use signpost_domain::Timestamp;

use crate::store::MemoryStore;

/// The entries of the log that have not been deleted. They are numbered from 1, and a position is the number of the last
/// entry read.
#[derive(Debug, Default)]
pub(crate) struct Log {
    forgotten: u64,
    entries: VecDeque<(Timestamp, VisibleChange)>,
}

impl Log {
    pub(crate) fn extend(&mut self, at: Timestamp, changes: Vec<VisibleChange>) {
        self.entries.extend(changes.into_iter().map(|change| (at, change)));
    }

    fn end(&self) -> u64 {
        self.forgotten + count(self.entries.len())
    }

    fn since(&self, position: ChangePosition, at_most: u32) -> ReadChanges {
        let read = u64::try_from(position.to_store()).unwrap_or_default();
        let (end, end_position) = (self.end(), position_of(self.end()));
        if read < self.forgotten || read > end || end - read > u64::from(at_most) {
            return ReadChanges::TooMany { position: end_position };
        }
        let numbered = (self.forgotten + 1..).zip(&self.entries);
        let changes = numbered.filter(|(number, _)| *number > read).map(|(number, (_, change))| {
            let id = ChangeId::from_bytes(u128::from(number).to_be_bytes());
            LoggedChange { id, change: change.clone() }
        });
        ReadChanges::These { changes: changes.collect(), position: end_position }
    }

    fn forget(&mut self, last: Timestamp, at_most: u32) -> u64 {
        let old = self.entries.iter().take_while(|(at, _)| *at <= last).count();
        let forgotten = old.min(usize::try_from(at_most).unwrap_or(usize::MAX));
        self.entries.drain(..forgotten);
        self.forgotten += count(forgotten);
        count(forgotten)
    }
}

#[async_trait]
impl ChangeLog for MemoryStore {
    async fn end_of_changes(&self) -> Result<ChangePosition, StoreError> {
        self.read_log(|log| position_of(log.end()))
    }

    async fn changes_since(&self, position: ChangePosition, at_most: u32) -> Result<ReadChanges, StoreError> {
        self.read_log(|log| log.since(position, at_most))
    }

    async fn forget_changes(&self, kept: Duration, at_most: u32) -> Result<u64, StoreError> {
        let last = self.now().minus(kept);
        self.write_log(|log| log.forget(last, at_most))
    }
}

fn position_of(number: u64) -> ChangePosition {
    ChangePosition::from_store(i64::try_from(number).unwrap_or(i64::MAX))
}

fn count(entries: usize) -> u64 {
    u64::try_from(entries).unwrap_or(u64::MAX)
}
