//! `GET /tls-allowed`: what ends TLS in front of the service asks here before it gets a certificate for a hostname (D39).
//! Caddy's on-demand TLS asks in this way and takes every status but 2xx for a "no".

use actix_web::{HttpResponse, web};
use serde::Serialize;
use signpost_app::{AppError, Application, domains};
use signpost_domain::Refusal;

use crate::api_error::ApiError;
use crate::extract::OnlyQuery;
use crate::wire;

/// Where it is asked.
pub(crate) const PATH: &str = "/tls-allowed";

#[derive(Serialize)]
struct Allowed {
    allowed: bool,
}

/// Says whether a certificate may be obtained for the hostname `domain`. It costs one read by an index, so no quota guards
/// it; nor does it tell more than a visitor of the hostname can find out.
///
/// A value that is no hostname is answered as an unknown one is, since whoever asks passes on what strangers sent in a TLS
/// handshake and wants a yes or a no. A request without the parameter is one that somebody has to mend.
pub(crate) async fn handle(app: web::Data<Application>, input: OnlyQuery) -> Result<HttpResponse, ApiError> {
    let OnlyQuery { mut query, mut violations } = input;
    let hostname = query.require("domain");
    violations.append(query.finish());
    let hostname = violations.into_result(hostname)?.unwrap_or_default();
    if domains::may_have_certificate(&app, &hostname).await.map_err(AppError::from)? {
        wire::ok(&Allowed { allowed: true })
    } else {
        Err(AppError::from(Refusal::DomainNotFound).into())
    }
}
