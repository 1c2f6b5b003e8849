//! Reading rows in the tests.

use std::io::{self, Read};

use signpost_app::transfer::{Field, FieldValue, ImportRow, Record};
use signpost_link_files::{FileFormat, RecordReader};

fn rows(format: FileFormat, bytes: &[u8]) -> Vec<ImportRow> {
    // A pipe may return few bytes at a time.
    let mut reader = RecordReader::open(format, Sparing(bytes)).unwrap();
    let mut rows = vec![];
    while let Some(row) = reader.next_row().unwrap() {
        rows.push(row);
    }
    assert_eq!(reader.bytes_read(), u64::try_from(bytes.len()).unwrap());
    rows
}

pub(crate) fn csv(text: impl AsRef<[u8]>) -> Vec<ImportRow> {
    rows(FileFormat::Csv, text.as_ref())
}

pub(crate) fn jsonl(text: impl AsRef<[u8]>) -> Vec<ImportRow> {
    rows(FileFormat::JsonLines, text.as_ref())
}

/// Gives at most 7 bytes at once.
struct Sparing<'a>(&'a [u8]);

impl Read for Sparing<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = buffer.len().min(7);
        self.0.read(&mut buffer[..count])
    }
}

pub(crate) fn text(record: &Record, field: Field) -> Option<&str> {
    match record.get(field) {
        Some(FieldValue::Text(text)) => Some(text),
        _ => None,
    }
}

/// The line of each row, and its slug or its error.
pub(crate) fn outcomes(rows: &[ImportRow]) -> Vec<(u64, Result<&str, &str>)> {
    rows.iter()
        .map(|row| match &row.record {
            Ok(record) => (row.line, Ok(text(record, Field::Slug).unwrap_or_default())),
            Err(message) => (row.line, Err(message.as_str())),
        })
        .collect()
}
