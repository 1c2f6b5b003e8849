//! Moving an account's groups and links out of an installation and into one.
//!
//! [`Export`] gives every group and link of an account as a [`Record`]; [`Import`] takes records and makes of each the
//! group or the link that it describes, unless it is there already. What a record means is decided here; how it is
//! written in a file is the business of whoever reads and writes files.

mod draws;
mod entry;
mod export;
mod field;
mod field_reader;
mod group_choice;
mod group_entry;
mod import;
mod insertion;
mod judging;
mod left_out;
mod link_entry;
mod named_groups;
mod occupancy;
mod outcome;
mod pending;
mod record;
mod rehearsal;
mod results;

pub use export::Export;
pub use field::Field;
pub use import::{Import, ImportMode, ROWS_AT_ONCE};
pub use left_out::LeftOut;
pub use outcome::{ImportCounts, Imported, ImportedRow, ObjectId};
pub use record::{FieldValue, ImportRow, Record};
