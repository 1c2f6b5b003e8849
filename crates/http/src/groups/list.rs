//! `GET /v1/groups` (D32).

use actix_web::{HttpResponse, web};
use signpost_app::{Application, groups};

use crate::api_error::ApiError;
use crate::cursor::CursorScope;
use crate::extract::{Admitted, OnlyQuery, PageQuery};
use crate::wire::{self, GroupBody, ListBody};

/// Lists groups.
pub(crate) async fn handle(
    app: web::Data<Application>,
    caller: Admitted,
    input: OnlyQuery,
) -> Result<HttpResponse, ApiError> {
    let scope = CursorScope::new(caller.account_id(), "groups");
    let PageQuery { limit, after } = input.page(&scope)?;
    let page = groups::list(&app, &caller, limit, after).await?;
    wire::ok(&ListBody::new(page.map(|group| GroupBody::from(&group)), &scope))
}
