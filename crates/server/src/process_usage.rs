//! What this process uses, as the system tells it.

/// What this process uses at one moment. What the system does not tell is `None`: only Linux is asked.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct ProcessUsage {
    /// Processor time in seconds, in the program and in the system.
    pub(crate) cpu_seconds: Option<f64>,
    pub(crate) open_files: Option<u64>,
    /// `None` also if there is no limit.
    pub(crate) max_open_files: Option<u64>,
    pub(crate) virtual_bytes: Option<u64>,
    pub(crate) resident_bytes: Option<u64>,
    pub(crate) threads: Option<u64>,
}

impl ProcessUsage {
    /// Asks for it. This reads some files of `/proc/self`, which a hardened unit still shows.
    #[cfg(target_os = "linux")]
    pub(crate) fn now() -> Self {
        use procfs::process::{LimitValue, Process};

        let Ok(process) = Process::myself() else { return Self::default() };
        let stat = process.stat().ok();
        let limits = process.limits().ok();
        Self {
            cpu_seconds: stat.as_ref().map(|stat| in_seconds(stat.utime.saturating_add(stat.stime))),
            open_files: process.fd_count().ok().and_then(|files| files.try_into().ok()),
            max_open_files: limits.and_then(|limits| match limits.max_open_files.soft_limit {
                LimitValue::Value(most) => Some(most),
                LimitValue::Unlimited => None,
            }),
            virtual_bytes: stat.as_ref().map(|stat| stat.vsize),
            resident_bytes: stat.as_ref().map(|stat| stat.rss.saturating_mul(procfs::page_size())),
            threads: stat.as_ref().and_then(|stat| stat.num_threads.try_into().ok()),
        }
    }

    /// Other systems are not asked.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn now() -> Self {
        Self::default()
    }
}

/// The system counts hundredths of a second.
#[cfg(target_os = "linux")]
fn in_seconds(ticks: u64) -> f64 {
    let millis = ticks.saturating_mul(1_000).checked_div(procfs::ticks_per_second()).unwrap_or_default();
    std::time::Duration::from_millis(millis).as_secs_f64()
}
