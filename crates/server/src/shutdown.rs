//! Being asked to stop, and stopping (D64).

use std::future::Future;
use std::io;
use std::time::Duration;

/// For how long to wait until the listeners say that they have stopped. They give running requests 30 seconds (D64)
/// and look once a second whether any is left.
pub(crate) const STOPPED_WITHIN: Duration = Duration::from_secs(32);

/// The signals that ask the program to stop: SIGTERM and SIGINT, or Ctrl-C where there are no signals.
pub(crate) struct StopSignals {
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
}

impl StopSignals {
    /// From now on these signals no longer end the program by themselves.
    #[cfg(unix)]
    pub(crate) fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    /// From now on Ctrl-C no longer ends the program by itself.
    #[cfg(not(unix))]
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self {})
    }

    /// The name of the next signal.
    #[cfg(unix)]
    pub(crate) async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
        }
    }

    /// The name of the next signal.
    #[cfg(not(unix))]
    pub(crate) async fn next(&mut self) -> &'static str {
        match tokio::signal::ctrl_c().await {
            Ok(()) => "Ctrl-C",
            // Without a way to be asked, run until the process is ended from outside.
            Err(_) => std::future::pending().await,
        }
    }
}

/// Stops: waits for `drain_delay` while the listeners still accept, then for `stop_accepting_and_finish`, but no
/// longer than `at_most`. The next signal cuts both short. `false` if something was cut short.
pub(crate) async fn stop(
    next_signal: impl Future<Output = &'static str>,
    drain_delay: Duration,
    stop_accepting_and_finish: impl Future<Output = ()>,
    at_most: Duration,
) -> bool {
    let in_order = async {
        if !drain_delay.is_zero() {
            tracing::info!(?drain_delay, "still accepting, but not ready any more");
            tokio::time::sleep(drain_delay).await;
        }
        tracing::info!("finishing what runs");
        tokio::time::timeout(at_most, stop_accepting_and_finish).await.is_ok()
    };
    tokio::select! {
        finished = in_order => finished,
        signal = next_signal => {
            tracing::warn!(signal, "stopping now");
            false
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};
    use std::time::Instant;

    use super::*;

    const LONG: Duration = Duration::from_hours(1);

    #[tokio::test]
    async fn d64_accepting_goes_on_for_the_drain_delay() {
        let (start, delay) = (Instant::now(), Duration::from_millis(20));
        let stop_accepting = async { assert!(start.elapsed() >= delay) };
        assert!(stop(pending(), delay, stop_accepting, LONG).await);
    }

    #[tokio::test]
    async fn d64_a_second_signal_cuts_everything_short() {
        assert!(!stop(ready("SIGTERM"), LONG, pending(), LONG).await);
        assert!(!stop(ready("SIGTERM"), Duration::ZERO, pending(), LONG).await);
    }

    #[tokio::test]
    async fn d64_what_does_not_finish_is_not_waited_for_beyond_its_time() {
        assert!(!stop(pending(), Duration::ZERO, pending(), Duration::from_millis(5)).await);
    }
}
