//! The part of the use cases of [`links`](crate::links) that only redirects have: their pixels (D27, D36).

use std::collections::BTreeMap;

use signpost_domain::{
    AccountId, Link, Pixel, PixelId, Redirect, RedirectContent, RedirectContentRequest, RedirectId,
};

use crate::application::Application;
use crate::caller::Caller;
use crate::links::{LinkResource, pixels_by_id, stored_pixels};
use crate::ports::{StoreError, UnitOfWork};

/// A redirect and its existing pixels, in the redirect's order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedirectWithPixels {
    /// The redirect.
    pub redirect: Redirect,
    /// Its pixels.
    pub pixels: Vec<Pixel>,
}

impl LinkResource for RedirectContent {
    type Single = RedirectWithPixels;

    fn named_pixels(request: &RedirectContentRequest) -> &[Option<PixelId>] {
        request.named_pixels()
    }

    fn single(redirect: Redirect, pixels: &BTreeMap<PixelId, Pixel>) -> RedirectWithPixels {
        let ids = redirect.content.pixel_ids.as_slice();
        let pixels = ids.iter().filter_map(|id| pixels.get(id).cloned()).collect();
        RedirectWithPixels { redirect, pixels }
    }

    async fn find(
        app: &Application,
        caller: &Caller,
        id: RedirectId,
        read_ahead: Option<&Link>,
    ) -> Result<Option<RedirectWithPixels>, StoreError> {
        let link = match read_ahead {
            Some(link) if link.id() == id.into() => Some(link.clone()),
            Some(_) | None => app.store.link(caller.account_id(), id.into()).await?,
        };
        let redirect = link.and_then(Link::into_redirect);
        let Some(redirect) = redirect else { return Ok(None) };
        let ids = redirect.content.pixel_ids.as_slice();
        let pixels = stored_pixels(app, caller.account_id(), ids).await?;
        Ok(Some(Self::single(redirect, &pixels)))
    }

    /// Removes deleted pixels, so that a request without them changes nothing (D33).
    async fn complete(
        work: &mut dyn UnitOfWork,
        account: AccountId,
        link: Link,
        pixels: &mut BTreeMap<PixelId, Pixel>,
    ) -> Result<Option<Redirect>, StoreError> {
        let Some(redirect) = link.into_redirect() else { return Ok(None) };
        let ids = redirect.content.pixel_ids.as_slice();
        let own = if ids.is_empty() { vec![] } else { work.pixels_with_ids(account, ids).await? };
        let own = pixels_by_id(own);
        let redirect = redirect.with(|content| {
            content.pixel_ids = content.pixel_ids.filtered(|id| own.contains_key(&id));
        });
        pixels.extend(own);
        Ok(Some(redirect))
    }

    async fn write_content(
        _: &mut dyn UnitOfWork,
        _: AccountId,
        _: &Redirect,
        _: &Redirect,
    ) -> Result<(), StoreError> {
        // The link's row has the whole content.
        Ok(())
    }

    async fn write_new_contents(
        _: &mut dyn UnitOfWork,
        _: AccountId,
        _: &[&Redirect],
    ) -> Result<(), StoreError> {
        Ok(())
    }
}
