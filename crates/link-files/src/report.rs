//! The report of an import: one row for each row of the file.

use std::io::{self, Write};

use serde::Serialize;
use signpost_app::transfer::{Imported, ImportedRow};
use signpost_domain::ErrorCode;

use crate::format::FileFormat;

/// Writes the outcome of each row, except for those that imports ignore.
pub struct ReportWriter<W: Write> {
    rows: Rows<W>,
}

enum Rows<W: Write> {
    Csv(Box<csv::Writer<W>>),
    JsonLines(W),
}

/// The columns, or the fields of each object.
#[derive(Serialize)]
struct ReportRow<'a> {
    row: u64,
    outcome: &'a str,
    id: Option<String>,
    url: Option<&'a str>,
    code: Option<&'static str>,
    message: Option<String>,
}

impl<W: Write> ReportWriter<W> {
    /// Starts a report.
    pub fn new(format: FileFormat, destination: W) -> Self {
        let rows = match format {
            FileFormat::Csv => Rows::Csv(Box::new(csv::Writer::from_writer(destination))),
            FileFormat::JsonLines => Rows::JsonLines(destination),
        };
        Self { rows }
    }

    /// Writes the outcomes of some rows, and flushes them to the reader of the report.
    ///
    /// # Errors
    /// The destination cannot be written.
    pub fn write(&mut self, imported: &[ImportedRow]) -> io::Result<()> {
        // A file of everything has a row for each click, among which the others would not be found.
        for row in imported.iter().filter(|row| row.outcome != Imported::Ignored) {
            let ImportedRow { line, outcome, id, url } = row;
            let row = ReportRow {
                row: *line,
                outcome: outcome.as_str(),
                id: id.map(|id| id.to_string()),
                url: url.as_deref(),
                code: outcome.code().map(ErrorCode::as_str),
                message: outcome.message(),
            };
            match &mut self.rows {
                Rows::Csv(table) => table.serialize(row)?,
                Rows::JsonLines(lines) => {
                    serde_json::to_writer(&mut *lines, &row)?;
                    lines.write_all(b"\n")?;
                }
            }
        }
        match &mut self.rows {
            Rows::Csv(table) => table.flush(),
            Rows::JsonLines(lines) => lines.flush(),
        }
    }
}
