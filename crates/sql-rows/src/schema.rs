//! All tables that both databases have. Each is declared beside its rows, in the file of its resource.

pub use crate::account::table::accounts;
pub use crate::api_key::table::api_keys;
pub use crate::audit_entry::table::audit_entries;
pub use crate::certificate::table::certificates;
pub use crate::certificate_order::table::{certificate_authorities, certificate_challenges};
pub use crate::click_limit::table::link_credits;
pub use crate::custom_domain::table::custom_domains;
pub use crate::group::table::groups;
pub use crate::identity::table::identities;
pub use crate::link::table::links;
pub use crate::link_password::table::link_passwords;
pub use crate::membership::table::memberships;
pub use crate::pixel::table::pixels;
pub use crate::remembered_answer::table::remembered_answers;
pub use crate::session::table::sessions;
pub use crate::sign_in_count::table::sign_in_counts;
pub use crate::tag::table::{link_tags, tags};
pub use crate::ticket::table::tickets;
pub use crate::user::table::users;

/// The tables whose rows of an account both stores delete with the account, in any order. Each store names the other tables
/// itself: those that others refer to, those whose rows are locked in an order, and its own.
pub const PLAIN_TABLES: [&str; 5] = ["pixels", "api_keys", "request_counts", "memberships", "tickets"];

diesel::joinable!(api_keys -> accounts (account_id));
diesel::joinable!(memberships -> accounts (account_id));
diesel::joinable!(identities -> users (user_id));
diesel::joinable!(memberships -> users (user_id));
diesel::joinable!(sessions -> users (user_id));
diesel::joinable!(links -> accounts (account_id));
diesel::allow_tables_to_appear_in_same_query!(
    accounts,
    api_keys,
    certificates,
    custom_domains,
    groups,
    identities,
    links,
    link_credits,
    link_passwords,
    link_tags,
    memberships,
    pixels,
    sessions,
    tags,
    users
);
