//! What bodies look like: the components under `#/components/schemas`.
//!
//! They are written down here, not derived from the types in `wire`, because those are composed (`flatten`,
//! `untagged`), and a composed schema cannot say that an object has no further property. What keeps the two together
//! is that tests hold every answer that they see against this document.

use utoipa::openapi::{RefOr, Schema};

mod account;
mod analytics;
mod bulk;
mod deletion;
mod domain;
mod error;
pub(super) mod examples;
mod fields;
mod group;
mod health;
mod landing;
mod list;
mod object;
mod page;
mod patterns;
mod pixel;
mod redirect;
mod widget;

pub(super) use bulk::BulkOperation;
pub(super) use fields::id;
pub(super) use object::{keyword, named};
pub(super) use patterns::{CURSOR, SLUG, WITHOUT_NUL};

/// Every component: its name and its schema.
pub(super) fn all() -> impl Iterator<Item = (&'static str, RefOr<Schema>)> {
    [
        redirect::components(),
        landing::components(),
        widget::components(),
        group::components(),
        domain::components(),
        pixel::components(),
        list::components(),
        deletion::components(),
        bulk::components(),
        analytics::components(),
        account::components(),
        health::components(),
        error::components(),
    ]
    .into_iter()
    .flatten()
}

/// What every file here offers.
type Components = Vec<(&'static str, RefOr<Schema>)>;
