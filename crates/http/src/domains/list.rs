//! `GET /v1/domains` (contract "GET /v1/domains").

use actix_web::{HttpResponse, web};
use signpost_app::{Application, domains};

use crate::api_error::ApiError;
use crate::cursor::CursorScope;
use crate::extract::{Admitted, OnlyQuery, PageQuery};
use crate::wire::{self, DomainBody, ListBody};

/// Lists domains.
pub(crate) async fn handle(
    app: web::Data<Application>,
    caller: Admitted,
    input: OnlyQuery,
) -> Result<HttpResponse, ApiError> {
    let scope = CursorScope::new(caller.account_id(), "domains");
    let PageQuery { limit, after } = input.page(&scope)?;
    let page = domains::list(&app, &caller, limit, after).await?;
    wire::ok(&ListBody::new(page.map(|domain| DomainBody::from(&domain)), &scope))
}
