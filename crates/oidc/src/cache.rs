//! A document of the provider, kept for an hour.

use std::sync::Arc;
use std::time::{Duration, Instant};

use signpost_app::ports::{Clock, ProviderError};
use tokio::sync::Mutex;

use crate::exchange::unusable;

/// How long a document is used without a look at the provider.
const KEPT: Duration = Duration::from_hours(1);

/// How long a document is used while it cannot be fetched again.
const STALE: Duration = Duration::from_hours(24);

/// The minimum interval between two fetches of which the first has failed.
const AFTER_A_FAILURE: Duration = Duration::from_secs(3);

/// A document. Calls that come together wait for one fetch.
pub(crate) struct Cache<T>(Mutex<Slot<T>>);

struct Slot<T> {
    kept: Option<(Instant, Arc<T>)>,
    attempt: Option<(Instant, Option<ProviderError>)>,
}

impl<T> Default for Cache<T> {
    fn default() -> Self {
        Self(Mutex::new(Slot { kept: None, attempt: None }))
    }
}

impl<T> Slot<T> {
    fn younger_than(&self, age: Duration, now: Instant) -> Option<Arc<T>> {
        let (fetched_at, document) = self.kept.as_ref()?;
        (now.saturating_duration_since(*fetched_at) < age).then(|| Arc::clone(document))
    }

    /// Whether the last fetch began less than this long ago.
    fn has_tried_within(&self, interval: Duration, now: Instant) -> bool {
        self.attempt.as_ref().is_some_and(|(at, _)| now.saturating_duration_since(*at) < interval)
    }

    fn last_failure(&self) -> Option<&ProviderError> {
        self.attempt.as_ref().and_then(|(_, failure)| failure.as_ref())
    }

    async fn fetch(
        &mut self,
        clock: &dyn Clock,
        fetch: impl AsyncFnOnce() -> Result<T, ProviderError>,
    ) -> Result<Arc<T>, ProviderError> {
        // Noted before it begins: a caller who hangs up drops the fetch here, and the next one must not fetch at once.
        let begun = unusable("last answer", "nobody waited for it");
        self.attempt = Some((clock.instant(), Some(begun)));
        let fetched = fetch().await;
        // The time that the fetch took does not count.
        let now = clock.instant();
        self.attempt = Some((now, fetched.as_ref().err().cloned()));
        match fetched {
            Ok(document) => {
                let document = Arc::new(document);
                self.kept = Some((now, Arc::clone(&document)));
                Ok(document)
            }
            Err(error) => match self.younger_than(STALE, now) {
                Some(document) => {
                    tracing::warn!(%error, "a document of the identity provider cannot be fetched again; the last one is used");
                    Ok(document)
                }
                None => Err(error),
            },
        }
    }
}

impl<T> Cache<T> {
    /// The document.
    pub(crate) async fn get(
        &self,
        clock: &dyn Clock,
        fetch: impl AsyncFnOnce() -> Result<T, ProviderError>,
    ) -> Result<Arc<T>, ProviderError> {
        let mut slot = self.0.lock().await;
        let now = clock.instant();
        if let Some(document) = slot.younger_than(KEPT, now) {
            return Ok(document);
        }
        if slot.has_tried_within(AFTER_A_FAILURE, now)
            && let Some(failure) = slot.last_failure()
        {
            return slot.younger_than(STALE, now).ok_or_else(|| failure.clone());
        }
        slot.fetch(clock, fetch).await
    }

    /// The document, fetched again because it lacks something, unless a fetch began within `interval`.
    pub(crate) async fn get_again(
        &self,
        clock: &dyn Clock,
        interval: Duration,
        fetch: impl AsyncFnOnce() -> Result<T, ProviderError>,
    ) -> Result<Arc<T>, ProviderError> {
        let mut slot = self.0.lock().await;
        let now = clock.instant();
        if slot.has_tried_within(interval, now)
            && let Some(document) = slot.younger_than(STALE, now)
        {
            return Ok(document);
        }
        slot.fetch(clock, fetch).await
    }
}
