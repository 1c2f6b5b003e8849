//! Groups: `/v1/groups` (contract "Group", D32).

use actix_web::{HttpResponse, web};
use serde_json::{Value, json};
use signpost_app::Application;
use signpost_app::groups::{self, Moved};
use signpost_domain::id::GroupKind;
use signpost_domain::{ErrorCode, Group, GroupId, Name, Timestamp, Violations};
use utoipa::openapi::request_body::RequestBody;

use super::links::{LinkBody, ids_body};
use super::redirects;
use crate::api_error::ApiError;
use crate::bulk_outcome;
use crate::cursor::CursorScope;
use crate::endpoint::RouteMethod;
use crate::extract::{
    Admitted, Field, NoInput, ObjectReader, OnlyBody, OnlyQuery, PageQuery, PathId, batch, field, ids,
    properties, run_once, text,
};
use crate::openapi::operation::{Endpoint, body, created, ok};
use crate::openapi::parameters::{OF_OTHER_LISTS, path_id};
use crate::schema::{
    BulkOperation, Components, closed_object, count, created_at, examples, id, kept_name, kind, open_object,
    sent_name, shown, updated_at,
};
use crate::sections::Section;
use crate::wire::{self, BulkAssignBody, BulkUnassignBody, DeletionBody, ListBody, Text};

/// The path of the list, and the prefix of each group's path.
const PATH: &str = "/v1/groups";

const ONE: &str = "/v1/groups/{id}";

/// A group's id.
pub(crate) const EXAMPLE_ID: &str = "grp_019b5a3b11aa7c3e8899aabbccddeeff";

const DELETED: &str = "The group is deleted; its links stay, without a group.";

/// What the API says about groups.
pub(crate) static SECTION: Section = Section {
    tag: "Groups",
    description: "Flat containers of links; a link is in at most one group.",
    endpoints,
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
    }
}

impl From<&Group> for GroupBody {
    fn from(group: &Group) -> Self {
        let Group { id, name, landings_count, redirects_count, created_at, updated_at } = group;
        Self {
            id: Text(*id),
            object: "group",
            name: name.as_str().to_owned(),
            landings_count: *landings_count,
            redirects_count: *redirects_count,
            created_at: Text(*created_at),
            updated_at: Text(*updated_at),
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
    let show = |group: &Group| wire::created(PATH, group.id, &GroupBody::from(group));
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
    wire::ok(&GroupBody::from(&group))
}

/// `PATCH /v1/groups/{id}`
pub(crate) async fn rename(
    app: web::Data<Application>,
    caller: Admitted,
    id: PathId<GroupKind>,
    body: OnlyBody,
) -> Result<HttpResponse, ApiError> {
    let group = groups::rename(&app, &caller, id.0, name_of(body)?).await?;
    wire::ok(&GroupBody::from(&group))
}

/// `DELETE /v1/groups/{id}` (D5): the group's links stay.
pub(crate) async fn delete(
    app: web::Data<Application>,
    caller: Admitted,
    id: PathId<GroupKind>,
    _: NoInput,
) -> Result<HttpResponse, ApiError> {
    let id = groups::delete(&app, &caller, id.0).await?;
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
        let link = |link: &_| LinkBody::new(link, &app);
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
        let link = |link: &_| LinkBody::new(link, &app);
        let outcome = bulk_outcome::split(moved, groups::LINK_IDS, link, |index, _| ids.get(index).cloned());
        wire::ok(&BulkUnassignBody::from(outcome))
    };
    run_once(key.as_ref(), show, |idempotency| groups::unassign(&app, &caller, id.0, &ids, idempotency)).await
}

/// A group.
fn example() -> Value {
    json!({
        "id": EXAMPLE_ID,
        "object": "group",
        "name": "Autumn campaign",
        "landings_count": 1,
        "redirects_count": 12,
        "created_at": examples::CREATED_AT,
        "updated_at": examples::CREATED_AT,
    })
}

/// The operations, in the order of the documentation page.
fn endpoints() -> Vec<Endpoint> {
    vec![creation(), listing(), retrieval(), renaming(), deletion(), assignment(), unassignment()]
}

fn creation() -> Endpoint {
    Endpoint {
        summary: "Create a group",
        description: "Creates an empty group. Names need not be unique.",
        body: Some(body("GroupCreate", [("name", "A name", json!({"name": "Autumn campaign"}))])),
        success: created("The group.", "Group", example()),
        errors: &[ErrorCode::PlanLimitReached],
        ..Endpoint::new("createGroup", RouteMethod::Post, PATH, || web::to(create))
    }
}

fn listing() -> Endpoint {
    Endpoint {
        summary: "List groups",
        description: "Lists the account's groups, newest first, each with the number of its links.",
        parameters: OF_OTHER_LISTS,
        success: ok("One page.", "GroupList", examples::page_of(&example())),
        ..Endpoint::new("listGroups", RouteMethod::Get, PATH, || web::to(list))
    }
}

fn retrieval() -> Endpoint {
    Endpoint {
        summary: "Retrieve a group",
        description: "Shows one group with the number of its links. To list the links themselves, use the filter `group_id` \
                      of the link lists.",
        parameters: &["GroupId"],
        success: ok("The group.", "Group", example()),
        errors: &[ErrorCode::GroupNotFound],
        ..Endpoint::new("getGroup", RouteMethod::Get, ONE, || web::to(get))
    }
}

fn renaming() -> Endpoint {
    Endpoint {
        summary: "Rename a group",
        description: "Changes the name of a group.",
        parameters: &["GroupId"],
        body: Some(body("GroupPatch", [("name", "A name", json!({"name": "Winter campaign"}))])),
        success: ok("The updated group.", "Group", example()),
        errors: &[ErrorCode::GroupNotFound],
        ..Endpoint::new("renameGroup", RouteMethod::Patch, ONE, || web::to(rename))
    }
}

fn deletion() -> Endpoint {
    Endpoint {
        summary: "Delete a group",
        description: "Deletes a group. Its links stay, without a group.",
        parameters: &["GroupId"],
        success: ok(
            "The group is deleted.",
            "DeletedGroup",
            examples::deletion(EXAMPLE_ID, "group", DELETED),
        ),
        errors: &[ErrorCode::GroupNotFound],
        ..Endpoint::new("deleteGroup", RouteMethod::Delete, ONE, || web::to(delete))
    }
}

fn assignment() -> Endpoint {
    Endpoint {
        summary: "Put up to 100 links into a group",
        description: "Moves landing pages and redirects into the group. Each item succeeds or fails alone. An id that \
                      matches no link of the account fails with `landing_not_found` or `redirect_not_found`, according to \
                      its prefix, or with `invalid_request` if it has neither prefix. A repeated id fails with \
                      `duplicate_id_in_batch`. The answer is 200 even if every item failed. The request counts once against \
                      the quota.",
        parameters: &["GroupId"],
        body: Some(links()),
        success: ok(
            "The result of each item.",
            "BulkAssignResult",
            examples::bulk_result(BulkOperation::ASSIGN, &redirects::example(), &not_found()),
        ),
        errors: &[ErrorCode::GroupNotFound],
        ..Endpoint::new("assignLinks", RouteMethod::Post, "/v1/groups/{id}/assign", || web::to(assign))
    }
}

fn unassignment() -> Endpoint {
    let mut link = redirects::example();
    if let Some(group) = link.get_mut("group_id") {
        *group = Value::Null;
    }
    Endpoint {
        summary: "Take up to 100 links out of a group",
        description: "Takes landing pages and redirects out of the group. Each item succeeds or fails alone. An id of a \
                      link that is not in this group, or that matches no link of the account, fails with \
                      `landing_not_found` or `redirect_not_found`, according to its prefix, or with `invalid_request` if it \
                      has neither prefix. A repeated id fails with `duplicate_id_in_batch`. The answer is 200 even if every \
                      item failed. The request counts once against the quota.",
        parameters: &["GroupId"],
        body: Some(links()),
        success: ok(
            "The result of each item.",
            "BulkUnassignResult",
            examples::bulk_result(BulkOperation::UNASSIGN, &link, &not_found()),
        ),
        errors: &[ErrorCode::GroupNotFound],
        ..Endpoint::new("unassignLinks", RouteMethod::Post, "/v1/groups/{id}/unassign", || web::to(unassign))
    }
}

fn links() -> RequestBody {
    let ids = json!({"link_ids": [examples::REDIRECT_ID, examples::UNKNOWN_LANDING_ID]});
    body("LinkIds", [("mixed", "A redirect and a landing page", ids)])
}

fn not_found() -> Value {
    examples::item_error("landing_not_found", "No such landing page.", examples::UNKNOWN_LANDING_ID)
}
