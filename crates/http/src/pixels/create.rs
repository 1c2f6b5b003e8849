//! `POST /v1/pixels` (D36).

use actix_web::{HttpResponse, web};
use signpost_app::Application;
use signpost_app::pixels::{self, NewPixel};
use signpost_domain::{Name, Pixel, PixelCode, PixelType, Violations};

use super::PATH;
use crate::api_error::ApiError;
use crate::extract::{Admitted, OnlyBody, text};
use crate::remembered_answer::conclusion;
use crate::wire::{self, PixelBody};

/// Creates a pixel.
pub(crate) async fn handle(
    app: web::Data<Application>,
    caller: Admitted,
    mut body: OnlyBody,
) -> Result<HttpResponse, ApiError> {
    let once = body.once(&app, &caller).await?;
    let show = |pixel: &Pixel| wire::created(PATH, pixel.id, &PixelBody::from(pixel));
    let pixel = new_pixel(body)?;
    let pixel = pixels::create(&app, &caller, pixel, conclusion(once.as_ref(), show)).await?;
    show(&pixel)
}

fn new_pixel(body: OnlyBody) -> Result<NewPixel, Violations> {
    let (mut body, mut violations) = body.reader()?;
    let pixel_type = body.required("pixel_type", text(PixelType::parse));
    // Without a type that can be read nobody knows what form the id should have.
    let code = body.required(
        "pixel_id",
        text(|text| pixel_type.map(|pixel_type| PixelCode::parse(pixel_type, text)).transpose()),
    );
    let name = body.nullable("name", text(Name::parse)).into_option();
    violations.append(body.finish());
    match code.flatten() {
        Some(code) => violations.into_result(NewPixel { code, name }),
        None => Err(violations),
    }
}
