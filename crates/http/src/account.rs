//! `GET /v1/account` (D32).

use actix_web::HttpResponse;
use signpost_app::Caller;

use crate::api_error::ApiError;
use crate::extract::{Admitted, NoInput};
use crate::wire::{self, AccountBody};

/// Shows the caller's account. Admission read all of it, so nothing is asked again.
pub(crate) async fn handle(caller: Admitted, _: NoInput) -> Result<HttpResponse, ApiError> {
    let caller: &Caller = &caller;
    wire::ok(&AccountBody::from(caller))
}
