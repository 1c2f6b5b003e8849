//! What operators do with API keys: one use case a file.

mod issue;
mod list;
mod revoke;

pub use issue::issue;
pub(crate) use issue::new_key;
pub use list::list;
pub use revoke::{KeyReference, revoke};
