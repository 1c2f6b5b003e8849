//! `GET /v1/groups/{id}` (D32).

use actix_web::{HttpResponse, web};
use signpost_app::{Application, groups};
use signpost_domain::id::GroupKind;

use crate::api_error::ApiError;
use crate::extract::{Admitted, NoInput, PathId};
use crate::wire::{self, GroupBody};

/// Retrieves a group.
pub(crate) async fn handle(
    app: web::Data<Application>,
    caller: Admitted,
    id: PathId<GroupKind>,
    _: NoInput,
) -> Result<HttpResponse, ApiError> {
    let group = groups::get(&app, &caller, id.0).await?;
    wire::ok(&GroupBody::from(&group))
}
