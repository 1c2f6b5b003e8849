//! Reads a file on its own thread, ahead of the import of its rows.

use std::io::{self, Read};
use std::thread;

use signpost_app::transfer::{ImportRow, ROWS_AT_ONCE};
use signpost_link_files::RecordReader;
use tokio::sync::mpsc::{self, Receiver};

/// After how many bytes of the file a part ends early. A row may have a megabyte, and must not make a part grow
/// with it.
const PART_BYTES: u64 = 4 << 20;

/// How many parts wait, at most. One is enough to keep the importer busy.
const WAITING: usize = 1;

/// Consecutive rows of a file.
pub(crate) struct Part {
    /// Never empty in a part that is sent.
    pub(crate) rows: Vec<ImportRow>,
    /// How many bytes of the file are read up to the end of the part.
    pub(crate) bytes_read: u64,
}

/// The rows of a file, read ahead. When it is dropped, the thread ends as soon as its current read returns.
pub(crate) struct ReadAhead(Receiver<io::Result<Part>>);

impl ReadAhead {
    /// Starts the thread.
    ///
    /// # Errors
    /// The system cannot start a thread.
    pub(crate) fn start<R: Read + Send + 'static>(mut reader: RecordReader<R>) -> io::Result<Self> {
        let (sender, receiver) = mpsc::channel(WAITING);
        thread::Builder::new().name("read-rows".to_owned()).spawn(move || {
            loop {
                let (part, failure) = next_part(&mut reader);
                let is_last = part.rows.is_empty() || failure.is_some();
                if !part.rows.is_empty() && sender.blocking_send(Ok(part)).is_err() {
                    return;
                }
                if let Some(failure) = failure {
                    // If the importer is gone, it has another error to report.
                    let _ = sender.blocking_send(Err(failure));
                }
                if is_last {
                    return;
                }
            }
        })?;
        Ok(Self(receiver))
    }

    /// The next part; `None` at the end, and after an error.
    pub(crate) async fn next(&mut self) -> Option<io::Result<Part>> {
        self.0.recv().await
    }
}

/// The next rows, and the error that ended them. Reading stops at an error, because the rest of a row may be
/// missing.
fn next_part<R: Read>(reader: &mut RecordReader<R>) -> (Part, Option<io::Error>) {
    let start = reader.bytes_read();
    let (mut rows, mut failure) = (vec![], None);
    while rows.len() < ROWS_AT_ONCE && reader.bytes_read().saturating_sub(start) < PART_BYTES {
        match reader.next_row() {
            Ok(Some(row)) => rows.push(row),
            Ok(None) => break,
            Err(error) => {
                failure = Some(error);
                break;
            }
        }
    }
    (Part { rows, bytes_read: reader.bytes_read() }, failure)
}
