//! Links: the list, the forms, and what is done with several at once.

mod asked_state;
pub(crate) mod bulk;
mod conflict;
pub(crate) mod create;
pub(crate) mod edit;
pub(crate) mod editor;
pub(crate) mod explain;
mod landing_fields;
mod life_fields;
mod limit_fields;
pub(crate) mod list;
mod password_fields;
pub(super) mod placement_fields;
mod preview_fields;
pub(crate) mod qr;
mod redirect_fields;
mod rule_rows;
mod short_address;
pub(super) mod typed_address;
mod visit_fields;
mod way_fields;
