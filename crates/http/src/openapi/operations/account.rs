//! The operation on the account.

use super::{Endpoint, ok};
use crate::routes::RouteMethod;
use crate::schema::examples;

pub(super) const TAG: &str = "Account";

/// The operations, in the order in which the page shows them.
pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![Endpoint {
        summary: "Retrieve the account",
        description: "Shows the account that the key belongs to, what its plan allows, and how much of it is used.",
        success: ok("The account.", "Account", examples::account()),
        ..Endpoint::new(TAG, "getAccount", RouteMethod::Get, "/v1/account")
    }]
}
