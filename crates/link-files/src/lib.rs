//! Groups and links in files: writes a [`Record`](signpost_app::transfer::Record) as CSV or as a JSON line, and
//! reads it back. The use cases decide what a record means. Everything else that an account has is only written.
//!
//! Reading any file takes bounded memory. A row of more than [`MAX_ROW_BYTES`], or one that is not CSV or JSON,
//! is skipped and reported, and reading goes on with the next row.

mod account_lines;
mod click_lines;
mod click_parts;
mod csv_header;
mod csv_reader;
mod csv_values;
mod format;
mod input;
mod json_reader;
mod page_lines;
mod quotes;
mod reader;
mod report;
mod writer;

pub use account_lines::{write_clicks, write_objects};
pub use click_lines::LineFormat;
pub use click_parts::click_parts;
pub use format::{FileFormat, UnknownFormat};
pub use page_lines::write_page;
pub use reader::{OpenError, RecordReader};
pub use report::ReportWriter;
pub use writer::RecordWriter;

/// The maximum size of a row in bytes, which is also that of a request body (D10).
pub const MAX_ROW_BYTES: usize = 1 << 20;
