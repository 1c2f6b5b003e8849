//! What was answered to a request before.

use signpost_domain::{FieldError, ViolationCode, Violations};

use super::conclusion::OnceOnly;
use crate::app_error::AppError;
use crate::application::Application;
use crate::caller::Caller;
use crate::ports::{RememberedAnswer, RememberedRequest};

/// The header that carries the key, as the field of a violation.
const FIELD: &str = "Idempotency-Key";

/// What was answered to this request, if it was carried out within the time in which that is remembered.
///
/// # Errors
/// [`AppError::Invalid`] if the key was used for another request.
pub async fn recall(
    app: &Application,
    caller: &Caller,
    request: &OnceOnly,
) -> Result<Option<RememberedAnswer>, AppError> {
    let remembered = app.store.remembered_request(caller.account_id(), &request.key, app.clock.now()).await?;
    remembered.map(|remembered| answer_again(request, remembered)).transpose()
}

/// What is answered to a request whose key was used before.
pub(super) fn answer_again(
    request: &OnceOnly,
    remembered: RememberedRequest,
) -> Result<RememberedAnswer, AppError> {
    let RememberedRequest { fingerprint, answer } = remembered;
    if fingerprint == request.fingerprint {
        return Ok(answer);
    }
    let message = "was used for another request: with another method, path or body";
    let error = FieldError::new(ViolationCode::InvalidValue, message);
    Err(AppError::Invalid(Violations::from(error.at(FIELD).of_value(request.key.as_str()))))
}
