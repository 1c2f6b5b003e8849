//! Links created in bulk: `/v1/redirects/bulk` and `/v1/landings/bulk` (D29, D30, D123).

use actix_web::{HttpResponse, web};
use signpost_app::{Application, links};
use signpost_domain::{FieldError, Link, LinkRequest, Rejection, Submitted, ViolationCode, Violations};
use signpost_strict_json::Json;

use super::links::{LinkEndpoints, RequestOf};
use crate::api_error::ApiError;
use crate::bulk_outcome;
use crate::extract::{
    Action, Admitted, Field, ObjectReader, OnlyBody, anything, batch_of_anything, properties, run_once,
};
use crate::schema::{AnySchema, closed_object, named};
use crate::wire::{self, BulkCreateBody};

/// The links of a bulk creation.
fn items<K: LinkEndpoints>() -> impl Field<()> {
    let description = "The links, in the order in which they are created. Each follows the rules of the single creation; \
                       an item that breaks one of them is in `failed`, and the others are still created.";
    anything(K::WORDS.list, description, || named(K::CREATION))
}

/// The schema of the body.
pub(super) fn component<K: LinkEndpoints>() -> AnySchema {
    let about = format!("{} to create.", capitalized(K::WORDS.plural));
    closed_object(&about, properties(|body| _ = body.required(items::<K>()))).into()
}

fn capitalized(text: &str) -> String {
    let mut rest = text.chars();
    rest.next().map(|first| first.to_uppercase().chain(rest).collect()).unwrap_or_default()
}

/// `POST /v1/redirects/bulk` and `POST /v1/landings/bulk`.
pub(crate) async fn create_many<K: LinkEndpoints>(
    app: web::Data<Application>,
    caller: Admitted,
    mut body: OnlyBody,
) -> Result<HttpResponse, ApiError> {
    let key = body.key(&app, &caller).await?;
    let items = batch_of_anything(body, items::<K>())?;
    let mut position = 0..;
    let requests = items.as_ref().map(|item| read_item::<K>(position.next().unwrap_or_default(), item));
    let show = |outcomes: &Vec<Result<Link<K::Content>, Rejection>>| {
        let outcome = bulk_outcome::split(
            outcomes,
            K::WORDS.list,
            |link| K::listed_body(link, &app),
            |index, rejection| bulk_outcome::text_at_fault(items.get(index)?, rejection),
        );
        wire::ok(&BulkCreateBody::from(outcome))
    };
    run_once(key.as_ref(), show, |idempotency| {
        links::create_many::<K::Content>(&app, &caller, requests, idempotency)
    })
    .await
}

/// An item of a bulk creation. It is `Err` if it has no readable fields.
fn read_item<K: LinkEndpoints>(
    index: usize,
    item: &Json,
) -> Result<Submitted<LinkRequest<RequestOf<K>>>, Violations> {
    match item {
        Json::Object(members) => {
            let mut body = ObjectReader::of_item(members);
            let value = K::read(&mut body, Action::Create);
            // Cut now, and not when all are read: a hundred items may have a hundred violations each.
            Ok(Submitted { value, violations: body.finish().of_item() })
        }
        Json::Text(_) | Json::Null | Json::Bool(_) | Json::Number | Json::List(_) => {
            let error = FieldError::new(ViolationCode::InvalidType, "must be an object");
            Err(Violations::from(error.at(format!("{}[{index}]", K::WORDS.list))))
        }
    }
}
