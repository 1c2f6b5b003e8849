//! `POST /v1/redirects/bulk/delete` (contract "POST /v1/redirects/bulk/delete") and its like for landing pages (D32).

use actix_web::{HttpResponse, web};
use signpost_app::{Application, links};
use signpost_domain::{Id, Rejection};

use super::LinkResource;
use crate::api_error::ApiError;
use crate::bulk_outcome;
use crate::extract::{Admitted, OnlyBody, batch_ids};
use crate::remembered_answer::conclusion;
use crate::wire::{self, BulkDeleteBody, DeletionBody};

/// Deletes links.
pub(crate) async fn handle<K: LinkResource>(
    app: web::Data<Application>,
    caller: Admitted,
    mut body: OnlyBody,
) -> Result<HttpResponse, ApiError> {
    let once = body.once(&app, &caller).await?;
    let ids = batch_ids(body, K::IDS)?;
    let show = |outcomes: &Vec<Result<Id<K>, Rejection>>| {
        let deletion = |id: &_| DeletionBody::new(*id, K::OBJECT, K::DELETED);
        let outcome = bulk_outcome::split(outcomes, K::IDS, deletion, |index, _| ids.get(index).cloned());
        wire::ok(&BulkDeleteBody::from(outcome))
    };
    let conclusion = conclusion(once.as_ref(), show);
    let outcomes = links::delete_many::<K>(&app, &caller, &ids, conclusion).await?;
    show(&outcomes)
}
