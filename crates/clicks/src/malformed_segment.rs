//! Why bytes are no segment or digest.

/// Bytes that are no segment or digest, or not one that belongs where it was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MalformedSegment {
    /// Its first byte names a version that this program does not read.
    #[error("version {0} of the format is unknown")]
    UnknownVersion(u8),
    /// It is not as it was written.
    #[error("the checksum does not match")]
    Checksum,
    /// It ends too early, or holds more than it may.
    #[error("{0} does not have the length that the header says")]
    Length(&'static str),
    /// A part of it cannot be decompressed.
    #[error("{0} cannot be decompressed to its length")]
    Compression(&'static str),
    /// It says something impossible.
    #[error("{0} has an impossible value")]
    Value(&'static str),
    /// It has clicks of several accounts or days where one is expected.
    #[error("clicks of several accounts or days where one account's day is expected")]
    SeveralDays,
    /// It is sealed where visitors' hashes are needed.
    #[error("the segment is sealed, and its visitors' hashes are needed")]
    Sealed,
}
