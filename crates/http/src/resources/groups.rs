//! Groups: `/v1/groups` (contract "Group", D32).

use actix_web::{HttpResponse, web};
use signpost_app::Application;
use signpost_app::groups::{self, Moved};
use signpost_domain::id::GroupKind;
use signpost_domain::{Group, GroupId, Name, Timestamp, Violations};

use super::links::{LinkBody, ids_body};
use crate::api_error::ApiError;
use crate::bulk_outcome;
use crate::cursor::CursorScope;
use crate::extract::{
    Admitted, Field, IfMatch, NoInput, ObjectReader, OnlyBody, OnlyQuery, PageQuery, PathId, batch, field,
    ids, properties, run_once, text,
};
use crate::openapi::parameters::path_id;
use crate::schema::{
    Components, closed_object, count, created_at, examples, id, kept_name, kind, open_object, revision,
    sent_name, shown, updated_at,
};
use crate::sections::Section;
use crate::wire::{self, BulkAssignBody, BulkUnassignBody, DeletionBody, ListBody, Text};

mod endpoints;

/// The path of the list, and the prefix of each group's path.
const PATH: &str = "/v1/groups";

/// A group's id.
pub(crate) const EXAMPLE_ID: &str = "grp_019b5a3b11aa7c3e8899aabbccddeeff";

const DELETED: &str = "The group is deleted; its links stay, without a group.";

/// What the API says about groups.
pub(crate) static SECTION: Section = Section {
    tag: "Groups",
    description: "Flat containers of links; a link is in at most one group.",
    endpoints: endpoints::all,
    schemas: components,
    parameters: || vec![path_id("GroupId", EXAMPLE_ID, "A group's id.")],
};

shown! {
    /// A group as the API shows it.
    pub(crate) struct GroupBody {
        id: Text<GroupId> = id(EXAMPLE_ID, "The group's id."),
        object: &'static str = kind("group"),
        name: String = kept_name("The group's name."),
        landings_count: u64 = count("How many landing pages are in the group."),
        redirects_count: u64 = count("How many redirects are in the group."),
        created_at: Text<Timestamp> = created_at(),
        updated_at: Text<Timestamp> = updated_at(),
        revision: u64 = revision(),
    }
}

impl From<&Group> for GroupBody {
    fn from(group: &Group) -> Self {
        let Group { id, name, landings_count, redirects_count, created_at, updated_at, revision } = group;
        Self {
            id: Text(*id),
            object: "group",
            name: name.as_str().to_owned(),
            landings_count: *landings_count,
            redirects_count: *redirects_count,
            created_at: Text(*created_at),
            updated_at: Text(*updated_at),
            revision: revision.get(),
        }
    }
}

/// The OpenAPI components of groups.
fn components() -> Components {
    let shown = open_object(
        "A group of links. To list its links, use the filter `group_id` of the link lists.",
        GroupBody::properties(),
    );
    let sent = |description| {
        closed_object(
            description,
            properties(|body| {
                read_name(body);
            }),
        )
    };
    vec![
        ("Group", shown.into()),
        ("GroupCreate", sent("A group to create.").into()),
        ("GroupPatch", sent("The new name of a group.").into()),
        ("GroupList", wire::page_of("Group", "One page of groups, newest first.")),
        ("DeletedGroup", wire::deleted::<GroupKind>("group", EXAMPLE_ID)),
        ("LinkIds", ids_body(link_ids()).into()),
    ]
}

/// The links to put into a group or to take out of it.
fn link_ids() -> impl Field<Vec<String>> {
    ids(groups::LINK_IDS, "The ids of landing pages and redirects, in any order.", examples::REDIRECT_ID)
}

fn name() -> impl Field<Name> {
    field("name", text(Name::parse), || sent_name("The group's name"))
}

/// Creation and renaming both require the name (contract "PATCH /v1/groups/{id}").
fn read_name(body: &mut ObjectReader<'_>) -> Option<Name> {
    body.required(name())
}

fn name_of(body: OnlyBody) -> Result<Name, Violations> {
    let (mut body, mut violations) = body.reader()?;
    let name = read_name(&mut body);
    violations.append(body.finish());
    match name {
        Some(name) => violations.into_result(name),
        None => Err(violations),
    }
}

/// `POST /v1/groups`
pub(crate) async fn create(
    app: web::Data<Application>,
    caller: Admitted,
    mut body: OnlyBody,
) -> Result<HttpResponse, ApiError> {
    let key = body.key(&app, &caller).await?;
    let show =
        |group: &Group| wire::tagged(wire::created(PATH, group.id, &GroupBody::from(group)), group.revision);
    let name = name_of(body)?;
    run_once(key.as_ref(), show, |idempotency| groups::create(&app, &caller, name, idempotency)).await
}

/// `GET /v1/groups`
pub(crate) async fn list(
    app: web::Data<Application>,
    caller: Admitted,
    input: OnlyQuery,
) -> Result<HttpResponse, ApiError> {
    let scope = CursorScope::new(caller.account_id(), "groups");
    let PageQuery { limit, after } = input.page(&scope)?;
    let page = groups::list(&app, &caller, limit, after).await?;
    wire::ok(&ListBody::new(page.map(|group| GroupBody::from(&group)), &scope))
}

/// `GET /v1/groups/{id}`
pub(crate) async fn get(
    app: web::Data<Application>,
    caller: Admitted,
    id: PathId<GroupKind>,
    _: NoInput,
) -> Result<HttpResponse, ApiError> {
    let group = groups::get(&app, &caller, id.0).await?;
    answer(&group)
}

/// 200 with a group.
fn answer(group: &Group) -> Result<HttpResponse, ApiError> {
    wire::tagged(wire::ok(&GroupBody::from(group)), group.revision)
}

/// `PATCH /v1/groups/{id}`
pub(crate) async fn rename(
    app: web::Data<Application>,
    caller: Admitted,
    id: PathId<GroupKind>,
    condition: IfMatch,
    body: OnlyBody,
) -> Result<HttpResponse, ApiError> {
    let group = groups::rename(&app, &caller, id.0, name_of(body), &condition.0).await?;
    answer(&group)
}

/// `DELETE /v1/groups/{id}` (D5): the group's links stay.
pub(crate) async fn delete(
    app: web::Data<Application>,
    caller: Admitted,
    id: PathId<GroupKind>,
    condition: IfMatch,
    _: NoInput,
) -> Result<HttpResponse, ApiError> {
    let id = groups::delete(&app, &caller, id.0, &condition.0).await?;
    wire::ok(&DeletionBody::new(id, "group", DELETED))
}

/// `POST /v1/groups/{id}/assign`: puts links into the group.
pub(crate) async fn assign(
    app: web::Data<Application>,
    caller: Admitted,
    id: PathId<GroupKind>,
    mut body: OnlyBody,
) -> Result<HttpResponse, ApiError> {
    let key = body.key(&app, &caller).await?;
    let ids = batch(body, link_ids())?;
    let show = |moved: &Moved| {
        let link = |link: &_| LinkBody::new(link, &app, app.clock.now());
        let outcome = bulk_outcome::split(moved, groups::LINK_IDS, link, |index, _| ids.get(index).cloned());
        wire::ok(&BulkAssignBody::from(outcome))
    };
    run_once(key.as_ref(), show, |idempotency| groups::assign(&app, &caller, id.0, &ids, idempotency)).await
}

/// `POST /v1/groups/{id}/unassign`: takes links out of the group.
pub(crate) async fn unassign(
    app: web::Data<Application>,
    caller: Admitted,
    id: PathId<GroupKind>,
    mut body: OnlyBody,
) -> Result<HttpResponse, ApiError> {
    let key = body.key(&app, &caller).await?;
    let ids = batch(body, link_ids())?;
    let show = |moved: &Moved| {
        let link = |link: &_| LinkBody::new(link, &app, app.clock.now());
        let outcome = bulk_outcome::split(moved, groups::LINK_IDS, link, |index, _| ids.get(index).cloned());
        wire::ok(&BulkUnassignBody::from(outcome))
    };
    run_once(key.as_ref(), show, |idempotency| groups::unassign(&app, &caller, id.0, &ids, idempotency)).await
}
