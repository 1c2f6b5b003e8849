//! `POST /v1/groups/{id}/assign` (D32).

use actix_web::{HttpResponse, web};
use signpost_app::{Application, groups};
use signpost_domain::id::GroupKind;

use crate::api_error::ApiError;
use crate::bulk_outcome;
use crate::extract::{Admitted, OnlyBody, PathId, batch_ids};
use crate::remembered_answer::conclusion;
use crate::wire::{self, BulkAssignBody, LinkBody};

/// Puts links into a group.
pub(crate) async fn handle(
    app: web::Data<Application>,
    caller: Admitted,
    id: PathId<GroupKind>,
    mut body: OnlyBody,
) -> Result<HttpResponse, ApiError> {
    let once = body.once(&app, &caller).await?;
    let ids = batch_ids(body, groups::LINK_IDS)?;
    let show = |moved: &groups::Moved| {
        let link = |link: &_| LinkBody::new(link, &app);
        let outcome = bulk_outcome::split(moved, groups::LINK_IDS, link, |index, _| ids.get(index).cloned());
        wire::ok(&BulkAssignBody::from(outcome))
    };
    let moved = groups::assign(&app, &caller, id.0, &ids, conclusion(once.as_ref(), show)).await?;
    show(&moved)
}
