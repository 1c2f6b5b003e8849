//! The language that a visitor prefers.

use std::cmp::Reverse;

use signpost_domain::visitor_headers::weight;

/// A primary language subtag of two or three lower-case letters (RFC 5646), or nothing.
#[derive(Clone, Copy, Default)]
pub(crate) struct Language {
    letters: [u8; 3],
    length: usize,
}

impl Language {
    /// The primary language with the greatest weight in an `Accept-Language` header; of equals the first.
    /// Entries without a language, such as `*`, are ignored.
    pub(crate) fn preferred(header: &[u8]) -> Self {
        header
            .split(|byte| *byte == b',')
            .filter_map(entry)
            .filter(|(_, weight)| *weight > 0)
            .min_by_key(|(_, weight)| Reverse(*weight))
            .map(|(language, _)| language)
            .unwrap_or_default()
    }

    pub(crate) fn as_str(&self) -> &str {
        self.letters.get(..self.length).and_then(|letters| str::from_utf8(letters).ok()).unwrap_or_default()
    }
}

/// The language of one entry and its weight in thousandths.
fn entry(entry: &[u8]) -> Option<(Language, u16)> {
    let mut parts = entry.split(|byte| *byte == b';');
    let range = parts.next()?.trim_ascii();
    let primary = range.split(|byte| matches!(byte, b'-' | b'_')).next()?;
    if !matches!(primary.len(), 2 | 3) || !primary.iter().all(u8::is_ascii_alphabetic) {
        return None;
    }
    let mut letters = [0; 3];
    letters.iter_mut().zip(primary).for_each(|(letter, sent)| *letter = sent.to_ascii_lowercase());
    Some((Language { letters, length: primary.len() }, weight(parts)?))
}

#[cfg(test)]
mod tests {
    use super::Language;

    #[test]
    fn d47_entry_with_the_greatest_weight_wins() {
        for (header, language) in [
            ("de-AT,de;q=0.9,en;q=0.5", "de"),
            ("en;q=0.5, fr;q=0.9, *;q=1", "fr"),
            ("EN_us", "en"),
            ("gsw-CH, de;q=0.9", "gsw"),
            ("zh-Hant-TW", "zh"),
            ("pt ; q=0.7, es ; q=0.8", "es"),
            ("fr;q=0, de;q=0.001", "de"),
            ("fr;Q=0.1, de;q=0.2", "de"),
            ("fr;q=abc, it;q=0.1", "it"),
            ("fr;q=2, it;q=0.1", "it"),
            ("da, en", "da"),
        ] {
            assert_eq!(Language::preferred(header.as_bytes()).as_str(), language, "{header}");
        }
    }

    #[test]
    fn d47_header_without_a_language_gives_none() {
        for header in ["", "*", "e", "english", "12-de", "de;q=0", ",;=,", "дe"] {
            assert_eq!(Language::preferred(header.as_bytes()).as_str(), "", "{header}");
        }
    }
}
