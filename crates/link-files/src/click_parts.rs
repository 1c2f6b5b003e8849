//! A file of clicks that is written while its clicks are read.

use std::io;

use futures_util::{Stream, stream};
use signpost_domain::analytics::ExportedClick;

use crate::click_lines::LineFormat;

/// The parts of a file of clicks: `first`, and then each page that `next` reads from `state` when the reader of the file has taken
/// the one before. An empty page ends the file. An error of `next` breaks it off, which shows that clicks are missing.
pub fn click_parts<S>(
    format: LineFormat,
    first: Vec<ExportedClick>,
    state: S,
    next: impl AsyncFnMut(&mut S) -> io::Result<Vec<ExportedClick>>,
) -> impl Stream<Item = io::Result<Vec<u8>>> {
    stream::try_unfold((Some(first), state, next), move |(first, mut state, mut next)| async move {
        let (clicks, mut part) = match first {
            Some(clicks) => (clicks, format.header()),
            None => (next(&mut state).await?, Vec::new()),
        };
        format.write(&clicks, &mut part)?;
        // An empty part would end the answer.
        Ok((!part.is_empty()).then_some((part, (None, state, next))))
    })
}

#[cfg(test)]
mod tests {
    use futures_util::{FutureExt as _, StreamExt as _};

    use super::*;

    type Part = io::Result<Vec<u8>>;

    fn parts(
        format: LineFormat,
        next: impl AsyncFnMut(&mut ()) -> io::Result<Vec<ExportedClick>>,
    ) -> Vec<Part> {
        click_parts(format, Vec::new(), (), next).collect().now_or_never().unwrap()
    }

    #[test]
    fn d66_a_file_without_clicks_has_its_header_alone() {
        let table = parts(LineFormat::Csv, async |()| Ok(Vec::new()));
        assert_eq!(table.len(), 1);
        assert_eq!(table[0].as_ref().unwrap(), &LineFormat::Csv.header());
        assert!(parts(LineFormat::Ndjson, async |()| Ok(Vec::new())).is_empty());
    }

    #[test]
    fn d66_an_error_breaks_the_file_off() {
        let parts = parts(LineFormat::Csv, async |()| Err(io::Error::other("the store is away")));
        let outcomes: Vec<bool> = parts.iter().map(Result::is_ok).collect();
        assert_eq!(outcomes, [true, false]);
    }
}
