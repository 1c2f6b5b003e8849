//! Leases: rows that say which node does a job until when, by the server's clock alone.

use std::time::Duration;

use async_trait::async_trait;
use diesel::prelude::*;
use diesel::sql_types::{Double, Text};
use diesel_async::RunQueryDsl;
use signpost_app::ports::{LeaseHolder, Leases, StoreError};
use signpost_domain::Timestamp;
use signpost_sql_rows::sql_types::Identifier;

use crate::schema::leases;
use crate::statement::statement;
use crate::store::PostgresStore;
use signpost_sql_rows::columns::IdBytes;

statement! {
    /// Takes or renews a lease, and returns its name on success.
    ///
    /// If another node holds it, this only reads: nodes ask every second, and a conflict would lock the row and cost a
    /// commit. Of several nodes that find it free, the second waits for the row and checks again.
    TakeLease<'a> -> Text {
        name: &'a str => Text,
        holder: IdBytes => Identifier,
        term: f64 => Double,
    } =
    "INSERT INTO leases (name, holder, expires_at) SELECT $1, $2, date_trunc('milliseconds', clock_timestamp()) + \
     make_interval(secs => $3) WHERE NOT EXISTS (SELECT FROM leases AS l WHERE l.name = $1 AND l.holder <> $2 AND \
     l.expires_at > clock_timestamp()) ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, expires_at = \
     excluded.expires_at WHERE leases.holder = excluded.holder OR leases.expires_at <= clock_timestamp() RETURNING \
     name"
}

#[async_trait]
impl Leases for PostgresStore {
    async fn take_lease(
        &self,
        name: &str,
        holder: LeaseHolder,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<bool, StoreError> {
        let term = u64::try_from(until.unix_millis().saturating_sub(now.unix_millis())).unwrap_or_default();
        let term = Duration::from_millis(term).as_secs_f64();
        let take = TakeLease { name, holder: holder.into(), term };
        self.own_work(async |connection| {
            let taken: Vec<String> = take.load(connection).await?;
            Ok(!taken.is_empty())
        })
        .await
    }

    async fn release_lease(&self, name: &str, holder: LeaseHolder) -> Result<(), StoreError> {
        self.own_work(async |connection| {
            let held = leases::table.find(name).filter(leases::holder.eq(IdBytes::from(holder)));
            diesel::delete(held).execute(connection).await?;
            Ok(())
        })
        .await
    }
}
