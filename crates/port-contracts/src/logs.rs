//! What a test logs: for whatever tells nobody but the operator.

use std::cell::RefCell;
use std::io;
use std::sync::Once;

use tracing_subscriber::filter::LevelFilter;

thread_local! {
    static LINES: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// What this thread logs from the beginning on, which is what the test on it causes. There is one subscriber for all tests,
/// because subscribers that come and go on several threads at once make each other miss lines.
///
/// It is for tests whose runtime has one thread.
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
    /// Begins to keep what is logged from the level `info` on.
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

    /// The lines with these words.
    #[must_use]
    pub fn lines(&self, words: &str) -> Vec<String> {
        let text = LINES.with_borrow(|lines| String::from_utf8(lines.clone()).unwrap());
        text.lines().filter(|line| line.contains(words)).map(str::to_owned).collect()
    }

    /// How many lines have these words.
    #[must_use]
    pub fn count(&self, words: &str) -> usize {
        self.lines(words).len()
    }
}
