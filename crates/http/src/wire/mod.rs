//! Resources as the API shows them (contract "Resources and their fields").
//!
//! Every conversion takes its source apart completely, so that a new field of the domain does not compile until
//! somebody has decided whether it is shown.

mod account;
mod bulk;
mod deletion;
mod detail;
mod domain;
mod group;
mod json_response;
mod landing;
mod link;
mod list;
mod pixel;
mod redirect;
mod text;
mod widget;

pub(crate) use account::AccountBody;
pub(crate) use bulk::{
    BulkAssignBody, BulkCreateBody, BulkDeleteBody, BulkOutcome, BulkUnassignBody, FailedItem, ItemError,
    SucceededItem,
};
pub(crate) use deletion::DeletionBody;
pub(crate) use detail::{Detail, sentence};
pub(crate) use domain::DomainBody;
pub(crate) use group::GroupBody;
pub(crate) use json_response::{created, json, ok};
pub(crate) use landing::SingleLandingBody;
pub(crate) use link::{LinkBody, ListedLinkBody};
pub(crate) use list::ListBody;
pub(crate) use pixel::PixelBody;
pub(crate) use redirect::{RedirectBody, SingleRedirectBody};
pub(crate) use text::Text;
