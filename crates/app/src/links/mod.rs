//! Use cases of links of either kind. The parts of one kind are in [`redirects`](crate::redirects) and
//! [`landings`](crate::landings).

pub(crate) mod batch_ids;
mod create;
mod delete;
mod list;
mod resource;
mod rules;
mod update;

pub use create::{create, create_many};
pub use delete::{delete, delete_many};
pub use list::{ListLinks, list};
pub use resource::{LinkResource, get};
pub(crate) use resource::{any, pixels_by_id, stored_pixels};
pub(crate) use rules::LinkRules;
pub use update::update;
