//! `POST /v1/redirects/bulk/delete` (contract "POST /v1/redirects/bulk/delete") and its like for landing pages (D32).

use actix_web::{HttpResponse, web};
use signpost_app::{Application, links};

use super::LinkResource;
use crate::api_error::ApiError;
use crate::bulk_outcome;
use crate::extract::{Admitted, OnlyBody, batch_ids};
use crate::wire::{self, BulkDeleteBody, DeletionBody};

/// Deletes links.
pub(crate) async fn handle<K: LinkResource>(
    app: web::Data<Application>,
    caller: Admitted,
    body: OnlyBody,
) -> Result<HttpResponse, ApiError> {
    let ids = batch_ids(body, K::IDS)?;
    let outcomes = links::delete_many::<K>(&app, &caller, &ids).await?;
    let deletion = |id: &_| DeletionBody::new(*id, K::OBJECT, K::DELETED);
    let outcome = bulk_outcome::split(outcomes, deletion, |index, _| ids.get(index).cloned());
    wire::ok(&BulkDeleteBody::from(outcome))
}
