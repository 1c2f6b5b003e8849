//! Captures the log of a test, for behaviour that only the log shows.

use std::cell::RefCell;
use std::io;
use std::sync::Once;

use tracing_subscriber::filter::LevelFilter;

thread_local! {
    static LINES: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// The log lines of this thread since [`Log::begin`]. All tests share one subscriber: subscribers that several threads set
/// and drop concurrently make each other miss lines.
///
/// Use it in tests whose runtime has one thread.
#[derive(Debug)]
pub struct Log;

struct ThisThread;

impl io::Write for ThisThread {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        LINES.with_borrow_mut(|lines| lines.extend_from_slice(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Log {
    /// Starts to capture lines of level `info` and above.
    #[must_use]
    pub fn begin() -> Self {
        static SUBSCRIBER: Once = Once::new();
        SUBSCRIBER.call_once(|| {
            let lines = tracing_subscriber::fmt().with_ansi(false).with_max_level(LevelFilter::INFO);
            lines.with_writer(|| ThisThread).init();
        });
        LINES.take();
        Self
    }

    /// The captured lines that contain `words`.
    #[must_use]
    pub fn lines(&self, words: &str) -> Vec<String> {
        let text = LINES.with_borrow(|lines| String::from_utf8(lines.clone()).unwrap());
        text.lines().filter(|line| line.contains(words)).map(str::to_owned).collect()
    }

    /// The number of captured lines that contain `words`.
    #[must_use]
    pub fn count(&self, words: &str) -> usize {
        self.lines(words).len()
    }
}
