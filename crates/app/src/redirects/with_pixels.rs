//! A redirect with its pixels, as the answers about a single one show it (D27).

use std::collections::{BTreeSet, HashMap};

use signpost_domain::id::PixelKind;
use signpost_domain::{AccountId, IdReference, Pixel, PixelId, Redirect};

use crate::application::Application;
use crate::ports::StoreError;

/// A redirect and those of its pixels that still exist, in its order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedirectWithPixels {
    /// The redirect.
    pub redirect: Redirect,
    /// Its pixels.
    pub pixels: Vec<Pixel>,
}

impl RedirectWithPixels {
    /// Reads the pixels of a redirect; asks the store only if it has some.
    pub(super) async fn of(
        app: &Application,
        account: AccountId,
        redirect: Redirect,
    ) -> Result<Self, StoreError> {
        let ids = redirect.pixel_ids.as_slice();
        let pixels = if ids.is_empty() { vec![] } else { app.store.pixels_with_ids(account, ids).await? };
        let mut pixels: HashMap<PixelId, Pixel> = pixels.into_iter().map(|pixel| (pixel.id, pixel)).collect();
        let pixels = ids.iter().filter_map(|id| pixels.remove(id)).collect();
        Ok(Self { redirect, pixels })
    }
}

/// Which of the pixels that a request names are the account's; asks the store only if it names some.
pub(super) async fn known_pixels(
    app: &Application,
    account: AccountId,
    named: impl IntoIterator<Item = &IdReference<PixelKind>>,
) -> Result<BTreeSet<PixelId>, StoreError> {
    let ids: BTreeSet<PixelId> = named.into_iter().filter_map(|pixel| pixel.id()).collect();
    if ids.is_empty() {
        return Ok(ids);
    }
    let ids: Vec<PixelId> = ids.into_iter().collect();
    let pixels = app.store.pixels_with_ids(account, &ids).await?;
    Ok(pixels.into_iter().map(|pixel| pixel.id).collect())
}
