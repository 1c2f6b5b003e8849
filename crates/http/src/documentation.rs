//! The documentation: the OpenAPI document, and a page that shows it in a browser and loads only files of this server.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use actix_web::http::header::{CACHE_CONTROL, HeaderValue};
use actix_web::web::Bytes;
use actix_web::{HttpRequest, HttpResponse};
use serde_json::json;
use signpost_listener::{AnswerKind, CACHED_FOR_AN_HOUR};
use signpost_request_layer::{KeptBody, KeptForms};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa_swagger_ui::Config;

use crate::api_error::ApiError;
use crate::extract::{NoInput, OnlyQuery, parse_boolean};
use crate::openapi::parameters::{self, in_path, in_query};
use crate::openapi::{OpenApiVersion, Operations, openapi_document};
use crate::sections::Section;

mod endpoints;

/// What the API says about its documentation.
pub(crate) static SECTION: Section = Section {
    tag: "Documentation",
    description: "This document, for programs and for people. Needs no key.",
    endpoints: endpoints::all,
    schemas: Vec::new,
    parameters: || {
        let internal = ObjectBuilder::new().schema_type(Type::Boolean).default(Some(json!(true)));
        let about_internal = "With `false`, the document lacks the operations outside `/v1`, which generated clients do not need.";
        let file = parameters::text().enum_values(Some(FILES));
        let about_file = "The name of a file that the page loads.";
        vec![
            ("InternalOperations", in_query("internal", internal).description(Some(about_internal)).build()),
            ("DocumentationFile", in_path("file", file).description(Some(about_file)).build()),
        ]
    },
};

/// The path of the document.
pub(crate) const DOCUMENT: &str = "/openapi.json";

/// The path of the document in OpenAPI 3.0.
pub(crate) const DOCUMENT_3_0: &str = "/openapi-3.0.json";

/// The path of the page.
pub(crate) const PAGE: &str = "/docs";

/// The path of the files that the page loads.
pub(crate) const FILE: &str = "/docs/{file}";

/// The names of those files.
pub(crate) const FILES: [&str; 4] = [STYLE, SCRIPT, ICON, START];

/// The content types of those files.
pub(crate) const FILE_TYPES: [&str; 3] =
    ["text/css; charset=utf-8", "text/javascript; charset=utf-8", "image/png"];

const STYLE: &str = "swagger-ui.css";
const SCRIPT: &str = "swagger-ui-bundle.js";
const ICON: &str = "favicon-32x32.png";
/// Our script, which configures the page.
const START: &str = "start.js";

const PAGE_TEXT: &str = include_str!("documentation/page.html");
const START_TEXT: &str = include_str!("documentation/start.js");

/// Lets the page load files of this server and call its API, and nothing else.
///
/// Swagger UI sets `style` attributes on its elements, so inline styles are allowed; inline scripts are not. Its style sheet
/// contains `data:` images.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
);

static PAGE_FORMS: KeptForms = KeptForms::new();
static STYLE_FORMS: KeptForms = KeptForms::new();
static SCRIPT_FORMS: KeptForms = KeptForms::new();
static ICON_FORMS: KeptForms = KeptForms::new();
static START_FORMS: KeptForms = KeptForms::new();

/// A text, and its compressed forms.
struct Text {
    plain: String,
    forms: KeptForms,
}

/// The texts of a document in one version of OpenAPI.
struct Texts {
    all: Text,
    for_clients: Text,
}

impl Texts {
    fn of(version: OpenApiVersion) -> Result<Self, String> {
        let text = |operations| {
            let plain = openapi_document(version, operations).map_err(|error| error.to_string())?;
            Ok::<_, String>(Text { plain, forms: KeptForms::new() })
        };
        Ok(Self { all: text(Operations::All)?, for_clients: text(Operations::ForClients)? })
    }
}

static TEXTS: LazyLock<Result<Texts, String>> = LazyLock::new(|| Texts::of(OpenApiVersion::V3_1));

static TEXTS_3_0: LazyLock<Result<Texts, String>> = LazyLock::new(|| Texts::of(OpenApiVersion::V3_0));

/// `GET /openapi.json`.
pub(crate) async fn document(input: OnlyQuery) -> Result<HttpResponse, ApiError> {
    document_of(&TEXTS, input)
}

/// `GET /openapi-3.0.json`.
pub(crate) async fn document_3_0(input: OnlyQuery) -> Result<HttpResponse, ApiError> {
    document_of(&TEXTS_3_0, input)
}

fn document_of(texts: &'static Result<Texts, String>, input: OnlyQuery) -> Result<HttpResponse, ApiError> {
    let OnlyQuery { mut query, mut violations } = input;
    let has_internal = query.read("internal", parse_boolean).unwrap_or(true);
    violations.append(query.finish());
    let has_internal = violations.into_result(has_internal)?;
    let texts = texts
        .as_ref()
        .map_err(|error| ApiError::Internal(format!("the document cannot be serialised: {error}")))?;
    let Text { plain, forms } = if has_internal { &texts.all } else { &texts.for_clients };
    Ok(answer("application/json", plain.as_bytes().into(), forms))
}

/// `GET /docs`.
pub(crate) async fn page(_: NoInput) -> Result<HttpResponse, ApiError> {
    Ok(answer("text/html; charset=utf-8", PAGE_TEXT.as_bytes().into(), &PAGE_FORMS))
}

/// `GET /docs/{file}`.
pub(crate) async fn file(request: HttpRequest, _: NoInput) -> Result<HttpResponse, ApiError> {
    let [css, javascript, png] = FILE_TYPES;
    match request.match_info().get("file") {
        Some(START) => Ok(answer(javascript, START_TEXT.as_bytes().into(), &START_FORMS)),
        Some(STYLE) => vendored(STYLE, css, &STYLE_FORMS),
        Some(SCRIPT) => vendored(SCRIPT, javascript, &SCRIPT_FORMS),
        Some(ICON) => vendored(ICON, png, &ICON_FORMS),
        Some(_) | None => Err(ApiError::NoSuchPath),
    }
}

/// A file of Swagger UI, as the crate ships it.
fn vendored(
    name: &'static str,
    content_type: &'static str,
    forms: &'static KeptForms,
) -> Result<HttpResponse, ApiError> {
    match utoipa_swagger_ui::serve(name, Arc::new(Config::default())) {
        Ok(Some(file)) => {
            let mut answer = answer(content_type, file.bytes, forms);
            // The files are megabytes and change only with a release.
            answer.headers_mut().insert(CACHE_CONTROL, CACHED_FOR_AN_HOUR);
            Ok(answer)
        }
        Ok(None) => Err(ApiError::Internal(format!("Swagger UI has no file `{name}`"))),
        Err(error) => Err(ApiError::Internal(format!("Swagger UI's file `{name}` cannot be read: {error}"))),
    }
}

fn answer(content_type: &'static str, body: Cow<'static, [u8]>, forms: &'static KeptForms) -> HttpResponse {
    let body = match body {
        Cow::Borrowed(bytes) => Bytes::from_static(bytes),
        Cow::Owned(bytes) => Bytes::from(bytes),
    };
    let mut answer = HttpResponse::Ok().content_type(content_type).body(body);
    AnswerKind::Page { policy: POLICY, referrer_policy: AnswerKind::NO_REFERRER }
        .insert_into(answer.headers_mut());
    answer.extensions_mut().insert(KeptBody(forms));
    answer
}
