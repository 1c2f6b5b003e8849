//! Reads a file of records.

use std::io::{self, Read};

use signpost_app::transfer::ImportRow;

use crate::csv_reader::CsvReader;
use crate::format::FileFormat;
use crate::input::Input;
use crate::json_reader::next_object;

/// Why a file cannot be read at all.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The file is in UTF-16.
    #[error("the file is in UTF-16; save it in UTF-8")]
    Utf16,
    /// The header of the table is invalid.
    #[error("{0}")]
    Header(String),
    /// The file cannot be read.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Reads the rows of a file one by one.
pub struct RecordReader<R> {
    input: Input<R>,
    rows: Rows,
}

enum Rows {
    Csv(Box<CsvReader>),
    JsonLines,
}

impl<R: Read> RecordReader<R> {
    /// Starts to read. A table must have a header of known columns, each once, in any order: a misspelt column
    /// must not be dropped silently.
    pub fn open(format: FileFormat, source: R) -> Result<Self, OpenError> {
        let mut input = Input::new(source)?.ok_or(OpenError::Utf16)?;
        let rows = match format {
            FileFormat::Csv => Rows::Csv(Box::new(CsvReader::open(&mut input)?.map_err(OpenError::Header)?)),
            FileFormat::JsonLines => Rows::JsonLines,
        };
        Ok(Self { input, rows })
    }

    /// The next row; `None` at the end.
    ///
    /// # Errors
    /// The rest of the file cannot be read.
    pub fn next_row(&mut self) -> io::Result<Option<ImportRow>> {
        match &mut self.rows {
            Rows::Csv(rows) => rows.next(&mut self.input),
            Rows::JsonLines => next_object(&mut self.input),
        }
    }

    /// How many bytes of the file have been read.
    #[must_use]
    pub const fn bytes_read(&self) -> u64 {
        self.input.consumed()
    }
}
