//! The style sheet, the script and the icons.

use actix_web::HttpResponse;
use actix_web::http::header::{CACHE_CONTROL, CONTENT_TYPE};

use crate::assets;
use crate::failure::Failure;
use crate::visit::Visit;

/// `GET /assets/{name}`
pub(crate) async fn asset(visit: Visit) -> Result<HttpResponse, Failure> {
    let asset = assets::find(&format!("/assets/{}", visit.part("name"))).ok_or(Failure::NOT_FOUND)?;
    Ok(HttpResponse::Ok()
        .insert_header((CONTENT_TYPE, asset.content_type))
        .insert_header((CACHE_CONTROL, assets::CACHE_CONTROL))
        .body(asset.body))
}

/// `GET /favicon.ico`: browsers ask for it where a page names no icon.
pub(crate) async fn icon(_: Visit) -> Result<HttpResponse, Failure> {
    Err(Failure::Redirected(assets::icons().path.clone()))
}
