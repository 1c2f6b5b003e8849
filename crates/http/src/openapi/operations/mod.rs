//! Every endpoint: its method, its path, its handler and its description. One file per subject. Routing and the document come
//! from here.

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

mod account;
mod analytics;
mod documentation;
mod domains;
mod groups;
mod health;
mod links;
mod pixels;

/// The tags of operations, with their descriptions.
pub(super) const TAGS: [(&str, &str); 10] = [
    (links::REDIRECTS.tag, "Links that send their visitors on to another address."),
    (links::LANDINGS.tag, "Links that are a page of their own."),
    (groups::TAG, "Flat containers of links; a link is in at most one group."),
    (domains::TAG, "Custom hostnames of the account, which host its links."),
    (pixels::TAG, "Vendors' tracking codes, which a redirect fires before it sends visitors on."),
    (analytics::TAG, "Reports and exports of clicks."),
    (account::TAG, "The account that the key belongs to."),
    (health::TAG, "Health checks for operators. They need no key and use no quota."),
    (domains::CERTIFICATES_TAG, "For TLS proxies in front of the service. Needs no key and uses no quota."),
    (documentation::TAG, "This document, for programs and for people. Needs no key."),
];

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
    tag: &'static str,
    /// The kind of links whose words are put into the texts, if it has them in braces.
    kind: Option<&'static links::Kind>,
    id: &'static str,
    summary: &'static str,
    description: &'static str,
    parameters: &'static [parameters::Name],
    body: Option<RequestBody>,
    success: (&'static str, Response),
    /// In addition to the codes of every request.
    errors: &'static [ErrorCode],
    /// In addition to success and errors.
    other: Option<(&'static str, Response)>,
}

/// Every operation, in the order of the documentation page.
pub(crate) fn all() -> impl Iterator<Item = Endpoint> {
    [
        links::on_redirects(),
        links::on_landings(),
        groups::endpoints(),
        domains::endpoints(),
        pixels::endpoints(),
        analytics::endpoints(),
        account::endpoints(),
        health::endpoints(),
        domains::certificates(),
        documentation::endpoints(),
    ]
    .into_iter()
    .flatten()
}

impl Endpoint {
    /// An operation for admitted callers, without parameters, body and errors of its own. The file of its subject adds the
    /// summary and the success; a test finds operations without them.
    fn new(
        tag: &'static str,
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
            tag,
            kind: None,
            id,
            summary: "",
            description: "",
            parameters: &[],
            body: None,
            success: ("200", Response::default()),
            errors: &[],
            other: None,
        }
    }

    /// The method in the document.
    pub(super) const fn http_method(&self) -> HttpMethod {
        match self.method {
            RouteMethod::Get => HttpMethod::Get,
            RouteMethod::Post => HttpMethod::Post,
            RouteMethod::Patch => HttpMethod::Patch,
            RouteMethod::Delete => HttpMethod::Delete,
        }
    }

    /// Its tag.
    pub(super) const fn tag(&self) -> &'static str {
        self.tag
    }

    /// Its id, which is unique.
    pub(super) fn operation_id(&self) -> String {
        self.kind.map_or_else(|| self.id.to_owned(), |kind| kind.worded(self.id))
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
            kind,
            id: _,
            summary,
            description,
            parameters,
            body,
            success: (status, success),
            errors: _,
            other,
        } = self;
        // Every POST has the parameter and the header of D12.
        let is_post = method == RouteMethod::Post;
        let success = if is_post { headers::of_replays(success.into()).build() } else { success };
        let of_post = is_post.then_some(parameters::IDEMPOTENCY_KEY);
        let worded = |text: &str| kind.map_or_else(|| text.to_owned(), |kind| kind.worded(text));
        let operation = OperationBuilder::new()
            .tag(tag)
            .operation_id(Some(id))
            .summary(Some(worded(summary)))
            .description(Some(worded(description)))
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
        let operation =
            other.into_iter().fold(operation, |operation, (status, other)| operation.response(status, other));
        match access {
            Access::Admitted => operation,
            Access::Open => operation.securities(Some(std::iter::empty::<SecurityRequirement>())),
        }
        .build()
    }
}

/// A body in JSON, with an example for each purpose.
fn body<const N: usize>(schema: &str, examples: [(&str, &str, Value); N]) -> RequestBody {
    let examples = examples.map(|(name, summary, value)| {
        (name, ExampleBuilder::new().summary(summary).value(Some(value)).build())
    });
    let content = ContentBuilder::new().schema(Some(named(schema))).examples_from_iter(examples).build();
    let body = RequestBodyBuilder::new().required(Some(Required::True)).content("application/json", content);
    body.build()
}

/// 200 with a body.
fn ok(description: &str, schema: &str, example: Value) -> (&'static str, Response) {
    ("200", json_response(description, schema, example, RateLimited::Always).build())
}

/// 201 with the created resource and its `Location` (D5).
fn created(description: &str, schema: &str, example: Value) -> (&'static str, Response) {
    let response = json_response(description, schema, example, RateLimited::Always);
    ("201", headers::with(response, "Location", "Location").build())
}

fn json_response(
    description: &str,
    schema: &str,
    example: Value,
    rate_limited: RateLimited,
) -> ResponseBuilder {
    let content = ContentBuilder::new().schema(Some(named(schema))).example(Some(example)).build();
    let response = ResponseBuilder::new().description(description).content("application/json", content);
    headers::of_every_response(response, rate_limited)
}
