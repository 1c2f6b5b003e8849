//! `POST /v1/redirects/bulk` (D29, D30).

use actix_web::{HttpResponse, web};
use signpost_app::Application;
use signpost_app::redirects::{self, CreateRedirect};
use signpost_domain::{FieldError, IncompleteRedirect, ViolationCode, Violations};

use super::fields;
use crate::api_error::ApiError;
use crate::bulk_outcome;
use crate::extract::{Admitted, ObjectReader, OnlyBody, batch_items};
use crate::json::{Json, JsonObject};
use crate::wire::{self, BulkCreateBody, RedirectBody};

/// The field of the request that holds the redirects.
const FIELD: &str = "redirects";

/// Creates redirects.
pub(crate) async fn handle(
    app: web::Data<Application>,
    caller: Admitted,
    body: OnlyBody,
) -> Result<HttpResponse, ApiError> {
    // Kept as they were sent, to say which value of an item was at fault.
    let items: Vec<Option<JsonObject>> = batch_items(body, FIELD)?.into_iter().map(members).collect();
    let outcomes = redirects::create_many(&app, &caller, commands(&items)).await?;
    let outcome = bulk_outcome::split(
        outcomes,
        |redirect| RedirectBody::new(redirect, &app),
        |index, rejection| bulk_outcome::offender_in_creation(items.get(index)?.as_ref()?, rejection),
    );
    wire::ok(&BulkCreateBody::from(outcome))
}

fn members(item: Json) -> Option<JsonObject> {
    match item {
        Json::Object(members) => Some(members),
        Json::Null | Json::Bool(_) | Json::Number | Json::Text(_) | Json::List(_) => None,
    }
}

fn commands(items: &[Option<JsonObject>]) -> Vec<CreateRedirect> {
    let mut commands = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        commands.push(if let Some(members) = item {
            fields::draft(ObjectReader::new(members.clone()), Violations::new())
        } else {
            let error = FieldError::new(ViolationCode::InvalidType, "must be an object");
            Err(IncompleteRedirect::unreadable(Violations::from(error.at(format!("{FIELD}[{index}]")))))
        });
    }
    commands
}
