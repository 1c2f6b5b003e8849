//! Links that change at an instant by themselves (D128).

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use signpost_domain::Timestamp;

use super::visitor::Visit;

/// How many milliseconds ahead a test sets the instant. A busy machine may need longer until the visits begin; the test then
/// tries again with the next one.
pub const LEADS: [u64; 4] = [1_500, 6_000, 24_000, 96_000];

/// When visits stop to pause, in milliseconds before the instant.
const CLOSE: u64 = 100;

/// The pause between two visits before that.
const PAUSE: Duration = Duration::from_millis(10);

/// Milliseconds since 1970 by the clock of this machine, which the program has too.
pub fn now_millis() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis().try_into().unwrap()
}

/// The instant as the API reads it.
pub fn instant(millis: u64) -> String {
    Timestamp::from_unix_millis(millis.try_into().unwrap()).unwrap().to_string()
}

/// Opens a link until this instant has passed. Each visit that ended before it must be like `is_before`, and one that began
/// at it or later like `is_after`. Returns how many ended before it.
#[track_caller]
pub fn visits_before(
    at: u64,
    open: impl Fn() -> Visit,
    is_before: impl Fn(&Visit) -> bool,
    is_after: impl Fn(&Visit) -> bool,
) -> usize {
    let mut before = 0;
    loop {
        let began = now_millis();
        let visit = open();
        let ended = now_millis();
        if ended < at {
            assert!(is_before(&visit), "{} ms before the instant: {visit:?}", at - ended);
            before += 1;
            if at - ended > CLOSE {
                std::thread::sleep(PAUSE);
            }
        } else if began >= at {
            assert!(is_after(&visit), "{} ms after the instant: {visit:?}", began - at);
            return before;
        }
    }
}
