//! Resources: the endpoints and fields of each. A field is declared once, with its schema (contract "Resources and their
//! fields").
//!
//! Every conversion into a body destructures its source completely. So a new field of the domain does not compile until the
//! conversion shows or omits it.

pub(crate) mod account;
pub(crate) mod domains;
pub(crate) mod explanations;
pub(crate) mod groups;
pub(crate) mod landings;
mod link_batches;
mod link_endpoints;
mod link_fields;
mod link_life;
mod link_list_query;
mod link_password;
pub(crate) mod links;
mod page_content;
pub(crate) mod pixels;
mod redirect_limits;
mod redirect_previews;
mod redirect_rules;
mod redirect_ways;
pub(crate) mod redirects;
mod rule_condition_requests;
mod rule_conditions;
pub(crate) mod tags;
mod widget_requests;
pub(crate) mod widgets;
