//! The buckets of a text: one for each three consecutive characters.

use crate::search::SEPARATOR;

/// The number of buckets. Bucket numbers are stored, so neither this nor [`bucket`] can ever change.
pub(super) const BUCKETS: u16 = 4_096;

/// The number of characters in a piece.
const PIECE: usize = 3;

/// The maximum number of buckets that are looked up for a text. Further ones would exclude hardly any more links.
const MOST_LOOKED_UP: usize = 12;

/// The bucket of a piece.
fn bucket(piece: [char; PIECE]) -> u16 {
    let mut hash = 0_u64;
    for character in piece {
        hash = (hash ^ u64::from(character)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        hash ^= hash >> 29;
    }
    // The upper bits depend on all bits of the input.
    u16::try_from(hash.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 52).unwrap_or_default() % BUCKETS
}

/// The buckets of a key, in the order of its pieces, with repetitions.
pub(super) fn of_key(key: &str) -> impl Iterator<Item = u16> {
    key.split(SEPARATOR).flat_map(of_text)
}

fn of_text(text: &str) -> impl Iterator<Item = u16> {
    let (second, third) = (text.chars().skip(1), text.chars().skip(2));
    text.chars().zip(second).zip(third).map(|((a, b), c)| bucket([a, b, c]))
}

/// The buckets that contain every link with this part in one of its texts; `None` if the part is too short.
///
/// They are those of every second piece and of the last one. Neighbours share two characters, so the others would exclude
/// hardly any more links.
pub(super) fn of_part(part: &str) -> Option<Vec<i16>> {
    let all: Vec<u16> = of_text(part).collect();
    let last = all.last().copied()?;
    let chosen = all.into_iter().step_by(2).take(MOST_LOOKED_UP - 1).chain([last]);
    let mut buckets: Vec<i16> = chosen.filter_map(|bucket| i16::try_from(bucket).ok()).collect();
    buckets.sort_unstable();
    buckets.dedup();
    Some(buckets)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::search_key;

    /// Databases store these numbers.
    #[test]
    fn the_bucket_of_a_piece_never_changes() {
        let pieces = [['a', 'b', 'c'], ['h', 't', 't'], ['/', '/', 'e'], ['ß', 'é', '日'], ['0', '0', '0']];
        assert_eq!(pieces.map(bucket), [3_912, 1_741, 925, 751, 1_838]);
    }

    #[test]
    fn d32_buckets_of_a_part_are_among_those_of_its_key() {
        let key = search_key("Straße 日本語 sale", "Summer-24", Some("https://Example.com/ä/%5F?q=aaaa"));
        let all: Vec<i16> = of_key(&key).map(|bucket| i16::try_from(bucket).unwrap()).collect();
        for text in key.split(SEPARATOR) {
            let characters: Vec<char> = text.chars().collect();
            for from in 0..characters.len() {
                for to in from..=characters.len() {
                    let part: String = characters[from..to].iter().collect();
                    match of_part(&part) {
                        None => assert!(to - from < PIECE, "{part}"),
                        Some(buckets) => {
                            assert!(buckets.len() <= MOST_LOOKED_UP, "{part}");
                            assert!(buckets.iter().all(|bucket| all.contains(bucket)), "{part}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn pieces_do_not_span_two_texts() {
        let apart = of_key("ab\u{1f}cd").count();
        assert_eq!(apart, 0);
    }
}
