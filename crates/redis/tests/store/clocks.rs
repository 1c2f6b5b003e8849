//! Comparing the node's clock with that of Redis.

use std::cell::RefCell;
use std::io;
use std::sync::Arc;
use std::time::{Instant, UNIX_EPOCH};

use signpost_app::ports::{Clock, CountId, MergingQuotaStore as _};
use signpost_domain::Timestamp;
use signpost_redis::RedisQuotaStore;

use crate::opening::{options, server};

thread_local! {
    static LINES: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

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

/// The machine's clock, which Redis uses too, shifted.
struct Moved(i64);

impl Clock for Moved {
    #[expect(clippy::disallowed_methods, reason = "Redis reads this clock, so the test has to")]
    fn now(&self) -> Timestamp {
        let now = std::time::SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let millis = i64::try_from(now.as_millis()).unwrap();
        Timestamp::from_unix_millis(millis + self.0).unwrap()
    }
}

/// The node's clock names the windows, so an operator must know when it is wrong (ADR 15).
#[tokio::test]
async fn clock_difference_from_redis_is_logged_once_a_minute() {
    tracing_subscriber::fmt().with_ansi(false).with_writer(|| ThisThread).init();
    let server = server();
    for moved in [0, 65_500, -65_500] {
        LINES.take();
        let (url, clock) = (server.url(0).parse().unwrap(), Arc::new(Moved(moved)));
        let store = RedisQuotaStore::open(url, options(), clock).unwrap();
        let start = Instant::now();
        for _ in 0..3 {
            store.try_write(CountId::from_u128(1)).await.unwrap();
        }
        let waited = i64::try_from(start.elapsed().as_millis()).unwrap();
        let text = String::from_utf8(LINES.take()).unwrap();
        let lines = text.matches("the clocks of this node and of Redis differ").count();
        assert_eq!(lines, usize::from(moved != 0), "{text}");
        if moved != 0 {
            // The wait for the answer hides a part of the difference; each reading of a clock drops part of a millisecond.
            let hidden = moved.abs() - logged_seconds(&text) * moved.signum();
            assert!((-1..=waited + 2).contains(&hidden), "{hidden} of {moved} in {waited} ms: {text}");
        }
    }
}

/// The difference in the log.
fn logged_seconds(log: &str) -> i64 {
    let (_, rest) = log.split_once("milliseconds_ahead_of_redis=").unwrap();
    let number: String = rest.chars().take_while(|digit| matches!(digit, '-' | '0'..='9')).collect();
    number.parse().unwrap()
}
