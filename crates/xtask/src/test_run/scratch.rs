//! A folder in memory for the temporary files of tests.
//!
//! Each test on PostgreSQL creates a database of three hundred files and deletes it again. ext4 looks long for a free inode
//! when many were deleted in the last seconds, which took a third of the processor in a run of the tests.

use std::env;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use tempfile::TempDir;

/// A file system in memory that Linux systems have.
const IN_MEMORY: &str = "/dev/shm";

/// How much must be free there, in bytes. The tests use up to a few gigabytes at a time.
const ROOM: u64 = 8 << 30;

/// A new folder in memory; `None` if the caller chose a folder by `TMPDIR`, or if there is no room.
pub(super) fn folder() -> Result<Option<TempDir>> {
    if env::var_os("TMPDIR").is_some() || !has_room() {
        return Ok(None);
    }
    let folder = tempfile::Builder::new().prefix("signpost-tests-").tempdir_in(IN_MEMORY)?;
    // As for `/tmp`: if the tests run as root, servers and the browser run as other users.
    fs::set_permissions(folder.path(), Permissions::from_mode(0o1777)).context("cannot share the folder")?;
    Ok(Some(folder))
}

fn has_room() -> bool {
    Path::new(IN_MEMORY).is_dir() && free_there().zip(free_memory()).is_some_and(|(a, b)| a.min(b) >= ROOM)
}

fn free_there() -> Option<u64> {
    let output = Command::new("df").args(["--output=avail", "--block-size=1", IN_MEMORY]).output().ok()?;
    String::from_utf8_lossy(&output.stdout).lines().nth(1)?.trim().parse().ok()
}

fn free_memory() -> Option<u64> {
    available(&fs::read_to_string("/proc/meminfo").ok()?)
}

/// The memory that programs can still get, in bytes, from `/proc/meminfo`.
fn available(meminfo: &str) -> Option<u64> {
    let value = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    value.trim().strip_suffix(" kB")?.parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::available;

    #[test]
    fn available_memory_is_read_in_bytes() {
        let text = "MemTotal:       24684212 kB\nMemAvailable:    1000 kB\nBuffers: 7 kB\n";
        assert_eq!(available(text), Some(1_024_000));
        assert_eq!(available("MemTotal: 1 kB\n"), None);
    }
}
