//! All tables that both databases have. Each is declared beside its rows, in the file of its resource.

pub use crate::account::table::accounts;
pub use crate::api_key::table::api_keys;
pub use crate::custom_domain::table::custom_domains;
pub use crate::group::table::groups;
pub use crate::link::table::links;
pub use crate::pixel::table::pixels;
pub use crate::remembered_answer::table::remembered_answers;

diesel::joinable!(api_keys -> accounts (account_id));
diesel::joinable!(links -> accounts (account_id));
diesel::allow_tables_to_appear_in_same_query!(accounts, api_keys, custom_domains, groups, links, pixels);
