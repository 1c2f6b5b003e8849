//! In which buckets a text is looked up: a bucket for each three characters that follow each other.

use crate::search::SEPARATOR;

/// How many buckets there are. The tables hold their numbers, so this and [`bucket`] can never change.
pub(super) const BUCKETS: u16 = 4_096;

/// How many characters a piece has.
const PIECE: usize = 3;

/// How many buckets of a text are looked up at most. Longer texts have others, which would exclude hardly any more links.
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

/// The buckets of a key, in the order of its pieces; one may come several times.
pub(super) fn of_key(key: &str) -> impl Iterator<Item = u16> {
    key.split(SEPARATOR).flat_map(of_text)
}

fn of_text(text: &str) -> impl Iterator<Item = u16> {
    let (second, third) = (text.chars().skip(1), text.chars().skip(2));
    text.chars().zip(second).zip(third).map(|((a, b), c)| bucket([a, b, c]))
}

/// The buckets in which all links are that have this part in one of their texts; `None` if the part is too short to tell.
///
/// It is every second piece and the last one. Neighbours share two characters, so the others exclude hardly any more.
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

    /// Databases hold these numbers.
    #[test]
    fn the_bucket_of_a_piece_never_changes() {
        let pieces = [['a', 'b', 'c'], ['h', 't', 't'], ['/', '/', 'e'], ['ß', 'é', '日'], ['0', '0', '0']];
        assert_eq!(pieces.map(bucket), [3_912, 1_741, 925, 751, 1_838]);
    }

    #[test]
    fn d32_every_part_of_a_key_is_in_the_buckets_of_the_key() {
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
    fn pieces_do_not_reach_from_one_text_into_the_next() {
        let apart = of_key("ab\u{1f}cd").count();
        assert_eq!(apart, 0);
    }
}
