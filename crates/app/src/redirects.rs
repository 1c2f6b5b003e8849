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
        links: Vec<Link>,
        pixels: &mut BTreeMap<PixelId, Pixel>,
    ) -> Result<Vec<Redirect>, StoreError> {
        let redirects: Vec<Redirect> = links.into_iter().filter_map(Link::into_redirect).collect();
        let ids = redirects.iter().flat_map(|redirect| redirect.content.pixel_ids.as_slice());
        let ids: Vec<PixelId> = ids.copied().collect();
        let own = if ids.is_empty() { vec![] } else { work.pixels_with_ids(account, &ids).await? };
        let own = pixels_by_id(own);
        let with_own = |redirect: Redirect| {
            redirect.with(|content| {
                content.pixel_ids = content.pixel_ids.filtered(|id| own.contains_key(&id));
            })
        };
        let redirects = redirects.into_iter().map(with_own).collect();
        pixels.extend(own);
        Ok(redirects)
    }

    async fn write_contents(
        _: &mut dyn UnitOfWork,
        _: AccountId,
        _: &[(&Redirect, &Redirect)],
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
