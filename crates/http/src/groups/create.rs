//! `POST /v1/groups` (D32).

use actix_web::{HttpResponse, web};
use signpost_app::{Application, groups};

use super::{PATH, fields};
use crate::api_error::ApiError;
use crate::extract::{Admitted, OnlyBody};
use crate::wire::{self, GroupBody};

/// Creates a group.
pub(crate) async fn handle(
    app: web::Data<Application>,
    caller: Admitted,
    body: OnlyBody,
) -> Result<HttpResponse, ApiError> {
    let group = groups::create(&app, &caller, fields::name(body)?).await?;
    wire::created(PATH, group.id, &GroupBody::from(&group))
}
