//! Leases: rows that say who does what until when.

use async_trait::async_trait;
use diesel::prelude::*;
use diesel::query_dsl::methods::FilterDsl;
use diesel_async::RunQueryDsl;
use signpost_app::ports::{LeaseHolder, Leases, StoreError};
use signpost_domain::Timestamp;

use crate::columns::{IdBytes, Instant};
use crate::schema::leases;
use crate::store::PostgresStore;

#[async_trait]
impl Leases for PostgresStore {
    async fn take_lease(
        &self,
        name: &str,
        holder: LeaseHolder,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<bool, StoreError> {
        self.call(async |connection| {
            let (holder, now, until) = (IdBytes::from(holder), Instant::from(now), Instant::from(until));
            // Whoever comes second waits for the row and looks at it again.
            let take = diesel::insert_into(leases::table)
                .values((leases::name.eq(name), leases::holder.eq(holder), leases::expires_at.eq(until)))
                .on_conflict(leases::name)
                .do_update()
                .set((leases::holder.eq(holder), leases::expires_at.eq(until)));
            let is_to_be_had = leases::holder.eq(holder).or(leases::expires_at.le(now));
            Ok(FilterDsl::filter(take, is_to_be_had).execute(connection).await? > 0)
        })
        .await
    }

    async fn release_lease(&self, name: &str, holder: LeaseHolder) -> Result<(), StoreError> {
        self.call(async |connection| {
            let held = QueryDsl::filter(leases::table.find(name), leases::holder.eq(IdBytes::from(holder)));
            diesel::delete(held).execute(connection).await?;
            Ok(())
        })
        .await
    }
}
