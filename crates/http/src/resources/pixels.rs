//! Pixels: `/v1/pixels` (contract "Redirect", D32, D36).

use actix_web::{HttpResponse, web};
use serde_json::{Value, json};
use signpost_app::Application;
use signpost_app::pixels::{self, NewPixel};
use signpost_domain::id::PixelKind;
use signpost_domain::{ErrorCode, Name, Pixel, PixelCode, PixelId, PixelType, Timestamp, Violations};
use utoipa::openapi::schema::ObjectBuilder;

use crate::api_error::ApiError;
use crate::cursor::CursorScope;
use crate::endpoint::RouteMethod;
use crate::extract::{
    Admitted, Field, NoInput, ObjectReader, OnlyBody, OnlyQuery, PageQuery, PathId, field, properties,
    run_once, text,
};
use crate::openapi::errors;
use crate::openapi::operation::{Endpoint, body, created, ok};
use crate::openapi::parameters::{OF_OTHER_LISTS, path_id};
use crate::schema::{
    Components, PIXEL_CODE, closed_object, created_at, examples, id, kept_name, kind, matching, named,
    one_of_known, open_object, sent_name, shown, string,
};
use crate::sections::Section;
use crate::wire::{self, DeletionBody, ListBody, Text};

/// The component of the vendors of new pixels.
const PIXEL_TYPE: &str = "PixelType";

/// The path of the list, and the prefix of each pixel's path.
const PATH: &str = "/v1/pixels";

const ONE: &str = "/v1/pixels/{id}";

/// A pixel's id.
pub(crate) const EXAMPLE_ID: &str = "pxl_019b5a3ba0b17d2e9f00112233445566";

const DELETED: &str = "The pixel is deleted; no redirect fires it any more.";

/// What the API says about pixels.
pub(crate) static SECTION: Section = Section {
    tag: "Pixels",
    description: "Vendors' tracking codes, which a redirect fires before it sends visitors on.",
    endpoints,
    schemas: components,
    parameters: || vec![path_id("PixelId", EXAMPLE_ID, "A pixel's id.")],
};

shown! {
    /// A pixel as the API shows it, alone and with its redirects.
    pub(crate) struct PixelBody {
        id: Text<PixelId> = id(EXAMPLE_ID, "The pixel's id, which `pixel_ids` takes."),
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
fn components() -> Components {
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
        ("PixelList", wire::page_of("Pixel", "One page of pixels, newest first.")),
        ("DeletedPixel", wire::deleted::<PixelKind>("pixel", EXAMPLE_ID)),
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
    let key = body.key(&app, &caller).await?;
    let show = |pixel: &Pixel| wire::created(PATH, pixel.id, &PixelBody::from(pixel));
    let pixel = new_pixel(body)?;
    run_once(key.as_ref(), show, |idempotency| pixels::create(&app, &caller, pixel, idempotency)).await
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
    wire::ok(&DeletionBody::new(id, "pixel", DELETED))
}

/// A pixel.
pub(crate) fn example() -> Value {
    json!({
        "id": EXAMPLE_ID,
        "object": "pixel",
        "pixel_type": "google_tag",
        "pixel_id": "G-1A2BCD345E",
        "name": "Shop",
        "created_at": examples::CREATED_AT,
    })
}

/// The operations, in the order of the documentation page.
fn endpoints() -> Vec<Endpoint> {
    vec![creation(), listing(), retrieval(), deletion()]
}

fn creation() -> Endpoint {
    Endpoint {
        summary: "Create a pixel",
        description: "Creates a pixel, which redirects can then name in `pixel_ids`.",
        body: Some(body(
            "PixelCreate",
            [
                ("google", "A Google tag", json!({"pixel_type": "google_tag", "pixel_id": "G-1A2BCD345E"})),
                (
                    "named",
                    "With a name",
                    json!({"pixel_type": "meta", "pixel_id": "123456789012345", "name": "Shop"}),
                ),
            ],
        )),
        success: created("The pixel.", "Pixel", example()),
        errors: &[ErrorCode::FeatureNotAvailableOnCurrentPlan, ErrorCode::PlanLimitReached],
        ..Endpoint::new("createPixel", RouteMethod::Post, PATH, || web::to(create))
    }
}

fn listing() -> Endpoint {
    Endpoint {
        summary: "List pixels",
        description: "Lists the account's pixels, newest first.",
        parameters: OF_OTHER_LISTS,
        success: ok("One page.", "PixelList", examples::page_of(&example())),
        ..Endpoint::new("listPixels", RouteMethod::Get, PATH, || web::to(list))
    }
}

fn retrieval() -> Endpoint {
    Endpoint {
        summary: "Retrieve a pixel",
        description: "Shows one pixel.",
        parameters: &["PixelId"],
        success: ok("The pixel.", "Pixel", example()),
        others: vec![errors::no_such("pixel")],
        ..Endpoint::new("getPixel", RouteMethod::Get, ONE, || web::to(get))
    }
}

fn deletion() -> Endpoint {
    Endpoint {
        summary: "Delete a pixel",
        description: "Deletes a pixel and removes it from its redirects.",
        parameters: &["PixelId"],
        success: ok(
            "The pixel is deleted.",
            "DeletedPixel",
            examples::deletion(EXAMPLE_ID, "pixel", DELETED),
        ),
        others: vec![errors::no_such("pixel")],
        ..Endpoint::new("deletePixel", RouteMethod::Delete, ONE, || web::to(delete))
    }
}
