//! Pixels.

use async_trait::async_trait;
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use signpost_app::ports::{InsertResourceError, PixelReads, PixelWrites, StoreError};
use signpost_domain::{AccountId, Page, PageLimit, PagePosition, Pixel, PixelId, PlanResource};

use crate::counters;
use crate::failure::Failure;
use crate::newest_rows::NewestRows;
use crate::schema::pixels;
use crate::store::PostgresStore;
use crate::unit_of_work::PostgresUnitOfWork;
use signpost_sql_rows::columns::IdBytes;
use signpost_sql_rows::listed;
use signpost_sql_rows::pixel::{NewPixel, PixelRow, TABLE};

#[async_trait]
impl PixelReads for PostgresStore {
    async fn pixel(&self, account: AccountId, id: PixelId) -> Result<Option<Pixel>, StoreError> {
        self.read(async |connection| {
            let found = pixels::table
                .find(IdBytes::from(id))
                .filter(pixels::account_id.eq(IdBytes::from(account)))
                .select(PixelRow::as_select())
                .first(connection)
                .await
                .optional()?;
            Ok(found.map(PixelRow::into_pixel).transpose()?)
        })
        .await
    }

    async fn pixels(
        &self,
        account: AccountId,
        limit: PageLimit,
        after: Option<PagePosition>,
    ) -> Result<Page<Pixel>, StoreError> {
        self.read(async |connection| {
            let query = NewestRows::<PixelRow>::for_page(TABLE, account, limit, after);
            let rows = query.load(connection).await?;
            Ok(listed::page(rows, limit))
        })
        .await
    }

    async fn pixels_with_ids(&self, account: AccountId, ids: &[PixelId]) -> Result<Vec<Pixel>, StoreError> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        self.read(async |connection| with_ids(connection, account, ids).await).await
    }
}

async fn with_ids(
    connection: &mut &AsyncPgConnection,
    account: AccountId,
    ids: &[PixelId],
) -> Result<Vec<Pixel>, Failure> {
    let ids: Vec<IdBytes> = ids.iter().copied().map(IdBytes::from).collect();
    let rows = pixels::table
        .filter(pixels::account_id.eq(IdBytes::from(account)))
        .filter(pixels::id.eq_any(ids))
        .select(PixelRow::as_select())
        .load(connection)
        .await?;
    Ok(rows.into_iter().map(PixelRow::into_pixel).collect::<Result<_, _>>()?)
}

#[async_trait]
impl PixelWrites for PostgresUnitOfWork {
    async fn pixels_with_ids(
        &mut self,
        account: AccountId,
        ids: &[PixelId],
    ) -> Result<Vec<Pixel>, StoreError> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        self.step(async |connection| with_ids(connection, account, ids).await).await
    }

    async fn insert_pixel(
        &mut self,
        account: AccountId,
        pixel: &Pixel,
        pixels_limit: u64,
    ) -> Result<(), InsertResourceError> {
        let outcome = self.step(async |connection| {
            let counted =
                counters::count_one(connection, account, PlanResource::Pixels, pixels_limit).await?;
            if counted.is_ok() {
                let row = NewPixel::new(account, pixel);
                diesel::insert_into(pixels::table).values(row).execute(connection).await?;
            }
            Ok(counted)
        });
        Ok(outcome.await??)
    }

    async fn delete_pixel(&mut self, account: AccountId, id: PixelId) -> Result<bool, StoreError> {
        let delete = async |connection: &mut &AsyncPgConnection| {
            let pixel = pixels::table.find(IdBytes::from(id));
            let pixel = pixel.filter(pixels::account_id.eq(IdBytes::from(account)));
            let is_deleted = diesel::delete(pixel).execute(connection).await? > 0;
            if is_deleted {
                counters::discount_one(connection, account, PlanResource::Pixels).await?;
            }
            Ok(is_deleted)
        };
        let is_deleted = self.step(delete).await?;
        if is_deleted {
            self.noted().note_account(account);
        }
        Ok(is_deleted)
    }
}
