//! Sums of an account's day, which answer questions without reading its clicks.

use signpost_domain::analytics::{Dimension, UtcDay};
use signpost_domain::{LinkId, LinkKind};

use crate::numbers::{put, put_count};
use crate::segment_encoder::compress;
use crate::segment_format::{DAY_MILLIS, set_checksum};

/// The version that this program writes, and the only one that it reads. No segment begins with it.
pub(crate) const DIGEST_VERSION: u8 = 0x81;

/// The flag of digests whose frames are compressed as one.
pub(crate) const DIGEST_ONE_FRAME: u8 = 2;

/// Smaller digests are compressed as one frame.
pub(crate) const DIGEST_ONE_FRAME_BELOW: usize = 4_096;

/// Quarter hours of a day.
pub(crate) const QUARTERS: usize = 96;

/// The instants of a day, by quarter hours, at which an hour begins that ends on the same day.
pub(crate) const HOURS: usize = QUARTERS - 3;

/// Milliseconds of a quarter hour.
pub(crate) const QUARTER_MILLIS: u32 = DAY_MILLIS / 96;

/// A dimension with more values on a day has no sums in its digest.
pub(crate) const MAX_VALUES_OF_DIGEST: usize = 4_096;

/// A dimension whose values are longer, in bytes and together, has no sums in its digest either.
pub(crate) const MAX_TEXT_OF_DIGEST: usize = 256 * 1024;

/// A link gets its own digest on days with at least this many clicks of all kinds.
pub const MIN_CLICKS_OF_LINK_DIGEST: u32 = 1_000;

/// The scope of a digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DigestScope {
    /// All clicks of an account's day.
    Account,
    /// The day's clicks of one link.
    Link(LinkId),
}

/// The sums of a day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Digest {
    /// The scope.
    pub scope: DigestScope,
    /// The sums.
    pub data: Vec<u8>,
}

impl DigestScope {
    fn write(self, out: &mut Vec<u8>) {
        match self {
            Self::Account => out.push(0),
            Self::Link(link) => {
                out.push(match link.kind() {
                    LinkKind::Landing => 1,
                    LinkKind::Redirect => 2,
                });
                out.extend_from_slice(&link.to_bytes());
            }
        }
    }

    /// The dimension whose values are in the last frame: one of the two that are recorded in the last place.
    pub(crate) const fn last_dimension(self) -> Dimension {
        match self {
            Self::Account => Dimension::Widget,
            Self::Link(link) => match link.kind() {
                LinkKind::Landing => Dimension::Widget,
                LinkKind::Redirect => Dimension::Rule,
            },
        }
    }

    /// The scope as digests encode it.
    pub(crate) fn bytes(self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(17);
        self.write(&mut bytes);
        bytes
    }
}

/// Writes the digest of a scope.
pub(crate) fn write_digest(scope: DigestScope, day: UtcDay, frames: &[Vec<u8>]) -> Digest {
    let total: usize = frames.iter().map(Vec::len).sum();
    let all = if total < DIGEST_ONE_FRAME_BELOW { compress(&frames.concat()) } else { None };
    let flags = if all.is_some() { DIGEST_ONE_FRAME } else { 0 };
    let mut data = vec![DIGEST_VERSION, flags, 0, 0, 0, 0];
    scope.write(&mut data);
    put(&mut data, u64::try_from(day.number()).unwrap_or(0));
    if let Some(all) = all {
        for frame in frames {
            put_count(&mut data, frame.len());
        }
        data.extend_from_slice(&all);
    } else {
        let mut body = Vec::new();
        for frame in frames {
            let compressed = compress(frame);
            let stored =
                compressed.as_ref().filter(|compressed| compressed.len() < frame.len()).unwrap_or(frame);
            put_count(&mut data, frame.len());
            put_count(&mut data, frame.len() - stored.len());
            body.extend_from_slice(stored);
        }
        data.extend_from_slice(&body);
    }
    set_checksum(&mut data);
    Digest { scope, data }
}
