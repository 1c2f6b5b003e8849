//! Links created and changed in bulk: `/v1/redirects/bulk` and `/v1/landings/bulk` (D29, D30, D123).

use actix_web::{HttpResponse, web};
use signpost_app::links::{LinkUpdate, NamedLink};
use signpost_app::{Application, links};
use signpost_domain::{
    Change, ExternalId, FieldError, IdReference, Link, LinkRequest, Rejection, Revision, Submitted,
    ViolationCode, Violations,
};
use signpost_strict_json::{Json, JsonObject};

use super::links::{LinkEndpoints, RequestOf};
use crate::api_error::ApiError;
use crate::bulk_outcome;
use crate::extract::{
    Action, Admitted, Field, ObjectReader, OnlyBody, anything, batch_of_anything, field, integer, properties,
    reference, run_once,
};
use crate::schema::{AnySchema, Components, closed_object, count, examples, id as id_schema, named};
use crate::wire::{self, BulkCreateBody, BulkOutcome, BulkUpdateBody};

/// The field that names the link of a change.
const ID: &str = "id";

/// The field with the revision that a change is meant for.
const IF_REVISION: &str = "if_revision";

/// The links of a bulk creation.
fn creations<K: LinkEndpoints>() -> impl Field<()> {
    let description = "The links, in the order in which they are created. Each follows the rules of the single creation; \
                       an item that breaks one of them is in `failed`, and the others are still created.";
    anything(K::WORDS.list, description, || named(K::CREATION))
}

/// The changes of a bulk update.
fn changes<K: LinkEndpoints>() -> impl Field<()> {
    let description = "The changes, in the order in which they are made. Each follows the rules of the single update; an \
                       item that breaks one of them is in `failed`, and the other links are still changed.";
    anything(K::WORDS.list, description, || named(K::CHANGE_IN_BATCH))
}

fn id<K: LinkEndpoints>() -> impl Field<IdReference<K>> {
    field(ID, reference(IdReference::parse), || {
        let description = format!(
            "The id of the {noun}. Left out: `external_id` names the {noun}, and stays as it is.",
            noun = K::WORDS.noun
        );
        id_schema(K::WORDS.example_id, &description)
    })
}

fn if_revision() -> impl Field<Revision> {
    field(IF_REVISION, integer(revision), || {
        count("The revision that the change is meant for. If the link has another one, the item fails.")
            .minimum(Some(1))
            .examples([examples::REVISION])
    })
}

fn revision(number: i64) -> Result<Revision, FieldError> {
    let revision = u64::try_from(number).ok().and_then(|number| Revision::from_stored(number).ok());
    revision.ok_or_else(|| FieldError::new(ViolationCode::OutOfRange, "must be at least 1"))
}

/// The components about the bodies, under these names: of creations, and of changes.
pub(super) fn components<K: LinkEndpoints>(
    batch_of_creations: &'static str,
    batch_of_changes: &'static str,
) -> Components {
    let (noun, plural) = (K::WORDS.noun, K::WORDS.plural);
    let about_change = format!(
        "Changes to the {noun} with this `id` or, without `id`, with this `external_id`. Absent fields stay unchanged."
    );
    let change = closed_object(&about_change, properties(|body| drop(ChangeFields::<K>::read(body))));
    vec![
        (batch_of_creations, body_of(&format!("{} to create.", capitalized(plural)), creations::<K>())),
        (batch_of_changes, body_of(&format!("Changes to {plural}."), changes::<K>())),
        (K::CHANGE_IN_BATCH, change.into()),
    ]
}

/// The schema of a body with these items.
fn body_of(about: &str, items: impl Field<()>) -> AnySchema {
    closed_object(about, properties(|body| _ = body.required(items))).into()
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
    let items = batch_of_anything(body, creations::<K>())?;
    let mut position = 0..;
    let requests = items.as_ref().map(|item| read_creation::<K>(position.next().unwrap_or_default(), item));
    let show = |outcomes: &Vec<Result<Link<K::Content>, Rejection>>| {
        wire::ok(&BulkCreateBody::from(shown::<K>(&items, outcomes, &app)))
    };
    run_once(key.as_ref(), show, |idempotency| {
        links::create_many::<K::Content>(&app, &caller, requests, idempotency)
    })
    .await
}

/// `PATCH /v1/redirects/bulk` and `PATCH /v1/landings/bulk` (D123).
pub(crate) async fn update_many<K: LinkEndpoints>(
    app: web::Data<Application>,
    caller: Admitted,
    body: OnlyBody,
) -> Result<HttpResponse, ApiError> {
    let items = batch_of_anything(body, changes::<K>())?;
    let mut position = 0..;
    let updates = items.as_ref().map(|item| read_change::<K>(position.next().unwrap_or_default(), item));
    let outcomes = links::update_many::<K::Content>(&app, &caller, updates).await?;
    wire::ok(&BulkUpdateBody::from(shown::<K>(&items, &outcomes, &app)))
}

/// The outcomes of items, as answers show them.
fn shown<K: LinkEndpoints>(
    items: &[Json],
    outcomes: &[Result<Link<K::Content>, Rejection>],
    app: &Application,
) -> BulkOutcome<K::Listed> {
    bulk_outcome::split(
        outcomes,
        K::WORDS.list,
        |link| K::listed_body(link, app),
        |index, rejection| bulk_outcome::text_at_fault(items.get(index)?, rejection),
    )
}

/// An item of a bulk creation. It is `Err` if it has no readable fields.
fn read_creation<K: LinkEndpoints>(
    index: usize,
    item: &Json,
) -> Result<Submitted<LinkRequest<RequestOf<K>>>, Violations> {
    let mut body = ObjectReader::of_item(members::<K>(index, item)?);
    let value = K::read(&mut body, Action::Create);
    // Cut now, and not when all are read: a hundred items may have a hundred violations each.
    Ok(Submitted { value, violations: body.finish().of_item() })
}

/// An item of a bulk update. It is `Err` if it names no link.
fn read_change<K: LinkEndpoints>(index: usize, item: &Json) -> Result<LinkUpdate<K::Content>, Violations> {
    let members = members::<K>(index, item)?;
    let mut body = ObjectReader::of_item(members);
    let ChangeFields { id, mut request, if_revision } = ChangeFields::<K>::read(&mut body);
    let mut violations = Violations::new();
    let link = match id {
        Some(id) => Some(NamedLink::Id(id)),
        // An invalid id. Beside it, an external id is a change.
        None if members.contains_key(ID) => None,
        None => {
            if members.get(ExternalId::FIELD).is_none_or(|sent| *sent == Json::Null) {
                let message = "is required, unless `external_id` names the link";
                violations.push(FieldError::new(ViolationCode::Required, message).at(ID));
            }
            match std::mem::take(&mut request.external_id) {
                Change::Set(external_id) => Some(NamedLink::ExternalId(external_id)),
                Change::Keep | Change::Clear => None,
            }
        }
    };
    violations.append(body.finish());
    let violations = violations.of_item();
    let Some(link) = link else { return Err(violations) };
    Ok(LinkUpdate { link, request: Submitted { value: request, violations }, if_revision })
}

/// The fields of a change, of which `id` names the link.
struct ChangeFields<K: LinkEndpoints> {
    id: Option<IdReference<K>>,
    request: LinkRequest<RequestOf<K>>,
    if_revision: Option<Revision>,
}

impl<K: LinkEndpoints> ChangeFields<K> {
    fn read(body: &mut ObjectReader<'_>) -> Self {
        Self {
            id: body.optional(id::<K>()),
            request: K::read(body, Action::Update),
            if_revision: body.optional(if_revision()),
        }
    }
}

/// The fields of an item, which must be an object.
fn members<K: LinkEndpoints>(index: usize, item: &Json) -> Result<&JsonObject, Violations> {
    match item {
        Json::Object(members) => Ok(members),
        Json::Text(_) | Json::Null | Json::Bool(_) | Json::Number(_) | Json::List(_) => {
            let error = FieldError::new(ViolationCode::InvalidType, "must be an object");
            Err(Violations::from(error.at(format!("{}[{index}]", K::WORDS.list))))
        }
    }
}
