//! The QR code of a link.

use actix_web::HttpResponse;
use actix_web::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use signpost_domain::LinkId;
use signpost_pages::{QrCode, QrOptions};

use super::list::public_url;
use crate::failure::Failure;
use crate::visit::Visit;

/// `GET /{account}/links/{id}/qr.svg`, with `download=1` to save it.
pub(crate) async fn svg(visit: Visit) -> Result<HttpResponse, Failure> {
    let member = visit.member().await?;
    let id: LinkId = visit.part("id").parse().map_err(|_| Failure::NOT_FOUND)?;
    let link = signpost_app::links::one(visit.app(), &member.caller, id).await?;
    let url = public_url(&visit, &link).ok_or(Failure::NOT_FOUND)?;
    let code = code_of(&url)?;
    let mut response = HttpResponse::Ok();
    response.insert_header((CONTENT_TYPE, "image/svg+xml"));
    if visit.query().given("download").is_some() {
        let place = link.placement.slug().map_or("root", signpost_domain::Slug::as_str);
        response.insert_header((CONTENT_DISPOSITION, format!("attachment; filename=\"qr-{place}.svg\"")));
    }
    Ok(response.body(code))
}

/// The QR code of an address, as an SVG image.
pub(crate) fn code_of(url: &str) -> Result<String, Failure> {
    let code = QrCode::new(&QrCode::marked(url), QrOptions::default());
    Ok(code.map_err(|error| Failure::Broken(error.to_string()))?.svg())
}
