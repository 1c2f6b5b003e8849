//! The part of a disk that clicks leave free.

/// The most that is left free. Changes of links and requests need far less until an operator has made room.
const MAX_RESERVE_BYTES: u64 = 256 * 1024 * 1024;

/// The bytes that clicks leave free on a disk of this size: an eighth of it, and at most 256 MiB. Links are often stored on
/// the same disk, so that a flood of visits would otherwise end all changes (R40).
#[must_use]
pub const fn disk_reserve(disk_bytes: u64) -> u64 {
    let eighth = disk_bytes / 8;
    if eighth < MAX_RESERVE_BYTES { eighth } else { MAX_RESERVE_BYTES }
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
}
