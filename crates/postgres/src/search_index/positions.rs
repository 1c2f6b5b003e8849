//! The positions of links in a segment, as bytes and as sets.
//!
//! A chunk starts with the number of positions in each of its buckets, two bytes each. The positions follow bucket by
//! bucket: two bytes each, or a bitmap with a bit for each link of the segment if that is shorter. Numbers are
//! little-endian.

/// The maximum number of links in a segment.
pub(super) const MOST_LINKS: usize = 16_384;

const BITS: usize = 64;

/// The bytes of a bitmap for a segment's links.
const fn bitmap_length(links: usize) -> usize {
    links.div_ceil(8)
}

/// The bytes that this many positions take.
fn length_of(positions: usize, links: usize) -> usize {
    (positions * 2).min(bitmap_length(links))
}

/// How many buckets a chunk has in a segment of this many links: the fewer links, the more buckets, so that chunks have
/// similar sizes.
pub(super) const fn width_for(links: usize) -> u16 {
    match links {
        0..=1_535 => 16,
        1_536..=3_071 => 8,
        3_072..=6_143 => 4,
        6_144..=12_287 => 2,
        _ => 1,
    }
}

/// Encodes a chunk of buckets with these ascending positions.
pub(super) fn encode(buckets: &[Vec<u16>], links: usize) -> Vec<u8> {
    let mut chunk = Vec::new();
    for positions in buckets {
        let number = u16::try_from(positions.len()).unwrap_or(u16::MAX);
        chunk.extend(number.to_le_bytes());
    }
    for positions in buckets {
        if positions.len() * 2 < bitmap_length(links) {
            chunk.extend(positions.iter().flat_map(|position| position.to_le_bytes()));
            continue;
        }
        let start = chunk.len();
        chunk.resize(start + bitmap_length(links), 0);
        for position in positions {
            if let Some(byte) = chunk.get_mut(start + usize::from(*position / 8)) {
                *byte |= 1 << (position % 8);
            }
        }
    }
    chunk
}

/// A set of positions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PositionSet {
    words: Vec<u64>,
}

impl PositionSet {
    /// Decodes the positions of a bucket in a chunk; `None` if the chunk does not fit the segment.
    pub(super) fn decode(chunk: &[u8], bucket: usize, width: usize, links: usize) -> Option<Self> {
        let (header, mut rest) = chunk.split_at_checked(width * 2)?;
        let numbers: Vec<usize> =
            header.as_chunks().0.iter().map(|bytes| usize::from(u16::from_le_bytes(*bytes))).collect();
        for number in numbers.get(..bucket)? {
            rest = rest.get(length_of(*number, links)..)?;
        }
        let number = *numbers.get(bucket)?;
        let bytes = rest.get(..length_of(number, links))?;
        let mut words = vec![0_u64; links.div_ceil(BITS)];
        if number * 2 < bitmap_length(links) {
            for bytes in bytes.as_chunks().0 {
                let position = usize::from(u16::from_le_bytes(*bytes));
                *words.get_mut(position / BITS)? |= 1 << (position % BITS);
            }
        } else {
            for (word, bytes) in words.iter_mut().zip(bytes.chunks(BITS / 8)) {
                for (byte, shift) in bytes.iter().zip((0..BITS).step_by(8)) {
                    *word |= u64::from(*byte) << shift;
                }
            }
        }
        Some(Self { words })
    }

    /// Keeps the positions that are also in the other set.
    pub(super) fn intersect(&mut self, other: &Self) {
        for (word, other) in self.words.iter_mut().zip(&other.words) {
            *word &= other;
        }
    }

    pub(super) fn len(&self) -> usize {
        self.words.iter().map(|word| usize::try_from(word.count_ones()).unwrap_or_default()).sum()
    }

    /// The positions in descending order.
    pub(super) fn descending(&self) -> impl Iterator<Item = i32> {
        let starts = (0_i32..).step_by(BITS).take(self.words.len());
        let words: Vec<(u64, i32)> =
            self.words.iter().copied().zip(starts).filter(|(word, _)| *word != 0).collect();
        words.into_iter().rev().flat_map(|(word, start)| {
            (0_i32..64).rev().filter(move |bit| word >> bit & 1 == 1).map(move |bit| start + bit)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Few and many positions, in segments of any size.
    #[test]
    fn encoded_buckets_decode_to_the_same_positions() {
        for links in [1, 7, 63, 64, 65, 1_000, 1_024, 5_000, 12_345, MOST_LINKS] {
            let width = usize::from(width_for(links));
            let buckets: Vec<Vec<u16>> = (0..width)
                .map(|bucket| {
                    let step = [1, 2, 3, 7, 8, 15, 16, 17, 1_000, 99_999][bucket % 10];
                    let from = if step == 99_999 { links } else { 0 };
                    (from..links).step_by(step).map(|position| u16::try_from(position).unwrap()).collect()
                })
                .collect();
            let chunk = encode(&buckets, links);
            assert!(chunk.len() <= 3_072 + 32, "{links}: {}", chunk.len());
            for (bucket, positions) in buckets.iter().enumerate() {
                let set = PositionSet::decode(&chunk, bucket, width, links).unwrap();
                let mut expected: Vec<i32> = positions.iter().map(|position| i32::from(*position)).collect();
                expected.reverse();
                assert_eq!(set.len(), expected.len());
                assert_eq!(set.descending().collect::<Vec<_>>(), expected, "{links} {bucket}");
            }
            assert!(PositionSet::decode(&chunk, width, width, links).is_none());
            assert!(
                PositionSet::decode(&chunk[..chunk.len() - 1], width - 1, width, links).is_none()
                    || buckets[width - 1].is_empty()
            );
        }
    }

    #[test]
    fn intersection_keeps_shared_positions() {
        let chunk = encode(&[vec![1, 5, 70, 900], (0..900).step_by(5).collect()], 1_000);
        let mut set = PositionSet::decode(&chunk, 0, 2, 1_000).unwrap();
        set.intersect(&PositionSet::decode(&chunk, 1, 2, 1_000).unwrap());
        assert_eq!(set.descending().collect::<Vec<_>>(), [70, 5]);
    }
}
