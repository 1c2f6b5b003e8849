//! What a request may bring along: a body, a query, or neither (D8).

use std::future::Future;
use std::pin::Pin;

use actix_web::dev::Payload;
use actix_web::{FromRequest, HttpRequest};
use signpost_domain::Violations;

use super::json_body::{JsonBody, NoBody};
use super::object_reader::ObjectReader;
use super::query_string::QueryString;
use crate::api_error::ApiError;

type Extraction<T> = Pin<Box<dyn Future<Output = Result<T, ApiError>>>>;

/// Nothing: the request takes neither a query nor a body. What is there nevertheless is refused.
#[derive(Debug)]
pub(crate) struct NoInput;

impl FromRequest for NoInput {
    type Error = ApiError;
    type Future = Extraction<Self>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let query = OnlyQuery::from_request(request, payload);
        Box::pin(async move {
            let OnlyQuery { query, mut violations } = query.await?;
            violations.append(query.finish());
            violations.into_result(Self).map_err(ApiError::Invalid)
        })
    }
}

/// A query, and no body.
#[derive(Debug)]
pub(crate) struct OnlyQuery {
    /// The query, to be read.
    pub(crate) query: QueryString,
    /// What is wrong with there being a body.
    pub(crate) violations: Violations,
}

impl FromRequest for OnlyQuery {
    type Error = ApiError;
    type Future = Extraction<Self>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let query = QueryString::parse(request.query_string());
        let body = NoBody::from_request(request, payload);
        Box::pin(async move { Ok(Self { query, violations: body.await?.violations() }) })
    }
}

/// A body, and no query.
#[derive(Debug)]
pub(crate) struct OnlyBody {
    body: JsonBody,
    violations: Violations,
}

impl OnlyBody {
    /// A reader of the body's fields, and what is wrong with there being a query. Without a readable body, all
    /// that is wrong.
    pub(crate) fn reader(self) -> Result<(ObjectReader, Violations), Violations> {
        let Self { body, mut violations } = self;
        match body.reader() {
            Ok(reader) => Ok((reader, violations)),
            Err(violation) => {
                violations.append(Violations::from(violation));
                Err(violations)
            }
        }
    }
}

impl FromRequest for OnlyBody {
    type Error = ApiError;
    type Future = Extraction<Self>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let violations = QueryString::parse(request.query_string()).finish();
        let body = JsonBody::from_request(request, payload);
        Box::pin(async move { Ok(Self { body: body.await?, violations }) })
    }
}
