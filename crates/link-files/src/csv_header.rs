//! The header of a table: its columns, and the character that separates them.

use std::io::{self, Read};

use signpost_app::transfer::Field;

use crate::MAX_ROW_BYTES;
use crate::input::Input;
use crate::quotes::Quotes;

/// How many cells of a row are read. No valid table has more columns.
pub(crate) const MAX_CELLS: usize = 64;

/// The characters that may separate cells. Spreadsheets write semicolons in countries with a decimal comma, and
/// tabs as "text".
const SEPARATORS: [u8; 3] = [b',', b';', b'\t'];

/// The characters that may separate cells if a line announces them.
pub(crate) const POSSIBLE_SEPARATORS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// How many unknown columns a message names, and how many characters of each.
const NAMED_COLUMNS: usize = 5;
const NAME_CHARS: usize = 40;

/// A parsed header.
pub(crate) struct Header {
    /// The fields of the columns. Columns without a name are ignored: spreadsheets write them for cells that were used once.
    pub(crate) columns: Vec<Option<Field>>,
    /// The separator of cells, in the rows too.
    pub(crate) separator: u8,
}

/// Reads the header. The inner error is a message about an invalid header.
pub(crate) fn read_header<R: Read>(input: &mut Input<R>) -> io::Result<Result<Header, String>> {
    let mut announced = None;
    let line = loop {
        input.skip_line_ends()?;
        match input.read_line(MAX_ROW_BYTES)? {
            Some(line) if line.is_empty() => {
                return Ok(Err("the file is empty; it must begin with a header".to_owned()));
            }
            Some(line) if announced.is_none() && announced_separator(&line).is_some() => {
                announced = announced_separator(&line);
            }
            Some(line) if is_blank(&line) || was_announcement(&line) => {}
            Some(line) => break line,
            None => return Ok(Err(too_long())),
        }
    };
    let separators = announced.as_ref().map_or(&SEPARATORS[..], std::slice::from_ref);
    let readings = separators.iter().map(|separator| (*separator, names(&line, *separator)));
    // Prefers the separator with the most known columns, then the most cells, so that a message names unknown
    // columns one by one, and then the first separator.
    let likeliest = readings.rev().max_by_key(|(_, names)| {
        let known = names.iter().filter(|name| field_named(name).is_some()).count();
        (known, names.len())
    });
    let Some((separator, names)) = likeliest else { return Ok(Err(too_long())) };
    if names.len() > MAX_CELLS {
        return Ok(Err(too_long()));
    }
    let mut quotes = Quotes::new(separator);
    quotes.read(&line);
    if quotes.is_within() {
        return Ok(Err("a quotation mark in the first line is never closed; the name of a column cannot have a line break"
            .to_owned()));
    }
    if let Some(name) = quotes.with_text_behind().and_then(|cell| names.get(cell)) {
        return Ok(Err(format!(
            "the name of the column {:?} has text behind its closing quotation mark",
            name.chars().take(NAME_CHARS).collect::<String>()
        )));
    }
    Ok(columns(&names).map(|columns| Header { columns, separator }))
}

fn too_long() -> String {
    "the first line is too long for a header".to_owned()
}

/// The separator that a line such as `sep=;` announces. Spreadsheets read and write this line above the header.
fn announced_separator(line: &[u8]) -> Option<u8> {
    let line = line.trim_ascii();
    let line = line.strip_prefix(b"\"").and_then(|line| line.strip_suffix(b"\"")).unwrap_or(line);
    let (name, rest) = line.split_at_checked(4)?;
    // The tab of `sep=` and a tab is trimmed as white space.
    let separator = if rest.is_empty() { b'\t' } else { *rest.first().filter(|_| rest.len() == 1)? };
    (name.eq_ignore_ascii_case(b"sep=") && POSSIBLE_SEPARATORS.contains(&separator)).then_some(separator)
}

/// Whether a line is the announcement of a table that a spreadsheet took as cells and wrote again: it filled the line up to
/// the width of the table, with the separator that it now uses.
fn was_announcement(line: &[u8]) -> bool {
    SEPARATORS.iter().any(|separator| {
        let cells = names(line, *separator);
        cells.split_first().is_some_and(|(first, others)| {
            // The announced separator itself may have ended the first cell.
            announced_separator(first.as_bytes()).is_some()
                && !others.is_empty()
                && others.iter().all(String::is_empty)
        })
    })
}

/// Whether a line has no text in any cell, whatever separates them.
fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|byte| SEPARATORS.contains(byte) || matches!(byte, b'"' | b' '))
}

/// The field that a column's name means. People write names in any case, and with spaces instead of underscores.
fn field_named(name: &str) -> Option<Field> {
    let separates = |character: char| character.is_whitespace() || matches!(character, '_' | '-');
    let words: Vec<_> = name.split(separates).filter(|word| !word.is_empty()).collect();
    Field::named(&words.join("_").to_ascii_lowercase())
}

/// The cells of a line, up to one more than a row may have.
fn names(line: &[u8], separator: u8) -> Vec<String> {
    let mut reader = csv::ReaderBuilder::new().delimiter(separator).has_headers(false).from_reader(line);
    let mut record = csv::ByteRecord::new();
    // Reading from memory cannot fail, and any number of cells is accepted.
    let _ = reader.read_byte_record(&mut record);
    let names = record.iter().take(MAX_CELLS + 1);
    names.map(|name| String::from_utf8_lossy(name).trim().to_owned()).collect()
}

/// The fields of the columns.
fn columns(names: &[String]) -> Result<Vec<Option<Field>>, String> {
    let unknown: Vec<_> = names
        .iter()
        .filter(|name| !name.is_empty() && field_named(name).is_none())
        .take(NAMED_COLUMNS)
        .map(|name| format!("{:?}", name.chars().take(NAME_CHARS).collect::<String>()))
        .collect();
    if !unknown.is_empty() {
        let known = Field::ALL.map(Field::name).join(", ");
        return Err(format!(
            "the first line must name the columns, but there is no column {}; the columns are {known}",
            unknown.join(", ")
        ));
    }
    let mut columns = Vec::with_capacity(names.len());
    for column in names.iter().map(|name| field_named(name)) {
        if let Some(field) = column
            && columns.contains(&column)
        {
            return Err(format!("the header has the column `{}` twice", field.name()));
        }
        columns.push(column);
    }
    Ok(columns)
}
