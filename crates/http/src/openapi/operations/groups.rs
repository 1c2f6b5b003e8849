//! Operations on groups.

use actix_web::web;
use serde_json::{Value, json};
use signpost_domain::ErrorCode;
use utoipa::openapi::request_body::RequestBody;

use super::{Endpoint, body, created, ok};
use crate::endpoint::RouteMethod;
use crate::openapi::parameters::OF_OTHER_LISTS;
use crate::resources::groups::{self, PATH};
use crate::resources::redirects;
use crate::schema::{BulkOperation, examples};

pub(super) const TAG: &str = "Groups";

const ONE: &str = "/v1/groups/{id}";

/// The operations, in the order of the documentation page.
pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![create(), list(), get(), rename(), delete(), assign(), unassign()]
}

fn create() -> Endpoint {
    Endpoint {
        summary: "Create a group",
        description: "Creates an empty group. Names need not be unique.",
        body: Some(body("GroupCreate", [("name", "A name", json!({"name": "Autumn campaign"}))])),
        success: created("The group.", "Group", examples::group()),
        errors: &[ErrorCode::PlanLimitReached],
        ..Endpoint::new(TAG, "createGroup", RouteMethod::Post, PATH, || web::to(groups::create))
    }
}

fn list() -> Endpoint {
    Endpoint {
        summary: "List groups",
        description: "Lists the account's groups, newest first, each with the number of its links.",
        parameters: OF_OTHER_LISTS,
        success: ok("One page.", "GroupList", examples::page_of(&examples::group())),
        ..Endpoint::new(TAG, "listGroups", RouteMethod::Get, PATH, || web::to(groups::list))
    }
}

fn get() -> Endpoint {
    Endpoint {
        summary: "Retrieve a group",
        description: "Shows one group with the number of its links. To list the links themselves, use the filter `group_id` \
                      of the link lists.",
        parameters: &["GroupId"],
        success: ok("The group.", "Group", examples::group()),
        errors: &[ErrorCode::GroupNotFound],
        ..Endpoint::new(TAG, "getGroup", RouteMethod::Get, ONE, || web::to(groups::get))
    }
}

fn rename() -> Endpoint {
    Endpoint {
        summary: "Rename a group",
        description: "Changes the name of a group.",
        parameters: &["GroupId"],
        body: Some(body("GroupPatch", [("name", "A name", json!({"name": "Winter campaign"}))])),
        success: ok("The updated group.", "Group", examples::group()),
        errors: &[ErrorCode::GroupNotFound],
        ..Endpoint::new(TAG, "renameGroup", RouteMethod::Patch, ONE, || web::to(groups::rename))
    }
}

fn delete() -> Endpoint {
    let message = "The group is deleted; its links stay, without a group.";
    Endpoint {
        summary: "Delete a group",
        description: "Deletes a group. Its links stay, without a group.",
        parameters: &["GroupId"],
        success: ok(
            "The group is deleted.",
            "DeletedGroup",
            examples::deletion(examples::GROUP_ID, "group", message),
        ),
        errors: &[ErrorCode::GroupNotFound],
        ..Endpoint::new(TAG, "deleteGroup", RouteMethod::Delete, ONE, || web::to(groups::delete))
    }
}

fn assign() -> Endpoint {
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
        ..Endpoint::new(TAG, "assignLinks", RouteMethod::Post, "/v1/groups/{id}/assign", || {
            web::to(groups::assign)
        })
    }
}

fn unassign() -> Endpoint {
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
        ..Endpoint::new(TAG, "unassignLinks", RouteMethod::Post, "/v1/groups/{id}/unassign", || {
            web::to(groups::unassign)
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
