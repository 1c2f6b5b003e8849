//! Stop signals, and the stop in order (D64).

use std::future::Future;
use std::io;
use std::time::Duration;

/// How long to wait until the listeners have stopped. They give running requests 30 seconds (D64), and check
/// once a second whether any is left.
pub(crate) const STOPPED_WITHIN: Duration = Duration::from_secs(32);

/// The signals that stop the program: SIGTERM, SIGINT, SIGQUIT and SIGHUP, or Ctrl-C on systems without signals.
pub(crate) struct StopSignals {
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(unix)]
    quit: tokio::signal::unix::Signal,
    /// `None` if the program was started with SIGHUP ignored, as by `nohup`.
    #[cfg(unix)]
    hang_up: Option<tokio::signal::unix::Signal>,
}

impl StopSignals {
    /// Listens for the signals, which no longer end the process from now on.
    #[cfg(unix)]
    pub(crate) fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let hang_up = SignalKind::hangup();
        Ok(Self {
            hang_up: if is_ignored(hang_up.as_raw_value()) { None } else { Some(signal(hang_up)?) },
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            quit: signal(SignalKind::quit())?,
        })
    }

    /// Listens for Ctrl-C, which no longer ends the process from now on.
    #[cfg(not(unix))]
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self {})
    }

    /// Waits for the first signal, and returns its name.
    #[cfg(unix)]
    pub(crate) async fn first(&mut self) -> &'static str {
        let hang_up = async {
            match &mut self.hang_up {
                Some(signal) => signal.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
            _ = self.quit.recv() => "SIGQUIT",
            _ = hang_up => "SIGHUP",
        }
    }

    /// Waits for a signal that cuts the stop short, and returns its name. SIGHUP does not, because a closed terminal may
    /// send it more than once: the kernel sends it, and the shell too.
    #[cfg(unix)]
    pub(crate) async fn second(&mut self) -> &'static str {
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
            _ = self.quit.recv() => "SIGQUIT",
        }
    }

    /// Waits for the first signal, and returns its name.
    #[cfg(not(unix))]
    pub(crate) async fn first(&mut self) -> &'static str {
        self.second().await
    }

    /// Waits for another signal, and returns its name.
    #[cfg(not(unix))]
    pub(crate) async fn second(&mut self) -> &'static str {
        match tokio::signal::ctrl_c().await {
            Ok(()) => "Ctrl-C",
            // Without Ctrl-C the process runs until it is killed.
            Err(_) => std::future::pending().await,
        }
    }
}

/// Whether the process ignores this signal. Only Linux tells without unsafe code; elsewhere the answer is no.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default();
    u32::try_from(signal - 1).is_ok_and(|bit| mask.checked_shr(bit).is_some_and(|mask| mask & 1 == 1))
}

/// Waits for `drain_delay` while the listeners still accept, then for `stop_accepting_and_finish`, but no
/// longer than `at_most`. The next signal cuts both short. Returns `false` if running work was cut short.
pub(crate) async fn stop(
    next_signal: impl Future<Output = &'static str>,
    drain_delay: Duration,
    stop_accepting_and_finish: impl Future<Output = ()>,
    at_most: Duration,
) -> bool {
    let in_order = async {
        if !drain_delay.is_zero() {
            tracing::info!(?drain_delay, "draining: still accepting, but no longer ready");
            tokio::time::sleep(drain_delay).await;
        }
        tracing::info!("finishing running requests");
        tokio::time::timeout(at_most, stop_accepting_and_finish).await.is_ok()
    };
    tokio::select! {
        finished = in_order => finished,
        signal = next_signal => {
            tracing::warn!(signal, "second signal: stopping at once");
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
    async fn d64_the_listeners_accept_until_the_drain_delay_is_over() {
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
    async fn d64_stopping_waits_no_longer_than_its_time_limit() {
        assert!(!stop(pending(), Duration::ZERO, pending(), Duration::from_millis(5)).await);
    }
}
