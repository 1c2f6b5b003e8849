//! Pixels.

use std::collections::BTreeSet;

use async_trait::async_trait;
use diesel::prelude::*;
use signpost_app::ports::{InsertResourceError, PixelReads, PixelWrites, StoreError};
use signpost_domain::{AccountId, Page, PageLimit, PagePosition, Pixel, PixelId, PlanResource};

use crate::columns::UpperBound;
use crate::counters;
use crate::failure::Failure;
use crate::schema::pixels;
use crate::store::SqliteStore;
use crate::unit_of_work::SqliteUnitOfWork;
use signpost_sql_rows::columns::IdBytes;
use signpost_sql_rows::listed;
use signpost_sql_rows::pixel::{NewPixel, PixelRow};

#[async_trait]
impl PixelReads for SqliteStore {
    async fn pixel(&self, account: AccountId, id: PixelId) -> Result<Option<Pixel>, StoreError> {
        let read = move |connection: &mut SqliteConnection| {
            let found = pixels::table
                .find(IdBytes::from(id))
                .filter(pixels::account_id.eq(IdBytes::from(account)))
                .select(PixelRow::as_select())
                .first(connection)
                .optional()?;
            Ok(found.map(PixelRow::into_pixel).transpose()?)
        };
        self.readers().read(read).await
    }

    async fn pixels(
        &self,
        account: AccountId,
        limit: PageLimit,
        after: Option<PagePosition>,
    ) -> Result<Page<Pixel>, StoreError> {
        let read = move |connection: &mut SqliteConnection| {
            let rows = pixels::table
                .filter(pixels::account_id.eq(IdBytes::from(account)))
                .filter(pixels::id.lt(UpperBound::from(after)))
                .order(pixels::id.desc())
                .limit(i64::from(limit.get()) + 1)
                .select(PixelRow::as_select())
                .load::<PixelRow>(connection)?;
            Ok(rows)
        };
        Ok(listed::page(self.readers().read(read).await?, limit))
    }

    async fn pixels_with_ids(&self, account: AccountId, ids: &[PixelId]) -> Result<Vec<Pixel>, StoreError> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let ids: BTreeSet<PixelId> = ids.iter().copied().collect();
        self.readers().read(move |connection| with_ids(connection, account, ids)).await
    }
}

fn with_ids(
    connection: &mut SqliteConnection,
    account: AccountId,
    ids: BTreeSet<PixelId>,
) -> Result<Vec<Pixel>, Failure> {
    let rows = pixels::table
        .filter(pixels::account_id.eq(IdBytes::from(account)))
        .filter(pixels::id.eq_any(ids.into_iter().map(IdBytes::from)))
        .select(PixelRow::as_select())
        .load(connection)?;
    Ok(rows.into_iter().map(PixelRow::into_pixel).collect::<Result<_, _>>()?)
}

#[async_trait]
impl PixelWrites for SqliteUnitOfWork {
    async fn pixels_with_ids(
        &mut self,
        account: AccountId,
        ids: &[PixelId],
    ) -> Result<Vec<Pixel>, StoreError> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let ids: BTreeSet<PixelId> = ids.iter().copied().collect();
        self.step(move |connection| with_ids(connection, account, ids)).await
    }

    async fn insert_pixel(
        &mut self,
        account: AccountId,
        pixel: &Pixel,
        pixels_limit: u64,
    ) -> Result<(), InsertResourceError> {
        let pixel = pixel.clone();
        let step = move |connection: &mut SqliteConnection| {
            counters::count_one(connection, account, PlanResource::Pixels, pixels_limit)?;
            diesel::insert_into(pixels::table).values(NewPixel::new(account, &pixel)).execute(connection)?;
            Ok(())
        };
        self.decide(step).await?
    }

    async fn delete_pixel(&mut self, account: AccountId, id: PixelId) -> Result<bool, StoreError> {
        let step = move |connection: &mut SqliteConnection| {
            let pixel =
                pixels::table.find(IdBytes::from(id)).filter(pixels::account_id.eq(IdBytes::from(account)));
            let is_deleted = diesel::delete(pixel).execute(connection)? > 0;
            if is_deleted {
                counters::discount_one(connection, account, PlanResource::Pixels)?;
            }
            Ok(is_deleted)
        };
        let is_deleted = self.step(step).await?;
        if is_deleted {
            self.noted().note_account(account);
        }
        Ok(is_deleted)
    }
}
