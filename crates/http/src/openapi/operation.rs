//! An endpoint: its method, its path, its handler and its description. Routing and the document come from it. Endpoints are
//! declared in the files of their subjects.

use actix_web::Route;
use serde_json::Value;
use signpost_domain::ErrorCode;
use utoipa::openapi::example::ExampleBuilder;
use utoipa::openapi::path::{HttpMethod, Operation, OperationBuilder};
use utoipa::openapi::request_body::{RequestBody, RequestBodyBuilder};
use utoipa::openapi::security::SecurityRequirement;
use utoipa::openapi::{ContentBuilder, Required, Response, ResponseBuilder};

use super::headers::{self, RateLimited};
use super::{errors, parameters};
use crate::endpoint::{Access, ReadAhead, RouteMethod};
use crate::schema::named;

/// An endpoint with its description.
pub(crate) struct Endpoint {
    /// The method. Where it is `GET`, `HEAD` works too.
    pub(crate) method: RouteMethod,
    /// The path, with its parameters in braces.
    pub(crate) path: &'static str,
    /// Who may call it.
    pub(crate) access: Access,
    /// Makes the route to the handler.
    pub(crate) handler: fn() -> Route,
    /// The link to read at admission.
    pub(crate) read_ahead: Option<ReadAhead>,
    /// The section of the API that it belongs to.
    pub(crate) tag: &'static str,
    /// Replaces the words in braces in id, summary and description.
    pub(crate) wording: fn(&str) -> String,
    /// Its unique id, after which clients name their functions.
    pub(crate) id: &'static str,
    /// What it does, in a few words.
    pub(crate) summary: &'static str,
    /// What it does.
    pub(crate) description: &'static str,
    /// Its parameters, by the names of their components.
    pub(crate) parameters: &'static [parameters::Name],
    /// The body that it takes.
    pub(crate) body: Option<RequestBody>,
    /// The status and the response of a success.
    pub(crate) success: (&'static str, Response),
    /// Its error codes, in addition to those of every request.
    pub(crate) errors: &'static [ErrorCode],
    /// Other responses, in addition to success and errors.
    pub(crate) others: Vec<(&'static str, Response)>,
}

impl Endpoint {
    /// An operation for admitted callers, without parameters, body and errors of its own. The file of its subject adds the
    /// summary and the success; a test finds operations without them. Its section gives it the tag.
    pub(crate) fn new(
        id: &'static str,
        method: RouteMethod,
        path: &'static str,
        handler: fn() -> Route,
    ) -> Self {
        Self {
            method,
            path,
            access: Access::Admitted,
            handler,
            read_ahead: None,
            tag: "",
            wording: str::to_owned,
            id,
            summary: "",
            description: "",
            parameters: &[],
            body: None,
            success: ("200", Response::default()),
            errors: &[],
            others: vec![],
        }
    }

    /// The method in the document.
    pub(super) const fn http_method(&self) -> HttpMethod {
        match self.method {
            RouteMethod::Get => HttpMethod::Get,
            RouteMethod::Post => HttpMethod::Post,
            RouteMethod::Put => HttpMethod::Put,
            RouteMethod::Patch => HttpMethod::Patch,
            RouteMethod::Delete => HttpMethod::Delete,
        }
    }

    /// Its id, which is unique.
    pub(super) fn operation_id(&self) -> String {
        (self.wording)(self.id)
    }

    /// Whether it lists resources page by page.
    pub(super) fn is_paged(&self) -> bool {
        self.parameters.contains(&parameters::CURSOR)
    }

    /// Its error responses.
    pub(super) fn errors(&self) -> Vec<errors::ErrorAnswer> {
        errors::answers(self.access, self.method, self.errors)
    }

    /// The operation in the document.
    pub(super) fn operation(self) -> Operation {
        let (errors, id) = (self.errors(), self.operation_id());
        let Self {
            method,
            path: _,
            handler: _,
            read_ahead: _,
            access,
            tag,
            wording,
            id: _,
            summary,
            description,
            parameters,
            body,
            success: (status, success),
            errors: _,
            others,
        } = self;
        // Every POST has the parameter and the header of D12.
        let is_post = method == RouteMethod::Post;
        let success = if is_post { headers::of_replays(success.into()).build() } else { success };
        let of_post = is_post.then_some(parameters::IDEMPOTENCY_KEY);
        let operation = OperationBuilder::new()
            .tag(tag)
            .operation_id(Some(id))
            .summary(Some(wording(summary)))
            .description(Some(wording(description)))
            .request_body(body)
            .response(status, success);
        let operation = parameters
            .iter()
            .copied()
            .chain(of_post)
            .fold(operation, |operation, name| operation.parameter_ref(parameters::reference(name)));
        let operation = errors.iter().fold(operation, |operation, error| {
            operation.response(error.status().to_string(), error.reference())
        });
        let operation = others
            .into_iter()
            .fold(operation, |operation, (status, other)| operation.response(status, other));
        match access {
            Access::Admitted => operation,
            Access::Open => operation.securities(Some(std::iter::empty::<SecurityRequirement>())),
        }
        .build()
    }
}

/// A body in JSON, with an example for each purpose.
pub(crate) fn body<const N: usize>(schema: &str, examples: [(&str, &str, Value); N]) -> RequestBody {
    let examples = examples.map(|(name, summary, value)| {
        (name, ExampleBuilder::new().summary(summary).value(Some(value)).build())
    });
    let content = ContentBuilder::new().schema(Some(named(schema))).examples_from_iter(examples).build();
    let body = RequestBodyBuilder::new().required(Some(Required::True)).content("application/json", content);
    body.build()
}

/// The response 200 with a body.
pub(crate) fn ok(description: &str, schema: &str, example: Value) -> (&'static str, Response) {
    ("200", json_response(description, schema, example, RateLimited::Always).build())
}

/// The response 201 with the created resource and its `Location` (D5).
pub(crate) fn created(description: &str, schema: &str, example: Value) -> (&'static str, Response) {
    let response = json_response(description, schema, example, RateLimited::Always);
    ("201", headers::with(response, "Location", "Location").build())
}

/// The response about one resource, with its revision in `ETag` (D120).
pub(crate) fn tagged((status, response): (&'static str, Response)) -> (&'static str, Response) {
    (status, headers::of_revision(response.into()).build())
}

/// The response to a change whose precondition does not hold (D120).
pub(crate) fn precondition_failed() -> (&'static str, Response) {
    let message = "The stored revision is `\"r3\"`, which `If-Match` does not name, so nothing was changed.";
    let description =
        "`If-Match` or `If-None-Match` does not hold for what is stored; nothing was changed.".to_owned();
    ("412", errors::of_code(ErrorCode::InvalidRequest, message, description, RateLimited::Always))
}

/// A response with a body.
pub(crate) fn json_response(
    description: &str,
    schema: &str,
    example: Value,
    rate_limited: RateLimited,
) -> ResponseBuilder {
    let content = ContentBuilder::new().schema(Some(named(schema))).example(Some(example)).build();
    let response = ResponseBuilder::new().description(description).content("application/json", content);
    headers::of_every_response(response, rate_limited)
}
