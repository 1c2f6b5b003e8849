//! The tables of Signpost's SQL stores, and the types of their rows.
//!
//! The adapters for SQLite and PostgreSQL share [the tables](schema), [the types of their columns](sql_types) and the rows.
//! Each writes its own statements. A new column of a table is a line in [`schema`], a field of its row, and a migration
//! of each database.

#![expect(clippy::ref_option_ref, reason = "diesel's derives write such references for optional columns")]

pub mod account;
pub mod api_key;
pub mod audit_entry;
pub mod cell;
pub mod certificate;
pub mod certificate_order;
pub mod click_limit;
mod column_by_statement;
pub mod columns;
mod corrupt;
pub mod custom_domain;
pub mod domain_settings;
pub mod external_id;
pub mod group;
pub mod group_moves;
pub mod id_range;
pub mod identity;
pub mod link;
mod link_address;
pub mod link_batch;
pub mod link_life;
pub mod link_password;
pub mod link_state;
pub mod listed;
pub mod membership;
pub mod page;
pub mod pixel;
pub mod plain_tables;
pub mod plan_counter;
pub mod published_link;
mod redirect_columns;
pub mod remembered_answer;
pub mod schema;
mod second_factor;
pub mod session;
pub mod sign_in_count;
pub mod sql_types;
pub mod tag;
pub mod target_host;
pub mod ticket;
pub mod user;

pub use corrupt::Corrupt;
