//! Cells of CSV files.

/// Appends a cell, quoted after RFC 4180. Visitors control some values. Spreadsheets run a cell that begins with one of
/// `= + - @`, a tab or a line end as a formula, so such a cell gets an apostrophe in front.
///
/// ```
/// # use signpost_domain::analytics::push_csv_cell;
/// let mut line = Vec::new();
/// push_csv_cell("=1+1", &mut line);
/// assert_eq!(line, b"'=1+1");
/// ```
pub fn push_csv_cell(value: &str, line: &mut Vec<u8>) {
    let is_formula = value.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let is_quoted = value.contains(['"', ',', '\r', '\n']);
    if is_quoted {
        line.push(b'"');
    }
    if is_formula {
        line.push(b'\'');
    }
    for byte in value.bytes() {
        if byte == b'"' {
            line.push(b'"');
        }
        line.push(byte);
    }
    if is_quoted {
        line.push(b'"');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d66_cells_are_quoted_and_run_no_formulas() {
        for (value, expected) in [
            ("spring", "spring"),
            ("a,b", "\"a,b\""),
            ("say \"hi\"", "\"say \"\"hi\"\"\""),
            ("two\nlines", "\"two\nlines\""),
            ("=1+1", "'=1+1"),
            ("+1", "'+1"),
            ("-1", "'-1"),
            ("\t=1", "'\t=1"),
            ("@SUM(A1,A2)", "\"'@SUM(A1,A2)\""),
            ("a=b", "a=b"),
        ] {
            let mut line = Vec::new();
            push_csv_cell(value, &mut line);
            assert_eq!(String::from_utf8(line).unwrap(), expected);
        }
    }
}
