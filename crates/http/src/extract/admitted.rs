//! The caller of an admitted request.

use std::future::{Ready, ready};
use std::ops::Deref;
use std::rc::Rc;

use actix_web::dev::Payload;
use actix_web::{FromRequest, HttpMessage, HttpRequest};
use signpost_app::Caller;

use crate::api_error::ApiError;

/// The caller. Only the admission middleware puts one into a request, so a handler that has it handles an
/// authenticated, entitled and counted request, and there is no other way to get one.
#[derive(Debug, Clone)]
pub(crate) struct Admitted(pub(crate) Rc<Caller>);

impl Deref for Admitted {
    type Target = Caller;

    fn deref(&self) -> &Caller {
        &self.0
    }
}

impl FromRequest for Admitted {
    type Error = ApiError;
    type Future = Ready<Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let admitted = request.extensions().get::<Self>().cloned();
        ready(admitted.ok_or_else(|| ApiError::Internal("a handler ran without admission".into())))
    }
}
