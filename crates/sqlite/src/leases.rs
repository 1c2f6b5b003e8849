//! Leases: rows that say which node does a job until when.

use async_trait::async_trait;
use diesel::prelude::*;
use diesel::query_dsl::methods::FilterDsl;
use signpost_app::ports::{LeaseHolder, Leases, StoreError};
use signpost_domain::Timestamp;

use crate::schema::leases;
use crate::store::SqliteStore;
use signpost_sql_rows::columns::IdBytes;

#[async_trait]
impl Leases for SqliteStore {
    async fn take_lease(
        &self,
        name: &str,
        holder: LeaseHolder,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<bool, StoreError> {
        let name = name.to_owned();
        let take = move |connection: &mut SqliteConnection| {
            let (holder, until) = (IdBytes::from(holder), until.unix_millis());
            let take = diesel::insert_into(leases::table)
                .values((leases::name.eq(name), leases::holder.eq(holder), leases::expires_at.eq(until)))
                .on_conflict(leases::name)
                .do_update()
                .set((leases::holder.eq(holder), leases::expires_at.eq(until)));
            let is_to_be_had = leases::holder.eq(holder).or(leases::expires_at.le(now.unix_millis()));
            Ok(FilterDsl::filter(take, is_to_be_had).execute(connection)? > 0)
        };
        self.write(take).await
    }

    async fn release_lease(&self, name: &str, holder: LeaseHolder) -> Result<(), StoreError> {
        let name = name.to_owned();
        let release = move |connection: &mut SqliteConnection| {
            let held = QueryDsl::filter(leases::table.find(name), leases::holder.eq(IdBytes::from(holder)));
            diesel::delete(held).execute(connection)?;
            Ok(())
        };
        self.write(release).await
    }
}
