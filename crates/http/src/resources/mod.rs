//! Resources: for each, its endpoints, and the fields that are sent and shown, each declared once with its schema (contract
//! "Resources and their fields").
//!
//! Every conversion into a body takes its source apart completely, so that a new field of the domain does not compile
//! until somebody has decided whether it is shown.

pub(crate) mod account;
pub(crate) mod domains;
pub(crate) mod groups;
pub(crate) mod landings;
mod link_fields;
mod link_list_query;
pub(crate) mod links;
mod page_content;
pub(crate) mod pixels;
pub(crate) mod redirects;
mod widget_requests;
pub(crate) mod widgets;
