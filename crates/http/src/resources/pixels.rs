//! Pixels: `/v1/pixels` (contract "Redirect", D32, D36).

use actix_web::{HttpResponse, web};
use serde_json::json;
use signpost_app::Application;
use signpost_app::pixels::{self, NewPixel};
use signpost_domain::id::PixelKind;
use signpost_domain::{Name, Pixel, PixelCode, PixelId, PixelType, Timestamp, Violations};
use utoipa::openapi::schema::ObjectBuilder;

use crate::api_error::ApiError;
use crate::cursor::CursorScope;
use crate::extract::{
    Admitted, Field, NoInput, ObjectReader, Once, OnlyBody, OnlyQuery, PageQuery, PathId, field, properties,
    text,
};
use crate::schema::{
    Components, PIXEL_CODE, closed_object, created_at, id, kept_name, kind, matching, named, one_of_known,
    open_object, sent_name, shown, string,
};
use crate::wire::{self, DeletionBody, ListBody, Text};

/// The component of the vendors of new pixels.
const PIXEL_TYPE: &str = "PixelType";

/// The path of the list, and the prefix of each pixel's path.
pub(crate) const PATH: &str = "/v1/pixels";

shown! {
    /// A pixel as the API shows it, alone and with its redirects.
    pub(crate) struct PixelBody {
        id: Text<PixelId> = id("pxl", "The pixel's id, which `pixel_ids` takes."),
        object: &'static str = kind("pixel"),
        pixel_type: &'static str = one_of_known(pixel_type_schema(), PixelType::ALL.map(PixelType::as_str)),
        pixel_id: String = matching(pixel_id_schema(), PIXEL_CODE),
        name: Option<String> = kept_name("The pixel's name, for the account's eyes."),
        created_at: Text<Timestamp> = created_at(),
    }
}

impl From<&Pixel> for PixelBody {
    fn from(pixel: &Pixel) -> Self {
        let Pixel { id, code, name, created_at } = pixel;
        Self {
            id: Text(*id),
            object: "pixel",
            pixel_type: code.pixel_type().as_str(),
            pixel_id: code.as_str().to_owned(),
            name: name.as_ref().map(|name| name.as_str().to_owned()),
            created_at: Text(*created_at),
        }
    }
}

/// The OpenAPI components of pixels.
pub(crate) fn components() -> Components {
    let shown = open_object(
        "A vendor's tracking code, which a redirect fires before it sends visitors on. It never changes.",
        PixelBody::properties(),
    );
    let sent = properties(|body| {
        read_pixel(body);
    });
    let pixel_type =
        pixel_type_schema().enum_values(Some(PixelType::ALL.map(PixelType::as_str))).examples(["google_tag"]);
    vec![
        ("Pixel", shown.into()),
        (PIXEL_TYPE, pixel_type.into()),
        ("PixelCreate", closed_object("A pixel to create.", sent).into()),
    ]
}

fn pixel_type() -> impl Field<PixelType> {
    field("pixel_type", text(PixelType::parse), || named(PIXEL_TYPE))
}

/// The code. Its form depends on the type, so it is validated only if the type is valid.
fn pixel_id(pixel_type: Option<PixelType>) -> impl Field<Option<PixelCode>> {
    let parse = move |text: &str| pixel_type.map(|pixel_type| PixelCode::parse(pixel_type, text)).transpose();
    field("pixel_id", text(parse), || pixel_id_schema().pattern(Some(PIXEL_CODE)))
}

fn name() -> impl Field<Name> {
    field("name", text(Name::parse), || sent_name("The pixel's name, for the account's eyes"))
}

fn pixel_type_schema() -> ObjectBuilder {
    string("The vendor. An open list.")
}

fn pixel_id_schema() -> ObjectBuilder {
    string(
        "The vendor's code of the pixel, in the vendor's own format, such as `G-1A2BCD345E` for `google_tag`.",
    )
    .examples([json!("G-1A2BCD345E")])
}

fn read_pixel(body: &mut ObjectReader<'_>) -> Option<NewPixel> {
    let pixel_type = body.required(pixel_type());
    let code = body.required(pixel_id(pixel_type));
    let name = body.nullable(name()).applied_to(None);
    Some(NewPixel { code: code??, name })
}

/// `POST /v1/pixels`
pub(crate) async fn create(
    app: web::Data<Application>,
    caller: Admitted,
    mut body: OnlyBody,
) -> Result<HttpResponse, ApiError> {
    let execution = match body.once(&app, &caller).await? {
        Once::New(execution) => execution,
        Once::Replayed(response) => return Ok(response),
    };
    let show = |pixel: &Pixel| wire::created(PATH, pixel.id, &PixelBody::from(pixel));
    let pixel = new_pixel(body)?;
    execution.run(show, |idempotency| pixels::create(&app, &caller, pixel, idempotency)).await
}

fn new_pixel(body: OnlyBody) -> Result<NewPixel, Violations> {
    let (mut body, mut violations) = body.reader()?;
    let pixel = read_pixel(&mut body);
    violations.append(body.finish());
    match pixel {
        Some(pixel) => violations.into_result(pixel),
        None => Err(violations),
    }
}

/// `GET /v1/pixels`
pub(crate) async fn list(
    app: web::Data<Application>,
    caller: Admitted,
    input: OnlyQuery,
) -> Result<HttpResponse, ApiError> {
    let scope = CursorScope::new(caller.account_id(), "pixels");
    let PageQuery { limit, after } = input.page(&scope)?;
    let page = pixels::list(&app, &caller, limit, after).await?;
    wire::ok(&ListBody::new(page.map(|pixel| PixelBody::from(&pixel)), &scope))
}

/// `GET /v1/pixels/{id}`
pub(crate) async fn get(
    app: web::Data<Application>,
    caller: Admitted,
    id: PathId<PixelKind>,
    _: NoInput,
) -> Result<HttpResponse, ApiError> {
    let pixel = pixels::get(&app, &caller, id.0).await?;
    wire::ok(&PixelBody::from(&pixel))
}

/// `DELETE /v1/pixels/{id}` (D5): also removes the pixel from its redirects.
pub(crate) async fn delete(
    app: web::Data<Application>,
    caller: Admitted,
    id: PathId<PixelKind>,
    _: NoInput,
) -> Result<HttpResponse, ApiError> {
    let id = pixels::delete(&app, &caller, id.0).await?;
    wire::ok(&DeletionBody::new(id, "pixel", "The pixel is deleted; no redirect fires it any more."))
}
