//! Changing pixels.

use async_trait::async_trait;
use signpost_app::ports::{InsertPixelError, PixelWrites, StoreError};
use signpost_domain::{AccountId, Pixel, PixelId};

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
    ) -> Result<(), InsertPixelError> {
        self.write(|state| {
            if state.has_pixel(pixel.id) {
                return Err(twice(pixel.id).into());
            }
            let usage = state.usage(account).ok_or(InsertPixelError::AccountMissing)?;
            if usage.pixels >= pixels_limit {
                return Err(InsertPixelError::LimitReached);
            }
            let owned = state.owned_mut(account).ok_or(InsertPixelError::AccountMissing)?;
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
