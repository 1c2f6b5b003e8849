//! `POST /v1/groups` (D32).

use actix_web::{HttpResponse, web};
use signpost_app::{Application, groups};
use signpost_domain::Group;

use super::{PATH, fields};
use crate::api_error::ApiError;
use crate::extract::{Admitted, OnlyBody};
use crate::remembered_answer::conclusion;
use crate::wire::{self, GroupBody};

/// Creates a group.
pub(crate) async fn handle(
    app: web::Data<Application>,
    caller: Admitted,
    mut body: OnlyBody,
) -> Result<HttpResponse, ApiError> {
    let once = body.once(&app, &caller).await?;
    let show = |group: &Group| wire::created(PATH, group.id, &GroupBody::from(group));
    let name = fields::name(body)?;
    let group = groups::create(&app, &caller, name, conclusion(once.as_ref(), show)).await?;
    show(&group)
}
