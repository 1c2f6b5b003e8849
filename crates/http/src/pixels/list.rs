//! `GET /v1/pixels` (D32).

use actix_web::{HttpResponse, web};
use signpost_app::{Application, pixels};

use crate::api_error::ApiError;
use crate::cursor::CursorScope;
use crate::extract::{Admitted, OnlyQuery, PageQuery};
use crate::wire::{self, ListBody, PixelBody};

/// Lists pixels.
pub(crate) async fn handle(
    app: web::Data<Application>,
    caller: Admitted,
    input: OnlyQuery,
) -> Result<HttpResponse, ApiError> {
    let scope = CursorScope::new(caller.account_id(), "pixels");
    let PageQuery { limit, after } = input.page(&scope)?;
    let page = pixels::list(&app, &caller, limit, after).await?;
    wire::ok(&ListBody::new(page.map(|pixel| PixelBody::from(&pixel)), &scope))
}
