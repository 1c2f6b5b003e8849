//! The time.

use signpost_domain::Timestamp;

/// Tells the time of day. Durations are measured with a monotonic clock elsewhere, never by subtracting two
/// of these: it may step.
pub trait Clock: Send + Sync {
    /// Now.
    fn now(&self) -> Timestamp;
}
