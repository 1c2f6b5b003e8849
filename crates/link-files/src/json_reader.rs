//! Reading JSON lines, one by one.

use std::io::{self, Read};

use signpost_app::transfer::{ImportRow, Record};
use signpost_strict_json::Json;

use crate::MAX_ROW_BYTES;
use crate::input::Input;
use crate::json_values::record;

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
    match signpost_strict_json::parse(line) {
        Ok(Json::Object(members)) => Ok(record(members)),
        Ok(Json::Null | Json::Bool(_) | Json::Number | Json::Text(_) | Json::List(_)) => {
            Err("The line is not a JSON object.".to_owned())
        }
        Err(error) => {
            let (what, column) = (error.what(), error.column());
            Err(format!("The line is not JSON that can be read: {what}, at column {column}."))
        }
    }
}
