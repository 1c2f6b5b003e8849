//! Reads a table row by row.

use std::io::{self, Read};
use std::iter;

use csv_core::{ReadRecordResult, Reader, ReaderBuilder};
use signpost_app::transfer::{Field, ImportRow, Record};

use crate::MAX_ROW_BYTES;
use crate::csv_header::{MAX_CELLS, POSSIBLE_SEPARATORS, read_header};
use crate::csv_values::value;
use crate::input::Input;
use crate::quotes::Quotes;

/// The rows of a table below its header.
pub(crate) struct CsvReader {
    reader: Reader,
    separator: u8,
    columns: Vec<Option<Field>>,
    /// The cells of the last row that was read, one after another, and the end of each.
    cells: Vec<u8>,
    ends: Vec<usize>,
}

/// A row as it was read.
enum RawRow {
    /// The number of cells in the buffers.
    Cells(usize),
    /// The file ended within the row, without a line end. Holds the number of cells in the buffers.
    EndsWithFile(usize),
    /// A cell has text behind its closing quotation mark. Holds the index of the cell.
    TextBehindMark(usize),
    TooLong,
    TooManyCells,
    /// The file ended within quotation marks.
    Unclosed,
    End,
}

impl CsvReader {
    /// Reads the header. The inner error is a message about an invalid header.
    pub(crate) fn open<R: Read>(input: &mut Input<R>) -> io::Result<Result<Self, String>> {
        Ok(read_header(input)?.map(|header| Self {
            reader: ReaderBuilder::new().delimiter(header.separator).build(),
            separator: header.separator,
            columns: header.columns,
            cells: vec![0; MAX_ROW_BYTES],
            ends: vec![0; MAX_CELLS],
        }))
    }

    /// The next row; `None` at the end. Rows without any text are skipped, because spreadsheets write them below a table.
    pub(crate) fn next<R: Read>(&mut self, input: &mut Input<R>) -> io::Result<Option<ImportRow>> {
        let (line, row) = loop {
            input.skip_line_ends()?;
            let line = input.line();
            match self.read(input)? {
                RawRow::Cells(count) | RawRow::EndsWithFile(count) if self.cells(count).all(is_blank) => {}
                row => break (line, row),
            }
        };
        let record = match row {
            RawRow::End => return Ok(None),
            RawRow::EndsWithFile(count) if count < self.columns.len() => Err(format!(
                "The file ends in this row, which has {} of {}. If nothing is missing, end the row with a line end.",
                counted(count),
                self.columns.len()
            )),
            RawRow::Cells(count) | RawRow::EndsWithFile(count) => self.record(count),
            RawRow::TextBehindMark(cell) => Err(format!(
                "{} has text behind its closing quotation mark. Write a mark within a cell as two marks.",
                self.name(cell)
            )),
            RawRow::TooLong => {
                Err("The row is longer than 1 MiB. Is a closing quotation mark missing?".to_owned())
            }
            RawRow::Unclosed => Err("A quotation mark in this row is never closed, so the rest of the file \
                                     belongs to the row and was not imported."
                .to_owned()),
            RawRow::TooManyCells => {
                Err(format!("The row has more than {MAX_CELLS} cells, the header {}.", self.columns.len()))
            }
        };
        Ok(Some(ImportRow { line, record }))
    }

    /// The record of a row. Spreadsheets leave out the empty cells at the end of some rows.
    fn record(&self, count: usize) -> Result<Record, String> {
        let expected = self.columns.len();
        if count > expected {
            return Err(format!("The row has {}, the header {expected}.", counted(count)));
        }
        if count < expected
            && let Some(separator) = self.other_separator(count)
        {
            return Err(format!(
                "The row has {}, the header {expected}, and there is {separator:?} in the row. If it separates cells, let the header \
                 and all rows have one separator; else write a separator for each of the missing cells.",
                counted(count)
            ));
        }
        let mut record = Record::default();
        let cells = self.cells(count).chain(iter::repeat(&[][..]));
        let columns = self.columns.iter().zip(cells);
        for (field, cell) in columns.filter_map(|(column, cell)| Some((column.as_ref()?, cell))) {
            let cell = str::from_utf8(cell).map_err(|_| format!("`{}` is not valid UTF-8.", field.name()))?;
            if let Some(value) = value(*field, cell) {
                record.set(*field, value);
            }
        }
        Ok(record)
    }

    /// A character of a short row that could be meant to separate its cells. With the wrong separator, a cell would have the text
    /// of several.
    fn other_separator(&self, count: usize) -> Option<char> {
        let is_own_text = |byte: u8| byte == self.separator && count > 1;
        let mut bytes = self.cells(count).flatten().copied();
        bytes.find(|byte| POSSIBLE_SEPARATORS.contains(byte) && !is_own_text(*byte)).map(char::from)
    }

    /// The name of a cell for a message: that of its column, or its number if there is no such column.
    fn name(&self, cell: usize) -> String {
        match self.columns.get(cell) {
            Some(Some(field)) => format!("`{}`", field.name()),
            Some(None) | None => format!("Cell {}", cell.saturating_add(1)),
        }
    }

    /// The first `count` cells of the last row that was read.
    fn cells(&self, count: usize) -> impl Iterator<Item = &[u8]> {
        let mut start = 0;
        self.ends.iter().take(count).map(move |end| {
            let cell = self.cells.get(start..*end).unwrap_or_default();
            start = *end;
            cell
        })
    }

    /// Reads a row into the buffers. If they cannot hold it, the rest of the row is skipped.
    ///
    /// At the end of the file the parser gets one more line end. Outside quotation marks it ends the row;
    /// within them it does not, which shows that a mark is not closed. The end of the input alone would end the
    /// row either way.
    fn read<R: Read>(&mut self, input: &mut Input<R>) -> io::Result<RawRow> {
        let (mut written, mut ended) = (0, 0);
        let mut excess = None;
        let mut is_begun = false;
        let mut quotes = Quotes::new(self.separator);
        loop {
            let cells = self.cells.get_mut(written..).unwrap_or_default();
            let ends = self.ends.get_mut(ended..).unwrap_or_default();
            let bytes = input.peek()?;
            let is_last = bytes.is_empty() && is_begun;
            is_begun |= !bytes.is_empty();
            let bytes = if is_last { b"\n" } else { bytes };
            let (result, read, wrote, ends_now) = self.reader.read_record(bytes, cells, ends);
            quotes.read(bytes.get(..read).unwrap_or_default());
            if !is_last {
                input.consume(read);
            }
            written += wrote;
            ended += ends_now;
            match result {
                ReadRecordResult::InputEmpty if is_last => {
                    // The next call finds the end of the file.
                    self.reader.reset();
                    return Ok(RawRow::Unclosed);
                }
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::OutputFull => {
                    excess.get_or_insert(RawRow::TooLong);
                    written = 0;
                }
                ReadRecordResult::OutputEndsFull => {
                    excess.get_or_insert(RawRow::TooManyCells);
                    ended = 0;
                }
                ReadRecordResult::Record => {
                    let stray = quotes.with_text_behind().map(RawRow::TextBehindMark);
                    let row = if is_last { RawRow::EndsWithFile(ended) } else { RawRow::Cells(ended) };
                    return Ok(excess.or(stray).unwrap_or(row));
                }
                ReadRecordResult::End => return Ok(RawRow::End),
            }
        }
    }
}

/// A number of cells with its noun.
fn counted(cells: usize) -> String {
    if cells == 1 { "1 cell".to_owned() } else { format!("{cells} cells") }
}

/// Whether a cell has no text.
fn is_blank(cell: &[u8]) -> bool {
    str::from_utf8(cell).is_ok_and(|cell| cell.trim().is_empty())
}
