//! Reading JSON lines, one by one.

use std::io::{self, Read};

use signpost_app::transfer::{ImportRow, Record};

use crate::MAX_ROW_BYTES;
use crate::input::Input;
use crate::json_values::{JsonValue, record};

/// The object of the next line; `None` at the end. Blank lines are skipped.
pub(crate) fn next_object<R: Read>(input: &mut Input<R>) -> io::Result<Option<ImportRow>> {
    loop {
        input.skip_line_ends()?;
        let line = input.line();
        if input.peek()?.is_empty() {
            return Ok(None);
        }
        let record = match input.read_line(MAX_ROW_BYTES)? {
            Some(text) if text.iter().all(u8::is_ascii_whitespace) => continue,
            Some(text) => parse(&text),
            None => Err("The row is longer than 1 MiB.".to_owned()),
        };
        return Ok(Some(ImportRow { line, record }));
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
