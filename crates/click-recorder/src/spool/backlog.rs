//! How much waits, and how much may.

/// How much may wait in files, in GiB, and in memory, in MiB.
const ON_DISK_GIB: u64 = 1;
const IN_MEMORY_MIB: u64 = 64;

/// How much may wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpoolLimits {
    /// Bytes in files, those of dead processes included.
    pub on_disk: u64,
    /// Bytes in memory, while the disk cannot be written.
    pub in_memory: u64,
}

impl Default for SpoolLimits {
    fn default() -> Self {
        Self { on_disk: ON_DISK_GIB << 30, in_memory: IN_MEMORY_MIB << 20 }
    }
}

/// There is no room for a batch: its clicks are lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Full;

/// What waits, in figures.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Backlog {
    pub(crate) batches: u64,
    pub(crate) clicks: u64,
    pub(crate) bytes: u64,
    /// How much of it would not survive the end of the process.
    pub(crate) batches_in_memory: u64,
}
