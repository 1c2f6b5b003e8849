//! Changing pixels.

use async_trait::async_trait;
use signpost_app::ports::{InsertResourceError, PixelWrites, StoreError};
use signpost_domain::{AccountId, Pixel, PixelId, PlanResource};

use crate::state::twice;
use crate::unit_of_work::MemoryUnitOfWork;

#[async_trait]
impl PixelWrites for MemoryUnitOfWork {
    async fn pixels_with_ids(
        &mut self,
        account: AccountId,
        ids: &[PixelId],
    ) -> Result<Vec<Pixel>, StoreError> {
        self.write(|state| Ok(state.pixels_with_ids(account, ids)))
    }

    async fn insert_pixel(
        &mut self,
        account: AccountId,
        pixel: &Pixel,
        pixels_limit: u64,
    ) -> Result<(), InsertResourceError> {
        self.write(|state| {
            if state.has_pixel(pixel.id) {
                return Err(twice(pixel.id).into());
            }
            let owned = state.owned_with_room(account, PlanResource::Pixels, pixels_limit)?;
            owned.pixels.insert(pixel.id, pixel.clone());
            Ok(())
        })
    }

    async fn delete_pixel(&mut self, account: AccountId, id: PixelId) -> Result<bool, StoreError> {
        self.write_noting(|state, changes| {
            let owned = state.owned_mut(account);
            let is_deleted = owned.is_some_and(|owned| owned.pixels.remove(&id).is_some());
            if is_deleted {
                changes.note_account(account);
            }
            Ok(is_deleted)
        })
    }
}
