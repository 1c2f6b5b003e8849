//! Error pages where no handler answers.

use actix_http::Response;
use actix_http::body::BoxBody;
use actix_web::ResponseError as _;
use actix_web::http::StatusCode;
use signpost_listener::ListenerRefusal;
use signpost_request_layer::{ErrorAnswers, RequestFacts, Unhandled};

use crate::failure::Failure;
use crate::guard::secure;
use crate::views::ErrorKind;

/// Answers with error pages.
pub(crate) struct ErrorPages;

impl ErrorAnswers for ErrorPages {
    type Facts = ();

    fn answer(&self, unhandled: Unhandled, _: &RequestFacts<()>) -> Response<BoxBody> {
        let mut response = Failure::Page(kind_of(&unhandled)).error_response();
        secure(response.headers_mut());
        response.into()
    }
}

const fn kind_of(unhandled: &Unhandled) -> ErrorKind {
    match unhandled {
        Unhandled::Refused(ListenerRefusal::HeadTooLarge)
        | Unhandled::Rejected(StatusCode::PAYLOAD_TOO_LARGE) => ErrorKind::TooLarge,
        Unhandled::Refused(ListenerRefusal::Overloaded) => ErrorKind::Unavailable,
        Unhandled::NoSuchPath => ErrorKind::NotFound,
        Unhandled::Refused(
            ListenerRefusal::HeadTooSlow | ListenerRefusal::NotHttp | ListenerRefusal::Misdirected,
        )
        | Unhandled::MethodNotAllowed { .. }
        | Unhandled::Rejected(_) => ErrorKind::MethodNotAllowed,
        Unhandled::Failed => ErrorKind::Failed,
    }
}
