//! Pixels in the store.

use async_trait::async_trait;
use signpost_domain::{AccountId, Page, PageLimit, PagePosition, Pixel, PixelId};

use super::store_error::StoreError;

/// Reading pixels.
#[async_trait]
pub trait PixelReads: Send + Sync {
    /// The account's pixel with this id.
    async fn pixel(&self, account: AccountId, id: PixelId) -> Result<Option<Pixel>, StoreError>;

    /// One page of the account's pixels, newest (highest id) first, beginning behind `after`. Its cost must not grow with
    /// its depth.
    async fn pixels(
        &self,
        account: AccountId,
        limit: PageLimit,
        after: Option<PagePosition>,
    ) -> Result<Page<Pixel>, StoreError>;

    /// Those of `ids` (as many as ten for each link of a [`Batch`](signpost_domain::Batch)) that are pixels of the account,
    /// in any order. An id that is named twice is meant once.
    async fn pixels_with_ids(&self, account: AccountId, ids: &[PixelId]) -> Result<Vec<Pixel>, StoreError>;
}

/// Why a pixel was not inserted.
#[derive(Debug, thiserror::Error)]
pub enum InsertPixelError {
    /// A decision: the account has as many pixels as its plan allows.
    #[error("the limit on pixels is reached")]
    LimitReached,
    /// A decision: the account was deleted after the request was let in.
    #[error("no such account")]
    AccountMissing,
    /// The store broke.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Changing pixels, within a unit of work. Redirects name their pixels by id, and an id without a pixel names nothing: so a
/// pixel can be deleted without a look at them.
#[async_trait]
pub trait PixelWrites: Send {
    /// As [`PixelReads::pixels_with_ids`], on the connection of the unit of work. It holds nothing.
    async fn pixels_with_ids(
        &mut self,
        account: AccountId,
        ids: &[PixelId],
    ) -> Result<Vec<Pixel>, StoreError>;

    /// Inserts a pixel and moves the account's count of pixels, which never passes `pixels_limit`. An id that any account has
    /// already is no decision but a failure.
    async fn insert_pixel(
        &mut self,
        account: AccountId,
        pixel: &Pixel,
        pixels_limit: u64,
    ) -> Result<(), InsertPixelError>;

    /// Deletes a pixel and moves the account's count of pixels. `false` if the account has no such pixel.
    async fn delete_pixel(&mut self, account: AccountId, id: PixelId) -> Result<bool, StoreError>;
}
