//! Reading JSON lines, one by one.

use std::io::{self, Read};

use signpost_app::transfer::{ImportRow, Record};

use crate::MAX_ROW_BYTES;
use crate::input::Input;
use crate::json_values::{JsonValue, record};

/// The objects of a file, one a line. Blank lines are skipped.
#[derive(Default)]
pub(crate) struct JsonReader {
    line: Vec<u8>,
}

impl JsonReader {
    /// The next row; `None` at the end.
    pub(crate) fn next<R: Read>(&mut self, input: &mut Input<R>) -> io::Result<Option<ImportRow>> {
        loop {
            input.skip_line_ends()?;
            let line = input.line();
            if input.peek()?.is_empty() {
                return Ok(None);
            }
            let record = if self.read_line(input)? {
                if self.line.iter().all(u8::is_ascii_whitespace) {
                    continue;
                }
                parse(&self.line)
            } else {
                Err("The row is longer than 1 MiB.".to_owned())
            };
            return Ok(Some(ImportRow { line, record }));
        }
    }

    /// Reads to the end of the line. `false` if it is too long; it is skipped then.
    fn read_line<R: Read>(&mut self, input: &mut Input<R>) -> io::Result<bool> {
        self.line.clear();
        let mut fits = true;
        loop {
            let bytes = input.peek()?;
            let end = bytes.iter().position(|byte| matches!(byte, b'\r' | b'\n'));
            let part = end.and_then(|end| bytes.get(..end)).unwrap_or(bytes);
            fits = fits && self.line.len() + part.len() <= MAX_ROW_BYTES;
            if fits {
                self.line.extend_from_slice(part);
            }
            let (taken, is_last) = (part.len(), end.is_some() || bytes.is_empty());
            input.consume(taken);
            if is_last {
                return Ok(fits);
            }
        }
    }
}

fn parse(line: &[u8]) -> Result<Record, String> {
    match serde_json::from_slice(line) {
        Ok(JsonValue::Object(members)) => Ok(record(members)),
        Ok(
            JsonValue::Null
            | JsonValue::Flag(_)
            | JsonValue::Number
            | JsonValue::Text(_)
            | JsonValue::List(_),
        ) => Err("The line is not a JSON object.".to_owned()),
        Err(error) => {
            // The parser counts lines within this one.
            let text = error.to_string();
            let what = text.rsplit_once(" at line ").map_or(text.as_str(), |(what, _)| what);
            Err(format!("The line is not JSON that can be read: {what}, at column {}.", error.column()))
        }
    }
}
