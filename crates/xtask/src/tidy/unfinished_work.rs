//! Merged work is finished; the tracker, not the source, lists what remains.

use super::is_rust;
use crate::finding::Finding;

/// Marks of unfinished work in any text file, as whole words. Each is written in two parts, because this file is checked
/// too.
const WORDS: [&str; 2] = [concat!("TO", "DO"), concat!("FIX", "ME")];

/// Marks in Rust files, at any position.
const IN_RUST: [&str; 3] = [concat!("to", "do!"), concat!("unimpl", "emented!"), concat!("#[", "ignore")];

/// Reports every line with a mark of unfinished work or an ignored test.
#[must_use]
pub fn check(path: &str, text: &str) -> Vec<Finding> {
    let in_rust: &[&str] = if is_rust(path) { &IN_RUST } else { &[] };
    let mut findings = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        let mark = WORDS
            .iter()
            .find(|word| has_word(line, word))
            .or_else(|| in_rust.iter().find(|mark| line.contains(**mark)));
        findings.extend(
            mark.map(|mark| Finding::in_line(path, number, format!("`{mark}`: finish it or drop it"))),
        );
    }
    findings
}

fn has_word(line: &str, word: &str) -> bool {
    line.split(|character: char| !character.is_alphanumeric() && character != '_').any(|part| part == word)
}

#[cfg(test)]
mod tests {
    use super::{IN_RUST, WORDS, check};

    #[test]
    fn every_mark_is_reported_with_its_line() {
        for mark in WORDS.iter().chain(&IN_RUST) {
            let text = format!("fn main() {{\n    {mark}(later)\n}}\n");
            let findings = check("a.rs", &text);
            assert_eq!(findings.len(), 1, "{mark}");
            assert!(findings.iter().all(|finding| finding.to_string().starts_with("a.rs:2: ")), "{mark}");
        }
    }

    #[test]
    fn only_whole_words_and_macros_in_rust_files_are_reported() {
        for word in WORDS {
            assert_eq!(check("a.rs", &format!("{word}S {} un{word}", word.to_lowercase())), [], "{word}");
            assert_eq!(check("a.sql", &format!("-- {word}: index")).len(), 1, "{word}");
        }
        for mark in IN_RUST {
            assert_eq!(check("a.md", mark), [], "{mark}");
        }
    }
}
