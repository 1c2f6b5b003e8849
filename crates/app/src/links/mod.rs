//! Use cases of links of either kind. The parts of one kind are in [`redirects`](crate::redirects) and
//! [`landings`](crate::landings).

mod activity;
pub(crate) mod batch_ids;
mod changed_links;
mod create;
mod delete;
mod list;
mod list_all;
pub(crate) mod passwords;
mod put;
mod resource;
mod rules;
mod tagging;
mod update;
mod update_many;
mod update_matching;

pub use activity::set_active;
pub use create::{create, create_many};
pub use delete::{delete, delete_any, delete_many};
pub use list::{ListLinks, list};
pub use list_all::list_all;
pub use put::{Put, put};
pub use resource::{LinkResource, get, named, one};
pub(crate) use resource::{any, pixels_by_id, stored_pixels};
pub(crate) use rules::LinkRules;
pub(crate) use tagging::ProvidedTags;
pub use update::update;
pub use update_many::{LinkUpdate, NamedLink, update_many};
pub use update_matching::{MatchingUpdate, UpdateMatching, update_matching};
