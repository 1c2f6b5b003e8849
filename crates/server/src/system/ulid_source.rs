//! New identifiers.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, UNIX_EPOCH};

use signpost_app::ports::{Clock, IdSource};
use ulid::Generator;

/// Gives out ULIDs (D1): 48 bits of time, 80 random bits, and within one millisecond each one more than the last.
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
            // The random bits of this millisecond are used up: go on in the next one, still rising.
            Err(overflow) => overflow.commit_overflow_random(),
        };
        id.to_bytes()
    }
}

#[cfg(test)]
mod tests {
    use signpost_domain::Timestamp;
    use ulid::StepRng;

    use super::*;

    struct FiveMillisAfter1970;

    impl Clock for FiveMillisAfter1970 {
        fn now(&self) -> Timestamp {
            Timestamp::EPOCH.plus(Duration::from_millis(5))
        }
    }

    #[test]
    fn ids_go_on_rising_when_the_random_bits_of_a_millisecond_are_used_up() {
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
