//! `POST /v1/redirects/bulk` (D29, D30).

use actix_web::{HttpResponse, web};
use signpost_app::Application;
use signpost_app::redirects::{self, CreateRedirect};
use signpost_domain::{FieldError, IncompleteRedirect, Redirect, Rejection, ViolationCode, Violations};

use super::fields;
use crate::api_error::ApiError;
use crate::bulk_outcome::{self, Wishes};
use crate::extract::{Admitted, ObjectReader, OnlyBody, batch_items};
use crate::remembered_answer::conclusion;
use crate::wire::{self, BulkCreateBody, RedirectBody};
use signpost_strict_json::Json;

/// The field of the request that holds the redirects.
const FIELD: &str = "redirects";

/// Creates redirects.
pub(crate) async fn handle(
    app: web::Data<Application>,
    caller: Admitted,
    mut body: OnlyBody,
) -> Result<HttpResponse, ApiError> {
    let once = body.once(&app, &caller).await?;
    let mut wishes = vec![];
    let commands = batch_items(body, FIELD)?.map(|item| {
        let index = wishes.len();
        let (item_wishes, command) = read(index, item);
        wishes.push(item_wishes);
        command
    });
    let show = |outcomes: &Vec<Result<Redirect, Rejection>>| {
        let outcome = bulk_outcome::split(
            outcomes,
            FIELD,
            |redirect| RedirectBody::new(redirect, &app),
            |index, rejection| wishes.get(index)?.value_at_fault(rejection),
        );
        wire::ok(&BulkCreateBody::from(outcome))
    };
    let outcomes = redirects::create_many(&app, &caller, commands, conclusion(once.as_ref(), show)).await?;
    show(&outcomes)
}

fn read(index: usize, item: Json) -> (Wishes, CreateRedirect) {
    match item {
        Json::Object(members) => {
            let wishes = Wishes::of(&members);
            let mut command = fields::draft(ObjectReader::new(members), Violations::new());
            // Now, and not when all are read: a hundred items may have a hundred violations each.
            if let Err(incomplete) = &mut command {
                incomplete.violations = std::mem::take(&mut incomplete.violations).of_item();
            }
            (wishes, command)
        }
        Json::Text(_) | Json::Null | Json::Bool(_) | Json::Number | Json::List(_) => {
            let error = FieldError::new(ViolationCode::InvalidType, "must be an object");
            let violations = Violations::from(error.at(format!("{FIELD}[{index}]")));
            (Wishes::default(), Err(IncompleteRedirect::unreadable(violations)))
        }
    }
}
