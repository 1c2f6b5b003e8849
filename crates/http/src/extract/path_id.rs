//! The `{id}` of a path.

use std::future::{Ready, ready};

use actix_web::dev::Payload;
use actix_web::{FromRequest, HttpRequest};
use signpost_domain::{IdKind, IdReference};

use crate::api_error::ApiError;

/// An id as the path has it. A malformed one is no error here: it names nothing, exactly as an unknown one does
/// (D2).
#[derive(Debug)]
pub(crate) struct PathId<K: IdKind>(pub(crate) IdReference<K>);

impl<K: IdKind> FromRequest for PathId<K> {
    type Error = ApiError;
    type Future = Ready<Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let id = request.match_info().get("id");
        ready(id.map(|id| Self(IdReference::parse(id))).ok_or_else(|| {
            ApiError::Internal(format!("the route {:?} has no `{{id}}`", request.match_pattern()))
        }))
    }
}
