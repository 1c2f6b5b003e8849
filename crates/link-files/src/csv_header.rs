//! The header of a table: its columns, and the character that separates them.

use std::io::{self, Read};

use signpost_app::transfer::Field;

use crate::MAX_ROW_BYTES;
use crate::input::Input;

/// How many cells of a row are looked at. A row with more has too many in any table of ours.
pub(crate) const MAX_CELLS: usize = 64;

/// What may separate cells. Spreadsheets write semicolons where the comma is part of numbers, and tabs as "text".
const SEPARATORS: [u8; 3] = [b',', b';', b'\t'];

/// How many names of columns a message repeats, and how much of each.
const NAMED_COLUMNS: usize = 5;
const NAME_CHARS: usize = 40;

/// A header that has been read.
pub(crate) struct Header {
    /// The fields of the columns.
    pub(crate) columns: Vec<Field>,
    /// What separates the cells, in the rows below too.
    pub(crate) separator: u8,
}

/// Reads the first line. The inner error says what is wrong with it.
pub(crate) fn read_header<R: Read>(input: &mut Input<R>) -> io::Result<Result<Header, String>> {
    input.skip_line_ends()?;
    let line = match input.read_line(MAX_ROW_BYTES)? {
        Some(line) if line.is_empty() => {
            return Ok(Err("the file is empty; it must begin with a header".to_owned()));
        }
        Some(line) => line,
        None => return Ok(Err(too_long())),
    };
    let readings = SEPARATORS.map(|separator| (separator, names(&line, separator)));
    // Prefers the separator that yields the most known columns, then the most cells, so that a message names unknown
    // columns one by one, and then the first.
    let likeliest = readings.into_iter().rev().max_by_key(|(_, names)| {
        let known = names.iter().filter(|name| Field::named(name).is_some()).count();
        (known, names.len())
    });
    let Some((separator, names)) = likeliest else { return Ok(Err(too_long())) };
    if names.len() > MAX_CELLS {
        return Ok(Err(too_long()));
    }
    Ok(columns(&names).map(|columns| Header { columns, separator }))
}

fn too_long() -> String {
    "the first line is no header: it is too long".to_owned()
}

/// The cells of a line, one more than a row can have at most.
fn names(line: &[u8], separator: u8) -> Vec<String> {
    let mut reader = csv::ReaderBuilder::new().delimiter(separator).has_headers(false).from_reader(line);
    let mut record = csv::ByteRecord::new();
    // Reading from memory cannot fail, and a row may have any number of cells.
    let _ = reader.read_byte_record(&mut record);
    let names = record.iter().take(MAX_CELLS + 1);
    names.map(|name| String::from_utf8_lossy(name).trim().to_owned()).collect()
}

/// The fields that the names of columns name.
fn columns(names: &[String]) -> Result<Vec<Field>, String> {
    let unknown: Vec<_> = names
        .iter()
        .filter(|name| Field::named(name).is_none())
        .take(NAMED_COLUMNS)
        .map(|name| format!("{:?}", name.chars().take(NAME_CHARS).collect::<String>()))
        .collect();
    if !unknown.is_empty() {
        let known = Field::ALL.map(Field::name).join(", ");
        return Err(format!(
            "the first line must name the columns, and there is no column {}; the columns are {known}",
            unknown.join(", ")
        ));
    }
    let mut columns = Vec::with_capacity(names.len());
    for field in names.iter().filter_map(|name| Field::named(name)) {
        if columns.contains(&field) {
            return Err(format!("the header has the column `{}` twice", field.name()));
        }
        columns.push(field);
    }
    Ok(columns)
}
