//! The ports to the machine that the program runs on: time, random bytes and new ids; and its name.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use signpost_app::ports::{Clock, IdSource, Randomness, RandomnessUnavailable};
use signpost_domain::Timestamp;
use ulid::Generator;

/// The system's clock.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        #[expect(
            clippy::disallowed_methods,
            reason = "this is the port that everything else takes the time from"
        )]
        let now = SystemTime::now();
        to_timestamp(now)
    }
}

/// Clamps a time before 1970 to 1970, and a time after the year 9999 to its end. A wrong clock must not stop the
/// program.
pub(crate) fn to_timestamp(time: SystemTime) -> Timestamp {
    let since_1970 = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since_1970.as_millis())
        .ok()
        .and_then(Timestamp::from_unix_millis)
        .unwrap_or(Timestamp::LAST)
}

/// The operating system's cryptographically secure source of random bytes.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct OsRandomness;

impl Randomness for OsRandomness {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomnessUnavailable> {
        #[expect(
            clippy::disallowed_methods,
            reason = "this is the port that everything else takes random bytes from"
        )]
        let filled = getrandom::fill(bytes);
        filled.map_err(|error| RandomnessUnavailable(error.to_string()))
    }
}

/// Generates ULIDs (D1): 48 bits of time and 80 random bits. Within one millisecond each id is one more than the last.
pub(crate) struct UlidSource {
    clock: Arc<dyn Clock>,
    generator: Mutex<Generator>,
}

impl UlidSource {
    /// A source that takes the time from `clock`.
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, generator: Mutex::new(Generator::new()) }
    }
}

impl IdSource for UlidSource {
    fn next_bits(&self) -> [u8; 16] {
        let millis = u64::try_from(self.clock.now().unix_millis()).unwrap_or_default();
        let now = UNIX_EPOCH + Duration::from_millis(millis);
        let mut generator = self.generator.lock().unwrap_or_else(PoisonError::into_inner);
        let id = match generator.generate_from_datetime(now) {
            Ok(id) => id,
            // The random bits of this millisecond are used up, so ids go on rising in the next millisecond.
            Err(overflow) => overflow.commit_overflow_random(),
        };
        id.to_bytes()
    }
}

/// The name of the machine or the container, as `uname -n` prints it. Files with it, in `/proc/sys` or `/etc`, may be hidden from a service.
pub(crate) fn machine_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use ulid::StepRng;

    use super::*;

    #[test]
    fn r22_a_wrong_clock_does_not_panic() {
        assert_eq!(to_timestamp(UNIX_EPOCH - Duration::from_secs(1)), Timestamp::EPOCH);
        let millis = to_timestamp(UNIX_EPOCH + Duration::from_micros(1_769_850_307_042_999)).unix_millis();
        assert_eq!(millis, 1_769_850_307_042);
        assert_eq!(to_timestamp(UNIX_EPOCH + Duration::from_mins(5_000_000_000)), Timestamp::LAST);
    }

    struct FiveMillisAfter1970;

    impl Clock for FiveMillisAfter1970 {
        fn now(&self) -> Timestamp {
            Timestamp::EPOCH.plus(Duration::from_millis(5))
        }
    }

    #[test]
    fn ids_keep_rising_when_a_millisecond_is_used_up() {
        let source = UlidSource::new(Arc::new(FiveMillisAfter1970));
        let last_of_its_millisecond = source
            .generator
            .lock()
            .unwrap()
            .generate_from_datetime_with_source(
                UNIX_EPOCH + Duration::from_millis(5),
                &mut StepRng::new(u64::MAX, 0),
            )
            .unwrap()
            .to_bytes();
        let (next, one_more) = (source.next_bits(), source.next_bits());
        assert!(last_of_its_millisecond < next && next < one_more);
        assert_eq!(next[..6], [0, 0, 0, 0, 0, 6]);
    }
}

#[cfg(test)]
mod contract {
    use std::sync::Arc;

    use signpost_app::ports::{Clock, IdSource, Randomness};

    use super::{OsRandomness, UlidSource};

    fn ids_of_another_node(clock: Arc<dyn Clock>) -> Arc<dyn IdSource> {
        Arc::new(UlidSource::new(clock))
    }

    fn os_randomness() -> Arc<dyn Randomness> {
        Arc::new(OsRandomness)
    }

    signpost_port_contracts::id_source_contract!(ids_of_another_node);
    signpost_port_contracts::randomness_contract!(os_randomness);
}
