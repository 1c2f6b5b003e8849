//! The page in place of the sign-in while a proxy signs people in (D77).

use actix_web::HttpResponse;
use actix_web::http::StatusCode;

use crate::answer::{page, page_with, see_other, without_session};
use crate::failure::Failure;
use crate::frame::card;
use crate::views::{NotSignedIn, SignInElsewherePage};
use crate::visit::Visit;

/// What the query parameter `said` has after signing out. The page must not sign the person in again at once.
pub(crate) const SIGNED_OUT: &str = "signed-out";

/// `GET /sign-in`: leads on whoever has a user, and says to anybody else why not. `header` is the name of the proxy's header.
pub(crate) async fn show(visit: &Visit, header: &str, next: &str) -> Result<HttpResponse, Failure> {
    let view = |reason| SignInElsewherePage { card: card(), reason, next: next.to_owned() };
    if visit.query().text("said") == SIGNED_OUT {
        return page(&view(NotSignedIn::SignedOut));
    }
    let Some(email) = visit.named_email() else {
        let unnamed = view(NotSignedIn::Unnamed { header: header.to_owned() });
        // The session would be worth nothing, also when the proxy names its user again.
        return Ok(without_session(page_with(StatusCode::FORBIDDEN, &unnamed)?, visit.origin()));
    };
    if visit.person().await?.is_some() {
        return Ok(see_other(next));
    }
    let unknown = NotSignedIn::Unknown { email: email.as_str().to_owned() };
    page_with(StatusCode::FORBIDDEN, &view(unknown))
}
