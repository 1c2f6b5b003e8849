//! What bodies look like: the components of the OpenAPI document under `#/components/schemas`, and what they are made of.
//!
//! The schemas of a resource come from the declarations that read and show it, in `resources`. Here are those of bodies
//! that all resources share, such as errors and lists.

use utoipa::openapi::{RefOr, Schema};

use crate::analytics::{click_lines, report};
use crate::resources::{account, domains, groups, landings, links, pixels, redirects, widgets};
use crate::{error_response, health, tls_allowed};

mod bulk;
mod deletion;
pub(crate) mod examples;
mod fields;
mod list;
mod object;
mod patterns;
mod shown;

pub(crate) use bulk::BulkOperation;
pub(crate) use fields::{
    created_at, id, kept_name, sent_name, target_url_shown, timestamp, updated_at, web_url, web_url_shown,
};
pub(crate) use object::{
    AnySchema, Property, always, boolean, closed_object, count, keyword, kind, list, maybe, named, or_null,
    string, with_default, with_rule,
};
pub(crate) use patterns::{
    COLOR, CURSOR, KEPT_COLOR, LINES, PIXEL_CODE, SLUG, WITHOUT_NUL, country as country_pattern,
    email as email_pattern, hostname as hostname_pattern, id as id_pattern, one_line as one_line_pattern,
    target_url as target_url_pattern, trimmed as trimmed_pattern,
};
pub(crate) use shown::{FieldType, property, shown};

/// Every component: its name and its schema.
pub(crate) fn all() -> impl Iterator<Item = (&'static str, RefOr<Schema>)> {
    [
        redirects::components(),
        landings::components(),
        links::components(),
        widgets::components(),
        groups::components(),
        domains::components(),
        tls_allowed::components(),
        pixels::components(),
        list::components(),
        deletion::components(),
        bulk::components(),
        report::components(),
        click_lines::components(),
        account::components(),
        health::components(),
        error_response::components(),
    ]
    .into_iter()
    .flatten()
}

/// Some components.
pub(crate) type Components = Vec<(&'static str, RefOr<Schema>)>;
