//! Disks, rights and limits of this machine.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use signpost_sqlite::{DiskSpace, FreeSpace};

use super::finding::Finding;
use crate::open_files::{self, Connections};
use crate::settings::{CommonSettings, Database, ServeSettings};

const SUBJECT: &str = "disk";

/// Below this the disk will soon be full: a busy installation writes some gigabytes in a month.
const LITTLE_SPACE: u64 = 1 << 30;

/// A flush beyond this is felt: every change waits for one.
const SLOW_FLUSH: Duration = Duration::from_millis(50);

/// How many flushes are timed. One alone may wait for other programs.
const FLUSHES: usize = 5;

/// The bytes of a timed flush.
const FLUSHED_BYTES: usize = 4096;

/// Whether the node's folder can be written to, has room, and flushes quickly.
pub(super) fn check_disk(common: &CommonSettings, settings: &ServeSettings) -> Vec<Finding> {
    let mut folders = BTreeSet::from([absolute(&settings.clicks.data_dir)]);
    if let Database::File(file) = &common.database {
        folders.insert(absolute(file.path().parent().unwrap_or(Path::new("/"))));
    }
    let mut findings = Vec::new();
    for folder in &folders {
        match FreeSpace::of_system().look(folder) {
            Ok(found) => {
                findings.push(space(folder, found));
                findings.push(flush(folder, time_of_a_flush(folder)));
            }
            Err(error) => findings.push(unusable(folder, &error)),
        }
    }
    findings
}

/// An empty path is the working folder.
fn absolute(folder: &Path) -> PathBuf {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    folder.canonicalize().or_else(|_| std::path::absolute(folder)).unwrap_or_else(|_| folder.to_path_buf())
}

fn unusable(folder: &Path, error: &io::Error) -> Finding {
    let shown = folder.display();
    Finding::fail(
        SUBJECT,
        format!("the folder {shown} cannot be used: {error}"),
        format!("Create it: install -d -m 0700 {shown}"),
    )
}

fn space(folder: &Path, space: DiskSpace) -> Finding {
    let shown = folder.display();
    let free = space.free;
    let advice = format!("Make room; what is large there: du -xh --max-depth=1 {shown}");
    if free < space.reserve() {
        Finding::fail(SUBJECT, format!("the disk of {shown} is full: {} MiB are free", free >> 20), advice)
    } else if free < LITTLE_SPACE {
        Finding::warn(
            SUBJECT,
            format!("the disk of {shown} is nearly full: {} MiB are free", free >> 20),
            advice,
        )
    } else {
        Finding::ok(SUBJECT, format!("the disk of {shown} has {} GiB free", free >> 30))
    }
}

fn flush(folder: &Path, time: io::Result<Duration>) -> Finding {
    let shown = folder.display();
    match time {
        Ok(time) if time > SLOW_FLUSH => Finding::warn(
            SUBJECT,
            format!(
                "a flush to the disk of {shown} takes {} ms, and every change waits for one",
                time.as_millis()
            ),
            "Use a local SSD; network disks and SD cards are slow",
        ),
        Ok(time) => {
            Finding::ok(SUBJECT, format!("a flush to the disk of {shown} takes {} µs", time.as_micros()))
        }
        Err(error) => Finding::fail(
            SUBJECT,
            format!("{shown} cannot be written to: {error}"),
            format!(
                "See who may write there, and whether it is mounted read-only: ls -ld {shown}; findmnt -T {shown}"
            ),
        ),
    }
}

/// The median time of some flushes to a new file in the folder.
fn time_of_a_flush(folder: &Path) -> io::Result<Duration> {
    let mut file: File = tempfile::tempfile_in(folder)?;
    let mut times = Vec::new();
    for _ in 0..FLUSHES {
        let began = Instant::now();
        file.write_all(&[0; FLUSHED_BYTES])?;
        file.sync_data()?;
        times.push(began.elapsed());
    }
    times.sort_unstable();
    Ok(times.get(FLUSHES / 2).copied().unwrap_or_default())
}

/// The limit of open files of the running program, or else of the service's unit, or else of a program that this shell starts.
pub(super) fn limit_of_open_files(running: Option<i32>) -> Option<usize> {
    let of_unit = || {
        let show = ["show", "signpost.service", "--property=LoadState,LimitNOFILE"];
        let output = Command::new("systemctl").args(show).output().ok()?;
        limit_of_unit(&String::from_utf8(output.stdout).ok()?)
    };
    running.and_then(limit_of_process).or_else(of_unit).or_else(open_files::raise_limit)
}

#[cfg(target_os = "linux")]
fn limit_of_process(pid: i32) -> Option<usize> {
    use procfs::process::{LimitValue, Process};

    let limits = Process::new(pid).and_then(|process| process.limits()).ok()?;
    match limits.max_open_files.soft_limit {
        LimitValue::Value(limit) => usize::try_from(limit).ok(),
        LimitValue::Unlimited => Some(usize::MAX),
    }
}

/// Other systems do not tell.
#[cfg(not(target_os = "linux"))]
fn limit_of_process(_: i32) -> Option<usize> {
    None
}

/// The limit in the answer of `systemctl show`, if the unit is installed.
fn limit_of_unit(properties: &str) -> Option<usize> {
    let value = |name: &str| properties.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
    value("LoadState").filter(|state| *state == "loaded")?;
    match value("LimitNOFILE")? {
        "infinity" => Some(usize::MAX),
        limit => limit.parse().ok(),
    }
}

/// Whether the limit of open files leaves room for the connections that the settings allow.
pub(super) fn check_open_files(limit: Option<usize>, connections: Connections, wanted: usize) -> Finding {
    let limit = match limit {
        None | Some(usize::MAX) => return Finding::ok("files", "the number of open files is not limited"),
        Some(limit) => limit,
    };
    if connections.each >= wanted {
        return Finding::ok(
            "files",
            format!("the limit of {limit} open files suffices for `max-connections`"),
        );
    }
    Finding::warn(
        "files",
        format!(
            "the limit of {limit} open files allows only {} of the {wanted} connections of `max-connections`",
            connections.each
        ),
        "The unit of systemd sets LimitNOFILE=65536; in a shell: ulimit -n 65536",
    )
}

#[cfg(test)]
mod tests {
    use super::super::finding::Severity;
    use super::*;

    #[test]
    fn d206_full_disk_fails_and_a_small_rest_warns() {
        for (free, severity) in
            [(100 << 20, Severity::Fail), (700 << 20, Severity::Warn), (9 << 30, Severity::Ok)]
        {
            let found = space(Path::new("/srv"), DiskSpace { total: 1 << 40, free });
            assert_eq!(found.severity, severity, "{}", found.line());
            assert_eq!(found.advice.is_some_and(|advice| advice.contains("/srv")), severity != Severity::Ok);
        }
    }

    #[test]
    fn d206_missing_or_read_only_folder_fails() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("missing");
        let found = unusable(&missing, &FreeSpace::of_system().look(&missing).unwrap_err());
        assert!(found.severity == Severity::Fail && found.line().contains("install -d"), "{}", found.line());
        // Even root cannot write to /proc.
        let proc = Path::new("/proc");
        let found = flush(proc, time_of_a_flush(proc));
        assert!(
            found.severity == Severity::Fail && found.line().contains("/proc cannot be written"),
            "{}",
            found.line()
        );
        assert!(time_of_a_flush(folder.path()).is_ok());
    }

    #[test]
    fn d206_slow_disk_warns() {
        let found = flush(Path::new("/srv"), Ok(Duration::from_millis(80)));
        assert!(found.severity == Severity::Warn && found.line().contains("80 ms"), "{}", found.line());
        assert_eq!(flush(Path::new("/srv"), Ok(Duration::from_millis(2))).severity, Severity::Ok);
    }

    #[test]
    fn d206_limit_of_the_unit_counts_only_if_it_is_installed() {
        for (properties, limit) in [
            ("LoadState=loaded\nLimitNOFILE=65536\n", Some(65_536)),
            ("LimitNOFILE=infinity\nLoadState=loaded\n", Some(usize::MAX)),
            ("LoadState=not-found\nLimitNOFILE=524288\n", None),
            ("", None),
        ] {
            assert_eq!(limit_of_unit(properties), limit, "{properties}");
        }
        let own = i32::try_from(std::process::id()).unwrap();
        assert!(limit_of_open_files(Some(own)).is_some_and(|limit| limit > 0));
    }

    #[test]
    fn d206_low_limit_of_open_files_warns() {
        let connections = Connections { each: 300, metrics: 16 };
        let found = check_open_files(Some(1024), connections, 10_000);
        assert!(found.severity == Severity::Warn && found.line().contains("ulimit -n"), "{}", found.line());
        assert_eq!(check_open_files(None, connections, 300).severity, Severity::Ok);
    }
}
