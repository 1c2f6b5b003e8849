//! Comparing the node's clock with that of Redis.

use std::cell::RefCell;
use std::io;
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use signpost_app::ports::{Clock, CountId, MergingQuotaStore as _};
use signpost_domain::Timestamp;
use signpost_redis::{RedisOptions, RedisQuotaStore};

use crate::opening::server;

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
    for (moved, lines, says) in [
        (0, 0, ""),
        (65_500, 1, "milliseconds_ahead_of_redis=65"),
        (-65_500, 1, "milliseconds_ahead_of_redis=-65"),
    ] {
        LINES.take();
        let (url, clock) = (server.url(0).parse().unwrap(), Arc::new(Moved(moved)));
        let store = RedisQuotaStore::open(url, RedisOptions::default(), clock).unwrap();
        for _ in 0..3 {
            store.try_write(CountId::from_u128(1)).await.unwrap();
        }
        let text = String::from_utf8(LINES.take()).unwrap();
        assert_eq!(text.matches("the clocks of this node and of Redis differ").count(), lines, "{text}");
        assert!(text.contains(says), "{text}");
    }
}
