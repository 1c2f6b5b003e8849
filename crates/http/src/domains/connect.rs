//! `POST /v1/domains` (contract "POST /v1/domains", D37, D40, D41).

use actix_web::{HttpResponse, web};
use signpost_app::Application;
use signpost_app::domains::{self, Connected};
use signpost_domain::{HostnameRules, Rejection, Violations};

use super::PATH;
use crate::api_error::ApiError;
use crate::extract::{Admitted, OnlyBody, text};
use crate::remembered_answer::conclusion;
use crate::wire::{self, DomainBody};

/// Connects a hostname: 201 for a new domain, 200 for one that the account has already (D40).
pub(crate) async fn handle(
    app: web::Data<Application>,
    caller: Admitted,
    mut body: OnlyBody,
) -> Result<HttpResponse, ApiError> {
    let once = body.once(&app, &caller).await?;
    let show = |connected: &Connected| {
        let Connected { domain, is_new } = connected;
        let shown = DomainBody::from(domain);
        if *is_new { wire::created(PATH, domain.domain.id, &shown) } else { wire::ok(&shown) }
    };
    let hostname = hostname(body, &app.hostname_rules)?;
    let connected = domains::connect(&app, &caller, &hostname, conclusion(once.as_ref(), show)).await?;
    show(&connected)
}

/// The hostname as it was sent. The use case judges it; here that is done only where the request is refused without coming
/// so far, so that the answer lists everything (D8).
fn hostname(body: OnlyBody, rules: &HostnameRules) -> Result<String, Violations> {
    let (mut body, mut violations) = body.reader()?;
    let hostname = body.required("hostname", text(|text| Ok(text.to_owned())));
    violations.append(body.finish());
    let Some(hostname) = hostname else { return Err(violations) };
    if violations.is_empty() {
        return Ok(hostname);
    }
    if let Err(Rejection::Invalid(of_hostname)) = rules.judge(&hostname) {
        violations.append(of_hostname);
    }
    Err(violations)
}
