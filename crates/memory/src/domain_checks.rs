//! The checks of custom domains.

use async_trait::async_trait;
use signpost_app::ports::{ConcludedCheck, DomainChecks, DueCheck, StoreError};
use signpost_domain::{DomainId, Timestamp};

use crate::store::MemoryStore;

#[async_trait]
impl DomainChecks for MemoryStore {
    async fn claim_due_checks(
        &self,
        now: Timestamp,
        until: Timestamp,
        at_most: u16,
    ) -> Result<Vec<DueCheck>, StoreError> {
        if self.read(|state| state.domains.due(now).next().is_none())? {
            return Ok(Vec::new());
        }
        self.write_at_once(|state| {
            let due: Vec<DomainId> = state.domains.due(now).take(usize::from(at_most)).collect();
            due.into_iter().filter_map(|id| state.domains.claim(id, until)).collect()
        })
        .await
    }

    async fn plan_checks(
        &self,
        claimed_until: Timestamp,
        checks: &[ConcludedCheck],
    ) -> Result<(), StoreError> {
        self.write_at_once(|state| {
            for check in checks {
                state.domains.plan(check, claimed_until);
            }
        })
        .await
    }

    async fn expire_domains(&self, now: Timestamp, at_most: u16) -> Result<u16, StoreError> {
        if self.read(|state| state.domains.overtaken(now).next().is_none())? {
            return Ok(0);
        }
        self.write_at_once(|state| {
            let overtaken: Vec<DomainId> = state.domains.overtaken(now).take(usize::from(at_most)).collect();
            let mut expired = 0;
            for id in overtaken {
                if let Some(failed) = state.domains.settle(id, now) {
                    state.forget_certificate(&failed);
                }
                expired += 1;
            }
            expired
        })
        .await
    }

    async fn release_checks(&self, now: Timestamp, at_most: u16) -> Result<u16, StoreError> {
        if self.read(|state| state.domains.to_be_released(now).next().is_none())? {
            return Ok(0);
        }
        self.write_at_once(|state| {
            let given_up: Vec<DomainId> =
                state.domains.to_be_released(now).take(usize::from(at_most)).collect();
            let mut released = 0;
            for id in given_up {
                state.domains.release(id);
                released += 1;
            }
            released
        })
        .await
    }
}
