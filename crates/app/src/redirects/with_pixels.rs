//! A redirect with its pixels, as the answers about a single one show it (D27).

use std::collections::{BTreeMap, BTreeSet};

use signpost_domain::id::PixelKind;
use signpost_domain::{AccountId, IdReference, Pixel, PixelId, Redirect};

use crate::application::Application;
use crate::ports::{StoreError, UnitOfWork};

/// A redirect and those of its pixels that still exist, in its order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedirectWithPixels {
    /// The redirect.
    pub redirect: Redirect,
    /// Its pixels.
    pub pixels: Vec<Pixel>,
}

impl RedirectWithPixels {
    /// A redirect with those of its pixels that are among `pixels`.
    pub(super) fn with(redirect: Redirect, pixels: &BTreeMap<PixelId, Pixel>) -> Self {
        let ids = redirect.pixel_ids.as_slice();
        let pixels = ids.iter().filter_map(|id| pixels.get(id).cloned()).collect();
        Self { redirect, pixels }
    }

    /// The redirect as it is shown, without the pixels that were deleted; and its pixels.
    pub(super) fn into_shown(self) -> (Redirect, BTreeMap<PixelId, Pixel>) {
        let Self { mut redirect, pixels } = self;
        let pixels = by_id(pixels);
        redirect.pixel_ids = redirect.pixel_ids.filtered(|id| pixels.contains_key(&id));
        (redirect, pixels)
    }

    /// A redirect with its pixels.
    pub(super) async fn read(
        app: &Application,
        account: AccountId,
        redirect: Redirect,
    ) -> Result<Self, StoreError> {
        let pixels = pixels_with_ids(app, account, redirect.pixel_ids.as_slice()).await?;
        Ok(Self::with(redirect, &pixels))
    }

    /// The same for a redirect that a unit of work holds.
    pub(super) async fn read_in(
        work: &mut dyn UnitOfWork,
        account: AccountId,
        redirect: Redirect,
    ) -> Result<Self, StoreError> {
        let ids = redirect.pixel_ids.as_slice();
        let pixels = if ids.is_empty() { vec![] } else { work.pixels_with_ids(account, ids).await? };
        Ok(Self::with(redirect, &by_id(pixels)))
    }
}

/// The account's pixels among those that a request names.
pub(super) async fn named_pixels(
    app: &Application,
    account: AccountId,
    named: impl IntoIterator<Item = &IdReference<PixelKind>>,
) -> Result<BTreeMap<PixelId, Pixel>, StoreError> {
    let ids: BTreeSet<PixelId> = named.into_iter().filter_map(|pixel| pixel.id()).collect();
    pixels_with_ids(app, account, &ids.into_iter().collect::<Vec<_>>()).await
}

/// The account's pixels with these ids; asks the store only if there are some.
async fn pixels_with_ids(
    app: &Application,
    account: AccountId,
    ids: &[PixelId],
) -> Result<BTreeMap<PixelId, Pixel>, StoreError> {
    let pixels = if ids.is_empty() { vec![] } else { app.store.pixels_with_ids(account, ids).await? };
    Ok(by_id(pixels))
}

fn by_id(pixels: Vec<Pixel>) -> BTreeMap<PixelId, Pixel> {
    pixels.into_iter().map(|pixel| (pixel.id, pixel)).collect()
}
