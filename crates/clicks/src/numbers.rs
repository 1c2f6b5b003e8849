//! Whole numbers: conversions that lose nothing here, and a variable-length encoding.
//!
//! The encoding has seven bits a byte, lowest first, with the top bit set on all bytes but the last.

/// Converts a number into an index.
pub(crate) fn index(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// Converts a count. A segment or a day has far fewer than four billion of anything.
pub(crate) fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// Converts a count, for sums over years.
pub(crate) fn sum(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

/// Appends a number.
pub(crate) fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    out.push(number.to_le_bytes()[0]);
}

/// Appends a count.
pub(crate) fn put_count(out: &mut Vec<u8>, count: usize) {
    put(out, sum(count));
}

/// The unread rest of some bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Input<'a>(pub(crate) &'a [u8]);

impl<'a> Input<'a> {
    /// Reads a number. `None` at the end, or if it takes more than 64 bits.
    #[inline]
    pub(crate) fn number(&mut self) -> Option<u64> {
        let (&first, rest) = self.0.split_first()?;
        self.0 = rest;
        if first < 0x80 {
            return Some(u64::from(first));
        }
        self.rest_of_number(u64::from(first & 0x7f))
    }

    fn rest_of_number(&mut self, mut number: u64) -> Option<u64> {
        for shift in (7..64).step_by(7) {
            let (&byte, rest) = self.0.split_first()?;
            self.0 = rest;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                return None;
            }
            number |= bits << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    /// Reads a number of at most 32 bits.
    #[inline]
    pub(crate) fn small_number(&mut self) -> Option<u32> {
        u32::try_from(self.number()?).ok()
    }

    /// Reads a number as a length in memory.
    pub(crate) fn length(&mut self) -> Option<usize> {
        usize::try_from(self.number()?).ok()
    }

    /// Reads this many bytes.
    pub(crate) fn take(&mut self, bytes: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(bytes)?;
        self.0 = rest;
        Some(taken)
    }

    /// Reads bytes into an array.
    pub(crate) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*taken)
    }

    /// Whether nothing is left.
    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_survive_encoding_and_overlong_ones_are_refused() {
        for number in [0, 1, 127, 128, 16_383, 16_384, u64::from(u32::MAX), u64::MAX - 1, u64::MAX] {
            let mut bytes = Vec::new();
            put(&mut bytes, number);
            let mut input = Input(&bytes);
            assert_eq!((input.number(), input.is_empty()), (Some(number), true));
            for end in 0..bytes.len() {
                assert_eq!(Input(&bytes[..end]).number(), None, "{number} cut to {end} bytes");
            }
        }
        assert_eq!(Input(&[0xff; 10]).number(), None);
        assert_eq!(Input(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02]).number(), None);
        assert_eq!(Input(&[0xff, 0xff, 0xff, 0xff, 0x1f]).small_number(), None);
    }
}
