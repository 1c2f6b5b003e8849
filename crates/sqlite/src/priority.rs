//! Which threads go first.

#[cfg(target_os = "linux")]
use thread_priority::{
    NormalThreadSchedulePolicy, ThreadPriority, ThreadSchedulePolicy, set_thread_priority_and_policy,
    thread_native_id,
};

/// When a thread gets a core that others want too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Priority {
    /// In turn.
    Normal,
    /// When no other wants it any more (ADR 53).
    Low,
}

#[cfg(target_os = "linux")]
pub(crate) const IDLE: ThreadSchedulePolicy = ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Idle);

impl Priority {
    /// Gives it to this thread, which keeps it: a thread cannot raise its priority.
    pub(crate) fn take(self) {
        #[cfg(target_os = "linux")]
        if self == Self::Low
            && let Err(error) = set_thread_priority_and_policy(thread_native_id(), ThreadPriority::Min, IDLE)
        {
            tracing::warn!(?error, "counting clicks has the priority of everything else");
        }
    }
}
