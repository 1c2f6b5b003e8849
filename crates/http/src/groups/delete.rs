//! `DELETE /v1/groups/{id}` (contract "Group", D5, D32).

use actix_web::{HttpResponse, web};
use signpost_app::{Application, groups};
use signpost_domain::id::GroupKind;

use crate::api_error::ApiError;
use crate::extract::{Admitted, NoInput, PathId};
use crate::wire::{self, DeletionBody};

/// Deletes a group; its links stay.
pub(crate) async fn handle(
    app: web::Data<Application>,
    caller: Admitted,
    id: PathId<GroupKind>,
    _: NoInput,
) -> Result<HttpResponse, ApiError> {
    let id = groups::delete(&app, &caller, id.0).await?;
    wire::ok(&DeletionBody::new(id, "group", "The group is deleted; its links stay, without a group."))
}
