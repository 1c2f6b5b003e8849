//! Export and import of an account's groups and links.
//!
//! [`Export`] reads every group and link of an account as a [`Record`]. [`Import`] creates the group or the link that each
//! record describes, unless it exists. [`AccountExport`] reads everything that an account has; imports read only its
//! records. This module defines the meaning of records; `crates/link-files` defines the files.

mod account_export;
mod classifier;
mod entry;
mod existing_links;
mod export;
mod field_reader;
mod fields;
mod fingerprint;
mod group_choice;
mod group_entry;
mod import;
mod insertion;
mod left_out;
mod link_entry;
mod named_groups;
mod outcome;
mod page_export;
mod pending;
mod preview_fields;
mod record;
mod rehearsal;
mod results;

pub use account_export::{AccountExport, AccountObject, NOT_IMPORTED};
pub use export::Export;
pub use fields::{Field, FieldForm};
pub use import::{Import, ImportMode, ROWS_AT_ONCE};
pub use left_out::LeftOut;
pub(crate) use left_out::packed_clicks;
pub use outcome::{ImportCounts, Imported, ImportedRow, ObjectId};
pub use page_export::PageExport;
pub use record::{FieldValue, ImportRow, Record};
