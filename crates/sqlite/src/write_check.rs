//! Whether the file can be written, for health checks, which anybody may send.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use signpost_app::ports::StoreError;
use tokio::sync::Mutex;

/// How long the result of a write or of a failed attempt stays valid. So health checks write at most once a second, and not
/// at all while others write.
pub(crate) const FRESH: Duration = Duration::from_secs(1);

/// The last known result of writing.
pub(crate) struct WriteCheck {
    /// How long a result stays valid.
    fresh: Duration,
    origin: Instant,
    /// The time of the last write, in milliseconds after `origin` plus one; 0 means never.
    written: AtomicU64,
    /// The last failed attempt. Locked during an attempt, so that there is one at a time.
    failed: Mutex<Option<Failed>>,
}

struct Failed {
    at: Instant,
    is_unwritable: bool,
    cause: String,
}

impl Failed {
    fn of(error: &StoreError) -> Self {
        let cause = std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string);
        Self { at: Instant::now(), is_unwritable: matches!(error, StoreError::Unwritable(_)), cause }
    }

    fn error(&self) -> StoreError {
        let cause = self.cause.clone();
        if self.is_unwritable { StoreError::unwritable(cause) } else { StoreError::unavailable(cause) }
    }
}

impl WriteCheck {
    /// A check whose results stay valid for `fresh`, usually [`FRESH`].
    pub(crate) fn new(fresh: Duration) -> Self {
        Self { fresh, origin: Instant::now(), written: AtomicU64::new(0), failed: Mutex::default() }
    }

    /// Records a committed write.
    pub(crate) fn note_write(&self) {
        self.written.store(self.millis().saturating_add(1), Ordering::Relaxed);
    }

    /// Whether the file can be written. Runs `try_write` if no recent result exists.
    pub(crate) async fn run<T>(
        &self,
        try_write: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<(), StoreError> {
        if self.was_written() {
            return Ok(());
        }
        let mut failed = self.failed.lock().await;
        if self.was_written() {
            return Ok(());
        }
        if let Some(failed) = failed.as_ref().filter(|failed| failed.at.elapsed() < self.fresh) {
            return Err(failed.error());
        }
        match try_write.await {
            Ok(_) => {
                self.note_write();
                Ok(())
            }
            Err(error) => {
                *failed = Some(Failed::of(&error));
                Err(error)
            }
        }
    }

    fn was_written(&self) -> bool {
        let written = self.written.load(Ordering::Relaxed);
        let fresh = u64::try_from(self.fresh.as_millis()).unwrap_or(u64::MAX);
        written > 0 && self.millis().saturating_sub(written) < fresh
    }

    fn millis(&self) -> u64 {
        u64::try_from(self.origin.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Longer than any pause between two lines of a test.
    const HOUR: Duration = Duration::from_hours(1);

    /// An attempt that must not start.
    fn unasked(why: &str) -> impl Future<Output = Result<(), StoreError>> {
        std::future::poll_fn(move |_| panic!("{why}"))
    }

    #[tokio::test]
    async fn r37_failed_attempt_is_not_repeated_at_once_and_a_write_clears_it() {
        let check = WriteCheck::new(HOUR);
        let full = async { Err::<(), _>(StoreError::unwritable("the disk is full")) };
        assert!(matches!(check.run(full).await, Err(StoreError::Unwritable(_))));
        let again = check.run(unasked("no attempt may follow so soon")).await;
        let Err(StoreError::Unwritable(cause)) = again else { panic!("{again:?}") };
        assert_eq!(cause.to_string(), "the disk is full");
        check.note_write();
        check.run(unasked("no attempt may follow a recent write")).await.unwrap();
    }

    #[tokio::test]
    async fn successful_attempt_counts_as_a_write() {
        let check = WriteCheck::new(HOUR);
        check.run(async { Ok(()) }).await.unwrap();
        check.run(unasked("the last attempt was a moment ago")).await.unwrap();
    }
}
