//! The operation on the account.

use actix_web::web;

use super::{Endpoint, ok};
use crate::endpoint::RouteMethod;
use crate::resources::account;
use crate::schema::examples;

pub(super) const TAG: &str = "Account";

/// The operations, in the order of the documentation page.
pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![Endpoint {
        summary: "Retrieve the account",
        description: "Shows the account of the key, with the limits of its plan and its usage.",
        success: ok("The account.", "Account", examples::account()),
        ..Endpoint::new(TAG, "getAccount", RouteMethod::Get, "/v1/account", || web::to(account::get))
    }]
}
