//! The endpoints of groups.

use actix_web::web;
use serde_json::{Value, json};
use signpost_domain::ErrorCode;
use utoipa::openapi::request_body::RequestBody;

use super::{DELETED, EXAMPLE_ID, PATH};
use crate::endpoint::RouteMethod;
use crate::openapi::operation::{Endpoint, body, created, ok, precondition_failed, tagged};
use crate::openapi::parameters::{IF_MATCH, OF_OTHER_LISTS};
use crate::resources::redirects;
use crate::schema::{BulkOperation, examples};

const ONE: &str = "/v1/groups/{id}";

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
        "revision": examples::REVISION,
    })
}

/// All of them, in the order of the documentation page.
pub(super) fn all() -> Vec<Endpoint> {
    vec![creation(), listing(), retrieval(), renaming(), deletion(), assignment(), unassignment()]
}

fn creation() -> Endpoint {
    Endpoint {
        summary: "Create a group",
        description: "Creates an empty group. Names need not be unique.",
        body: Some(body("GroupCreate", [("name", "A name", json!({"name": "Autumn campaign"}))])),
        success: tagged(created("The group.", "Group", example())),
        errors: &[ErrorCode::PlanLimitReached],
        ..Endpoint::new("createGroup", RouteMethod::Post, PATH, || web::to(super::create))
    }
}

fn listing() -> Endpoint {
    Endpoint {
        summary: "List groups",
        description: "Lists the account's groups, newest first, each with the number of its links.",
        parameters: OF_OTHER_LISTS,
        success: ok("One page.", "GroupList", examples::page_of(&example())),
        ..Endpoint::new("listGroups", RouteMethod::Get, PATH, || web::to(super::list))
    }
}

fn retrieval() -> Endpoint {
    Endpoint {
        summary: "Retrieve a group",
        description: "Shows one group with the number of its links. To list the links themselves, use the filter `group_id` \
                      of the link lists.",
        parameters: &["GroupId"],
        success: tagged(ok("The group.", "Group", example())),
        errors: &[ErrorCode::GroupNotFound],
        ..Endpoint::new("getGroup", RouteMethod::Get, ONE, || web::to(super::get))
    }
}

fn renaming() -> Endpoint {
    Endpoint {
        summary: "Rename a group",
        description: "Changes the name of a group.",
        parameters: &["GroupId", IF_MATCH],
        body: Some(body("GroupPatch", [("name", "A name", json!({"name": "Winter campaign"}))])),
        success: tagged(ok("The updated group.", "Group", example())),
        others: vec![precondition_failed()],
        errors: &[ErrorCode::GroupNotFound],
        ..Endpoint::new("renameGroup", RouteMethod::Patch, ONE, || web::to(super::rename))
    }
}

fn deletion() -> Endpoint {
    Endpoint {
        summary: "Delete a group",
        description: "Deletes a group. Its links stay, without a group.",
        parameters: &["GroupId", IF_MATCH],
        others: vec![precondition_failed()],
        success: ok(
            "The group is deleted.",
            "DeletedGroup",
            examples::deletion(EXAMPLE_ID, "group", DELETED),
        ),
        errors: &[ErrorCode::GroupNotFound],
        ..Endpoint::new("deleteGroup", RouteMethod::Delete, ONE, || web::to(super::delete))
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
        ..Endpoint::new("assignLinks", RouteMethod::Post, "/v1/groups/{id}/assign", || web::to(super::assign))
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
        ..Endpoint::new("unassignLinks", RouteMethod::Post, "/v1/groups/{id}/unassign", || {
            web::to(super::unassign)
        })
    }
}

fn links() -> RequestBody {
    let ids = json!({"link_ids": [examples::REDIRECT_ID, examples::UNKNOWN_LANDING_ID]});
    body("LinkIds", [("mixed", "A redirect and a landing page", ids)])
}

fn not_found() -> Value {
    examples::item_error("landing_not_found", "No such landing page.", examples::UNKNOWN_LANDING_ID)
}
