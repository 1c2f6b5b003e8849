//! Leases.

use std::collections::BTreeMap;

use async_trait::async_trait;
use signpost_app::ports::{LeaseHolder, Leases, StoreError};
use signpost_domain::Timestamp;

use crate::store::MemoryStore;

/// The holder and the end of each lease.
pub(crate) type Held = BTreeMap<String, (LeaseHolder, Timestamp)>;

#[async_trait]
impl Leases for MemoryStore {
    async fn take_lease(
        &self,
        name: &str,
        holder: LeaseHolder,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<bool, StoreError> {
        self.write_leases(|leases| {
            let is_to_be_had =
                leases.get(name).is_none_or(|(of, expires_at)| *of == holder || *expires_at <= now);
            if is_to_be_had {
                leases.insert(name.to_owned(), (holder, until));
            }
            is_to_be_had
        })
    }

    async fn release_lease(&self, name: &str, holder: LeaseHolder) -> Result<(), StoreError> {
        self.write_leases(|leases| {
            if leases.get(name).is_some_and(|(of, _)| *of == holder) {
                leases.remove(name);
            }
        })
    }
}
