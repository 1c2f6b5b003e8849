//! `PATCH /v1/groups/{id}` (contract "PATCH /v1/groups/{id}").

use actix_web::{HttpResponse, web};
use signpost_app::{Application, groups};
use signpost_domain::id::GroupKind;

use super::fields;
use crate::api_error::ApiError;
use crate::extract::{Admitted, OnlyBody, PathId};
use crate::wire::{self, GroupBody};

/// Renames a group.
pub(crate) async fn handle(
    app: web::Data<Application>,
    caller: Admitted,
    id: PathId<GroupKind>,
    body: OnlyBody,
) -> Result<HttpResponse, ApiError> {
    let group = groups::rename(&app, &caller, id.0, fields::name(body)?).await?;
    wire::ok(&GroupBody::from(&group))
}
