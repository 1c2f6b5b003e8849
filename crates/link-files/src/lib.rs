//! Groups and links in files: how a [`Record`](signpost_app::transfer::Record) is written in CSV and in JSON lines, and
//! read from them. What a record means is the use cases' business.
//!
//! Reading takes bounded memory whatever the file holds: a row of more than [`MAX_ROW_BYTES`] is skipped and reported, and
//! so is one that is no CSV or no JSON; the rows behind it are read on.

mod csv_header;
mod csv_reader;
mod csv_values;
mod format;
mod input;
mod json_reader;
mod json_values;
mod reader;
mod report;
mod writer;

pub use format::{FileFormat, UnknownFormat};
pub use reader::{OpenError, RecordReader};
pub use report::ReportWriter;
pub use writer::RecordWriter;

/// The most bytes that a row of a file can have: the most that the body of a request to the API can (D10).
pub const MAX_ROW_BYTES: usize = 1 << 20;
