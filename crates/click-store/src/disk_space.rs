//! The free space of the disk of a folder, and the part of it that clicks leave to others.

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

/// The most that is left free. Changes of links and requests need far less until an operator has made room.
const MAX_RESERVE_BYTES: u64 = 256 * 1024 * 1024;

/// The bytes that clicks leave free on a disk of this size: an eighth of it, and at most 256 MiB. Links are often stored on
/// the same disk, so that a flood of visits would otherwise end all changes (R40).
const fn disk_reserve(disk_bytes: u64) -> u64 {
    let eighth = disk_bytes / 8;
    if eighth < MAX_RESERVE_BYTES { eighth } else { MAX_RESERVE_BYTES }
}

/// How long an answer of the system holds. It costs a system call, and batches arrive twenty times a second.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);

/// The size of a disk, and the bytes of it that this process may still use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiskSpace {
    /// The size of the disk.
    pub total: u64,
    /// The bytes that this process may still use.
    pub free: u64,
}

impl DiskSpace {
    /// The bytes that clicks leave free for others.
    #[must_use]
    pub const fn reserve(self) -> u64 {
        disk_reserve(self.total)
    }
}

/// The free space is less than the reserve that clicks leave to others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the disk is nearly full: {free} of {total} bytes are free, and clicks leave {reserve} bytes to others"
)]
pub struct DiskNearlyFull {
    free: u64,
    total: u64,
    reserve: u64,
}

/// Finds the space of the disk of a folder.
type Look = dyn Fn(&Path) -> io::Result<DiskSpace> + Send;

/// Watches the free space of a disk.
pub struct FreeSpace {
    look: Box<Look>,
    looked_at: Option<Instant>,
    found: Result<(), DiskNearlyFull>,
}

impl FreeSpace {
    /// Asks the system.
    #[must_use]
    pub fn of_system() -> Self {
        Self::new(|folder| {
            let found = rustix::fs::statvfs(folder)?;
            let bytes = |blocks: u64| blocks.saturating_mul(found.f_frsize);
            Ok(DiskSpace { total: bytes(found.f_blocks), free: bytes(found.f_bavail) })
        })
    }

    /// Asks `look` instead.
    pub fn new(look: impl Fn(&Path) -> io::Result<DiskSpace> + Send + 'static) -> Self {
        Self { look: Box::new(look), looked_at: None, found: Ok(()) }
    }

    /// The space of the disk of this folder.
    pub fn look(&self, folder: &Path) -> io::Result<DiskSpace> {
        (self.look)(folder)
    }

    /// Whether clicks may be written to the disk of this folder.
    pub fn check(&mut self, folder: &Path) -> Result<(), DiskNearlyFull> {
        if self.looked_at.is_none_or(|looked_at| looked_at.elapsed() >= LOOK_INTERVAL) {
            self.looked_at = Some(Instant::now());
            // If the folder is missing or cannot be read, writing fails with a better message.
            self.found = (self.look)(folder).map_or(Ok(()), |DiskSpace { total, free }| {
                let reserve = disk_reserve(total);
                if free < reserve { Err(DiskNearlyFull { free, total, reserve }) } else { Ok(()) }
            });
        }
        self.found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r40_reserve_is_an_eighth_of_a_small_disk_and_256_mib_of_a_large_one() {
        const MIB: u64 = 1024 * 1024;
        for (disk, reserve) in [(0, 0), (64, 8), (2_048, 256), (2_047, 255), (1 << 30, 256)] {
            assert_eq!(disk_reserve(disk * MIB) / MIB, reserve, "{disk} MiB");
        }
    }

    #[test]
    fn r40_free_space_of_the_system_is_plausible() {
        let folder = tempfile::tempdir().unwrap();
        let DiskSpace { total, free } = (FreeSpace::of_system().look)(folder.path()).unwrap();
        assert!(total > 1024 * 1024 && free <= total, "{free} of {total}");
        let missing = folder.path().join("missing");
        assert_eq!(FreeSpace::of_system().check(&missing), Ok(()));
    }
}
