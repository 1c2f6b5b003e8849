//! Pixels in the store.

use async_trait::async_trait;
use signpost_domain::{AccountId, Page, PageLimit, PagePosition, Pixel, PixelId};

use super::insert_resource::InsertResourceError;
use super::store_error::StoreError;

/// Reading pixels.
#[async_trait]
pub trait PixelReads: Send + Sync {
    /// The account's pixel with this id.
    async fn pixel(&self, account: AccountId, id: PixelId) -> Result<Option<Pixel>, StoreError>;

    /// One page of the account's pixels, newest (highest id) first, starting after `after`. The cost must not grow with the
    /// depth of the page.
    async fn pixels(
        &self,
        account: AccountId,
        limit: PageLimit,
        after: Option<PagePosition>,
    ) -> Result<Page<Pixel>, StoreError>;

    /// The account's pixels among `ids`, in any order. There are at most ten ids for each link of a
    /// [`Batch`](signpost_domain::Batch); a repeated id counts once.
    async fn pixels_with_ids(&self, account: AccountId, ids: &[PixelId]) -> Result<Vec<Pixel>, StoreError>;
}

/// Changing pixels, within a unit of work. Redirects refer to their pixels by id, and ignore ids of deleted pixels. So a
/// pixel is deleted without reading the redirects.
#[async_trait]
pub trait PixelWrites: Send {
    /// As [`PixelReads::pixels_with_ids`], on the connection of the unit of work. It locks nothing.
    async fn pixels_with_ids(
        &mut self,
        account: AccountId,
        ids: &[PixelId],
    ) -> Result<Vec<Pixel>, StoreError>;

    /// Inserts a pixel and updates the account's count of pixels, which never exceeds `pixels_limit`. An id that already
    /// exists in any account is a failure, not a decision.
    async fn insert_pixel(
        &mut self,
        account: AccountId,
        pixel: &Pixel,
        pixels_limit: u64,
    ) -> Result<(), InsertResourceError>;

    /// Deletes a pixel and updates the account's count of pixels. `false` if the account has no such pixel.
    async fn delete_pixel(&mut self, account: AccountId, id: PixelId) -> Result<bool, StoreError>;
}
