//! The size of the backlog, and its limits.

/// Default limits: of files in GiB, and of memory in MiB.
const ON_DISK_GIB: u64 = 1;
const IN_MEMORY_MIB: u64 = 64;

/// The limits of a spool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpoolLimits {
    /// Bytes in files, including those of dead processes.
    pub on_disk: u64,
    /// Bytes in memory, while the disk cannot be written.
    pub in_memory: u64,
}

impl Default for SpoolLimits {
    fn default() -> Self {
        Self { on_disk: ON_DISK_GIB << 30, in_memory: IN_MEMORY_MIB << 20 }
    }
}

/// The spool has no room for a batch, so its clicks are lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SpoolFull;

/// The size of the backlog.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Backlog {
    pub(crate) batches: u64,
    pub(crate) clicks: u64,
    pub(crate) bytes: u64,
    /// How many of the batches would not survive the process.
    pub(crate) batches_in_memory: u64,
}
