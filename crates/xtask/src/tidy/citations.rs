//! Every cited rule exists: decisions of the contract (`D12`), requirements (`R12`) and decision records (`ADR 12`).

use std::collections::BTreeSet;
use std::path::Path;

use crate::finding::Finding;

/// The folder that defines the numbers. Its own files are not searched for citations.
const CONTRACT: &str = "docs/contract/";
const DECISIONS: &str = "docs/contract/decisions.md";
const REQUIREMENTS: &str = "docs/contract/requirements.md";
const RECORDS: &str = "docs/decisions/";

/// The types of files in which people write citations. Bundled scripts and pictures contain `D3` by chance.
const WRITTEN: [&str; 5] = ["rs", "md", "sql", "toml", "yml"];

/// The numbers that exist.
#[derive(Debug, Default)]
struct Defined {
    decisions: BTreeSet<u32>,
    requirements: BTreeSet<u32>,
    records: BTreeSet<u32>,
}

/// Reports each citation of an undefined number, and each decision record that is cited as "decision" instead of ADR.
#[must_use]
pub fn check(texts: &[(&str, String)]) -> Vec<Finding> {
    let defined = Defined::of(texts);
    let mut findings = Vec::new();
    for (path, text) in texts {
        if path.starts_with(CONTRACT) || !is_written(path) {
            continue;
        }
        for (line, number) in text.lines().zip(1..) {
            let messages = words(line).flat_map(|word| defined.messages(&word));
            findings.extend(messages.map(|message| Finding::in_line(*path, number, message)));
        }
    }
    findings
}

impl Defined {
    fn of(texts: &[(&str, String)]) -> Self {
        let mut defined = Self::default();
        for (path, text) in texts {
            match *path {
                DECISIONS => {
                    defined.decisions =
                        text.lines().filter_map(|line| leading_number(line.strip_prefix("- **D")?)).collect();
                }
                REQUIREMENTS => {
                    defined.requirements =
                        text.lines().filter_map(|line| leading_number(line.strip_prefix("| ")?)).collect();
                }
                _ => defined.records.extend(path.strip_prefix(RECORDS).and_then(leading_number)),
            }
        }
        defined
    }

    fn messages(&self, word: &Word<'_>) -> Vec<String> {
        let Word { text, after } = word;
        let number = after.strip_prefix(' ').and_then(leading_number);
        match (*text, number) {
            ("ADR", Some(number)) if !self.records.contains(&number) => {
                vec![format!("`ADR {number}` is not in {RECORDS}")]
            }
            ("decision" | "Decision", Some(number)) => {
                vec![format!("ambiguous: cite `ADR {number}` or `D{number}`")]
            }
            _ => rules(text).filter(|rule| !self.has(*rule)).map(Rule::message).collect(),
        }
    }

    fn has(&self, rule: Rule) -> bool {
        match rule {
            Rule::Decision(number) => self.decisions.contains(&number),
            Rule::Requirement(number) => self.requirements.contains(&number),
        }
    }
}

/// A rule of the contract, by its number.
#[derive(Debug, Clone, Copy)]
enum Rule {
    Decision(u32),
    Requirement(u32),
}

impl Rule {
    fn message(self) -> String {
        match self {
            Self::Decision(number) => format!("`D{number}` is not in {CONTRACT}"),
            Self::Requirement(number) => format!("`R{number}` is not in {CONTRACT}"),
        }
    }
}

/// The rules that a word cites: `D12`, or the prefixes of a test's name (`d30_r19_…`).
fn rules(word: &str) -> impl Iterator<Item = Rule> {
    let is_name = word.contains('_');
    word.split('_').map_while(move |part| match (part.split_at_checked(1)?, is_name) {
        (("D", digits), false) | (("d", digits), true) => whole_number(digits).map(Rule::Decision),
        (("R", digits), false) | (("r", digits), true) => whole_number(digits).map(Rule::Requirement),
        _ => None,
    })
}

/// A word of letters, digits and underscores, and the rest of its line.
struct Word<'line> {
    text: &'line str,
    after: &'line str,
}

fn words(line: &str) -> impl Iterator<Item = Word<'_>> {
    let is_part = |character: char| character.is_alphanumeric() || character == '_';
    let mut rest = line;
    std::iter::from_fn(move || {
        loop {
            let start = rest.find(is_part)?;
            let before = rest.get(..start)?.chars().next_back();
            let begun = rest.get(start..)?;
            let end = begun.find(|character| !is_part(character)).unwrap_or(begun.len());
            let (text, after) = begun.split_at(end);
            rest = after;
            // `%D0` is a byte of a URL, `\r6` and `#d1` are parts of texts, and `0.d2` is a number.
            if !before.is_some_and(|before| "%\\#.".contains(before)) {
                return Some(Word { text, after });
            }
        }
    })
}

fn is_written(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|extension| WRITTEN.iter().any(|written| extension == *written))
}

fn whole_number(digits: &str) -> Option<u32> {
    let is_number = (1..=2).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().ok()).flatten()
}

fn leading_number(text: &str) -> Option<u32> {
    let end = text.find(|character: char| !character.is_ascii_digit()).unwrap_or(text.len());
    text.get(..end)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::check;

    fn reported(text: &str) -> Vec<String> {
        let texts = [
            ("docs/contract/decisions.md", "- **D1 Identifiers.** As D1 says.\n- **D12 Once.**".to_owned()),
            ("docs/contract/requirements.md", "| R | Requirement |\n| 3 | Exact |".to_owned()),
            ("docs/decisions/0007-a-record.md", String::new()),
            ("crates/a/src/lib.rs", text.to_owned()),
        ];
        check(&texts).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn existing_rules_may_be_cited() {
        for text in
            ["// D1, D1–D12; R3 and ADR 7.", "fn d1_r3_ids_sort() {}", "ADR 0007", "/0007-a-record.md"]
        {
            assert_eq!(reported(text), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn unknown_rules_are_reported_with_their_line() {
        for (text, number) in [("\n// (D13)", "D13"), ("\nfn d1_r4_is_new() {}", "R4"), ("\n// R1–R3", "R1")]
        {
            assert_eq!(
                reported(text),
                [format!("crates/a/src/lib.rs:2: `{number}` is not in docs/contract/")]
            );
        }
        assert_eq!(reported("// ADR 8"), ["crates/a/src/lib.rs:1: `ADR 8` is not in docs/decisions/"]);
    }

    #[test]
    fn a_decision_record_is_cited_as_adr() {
        let text = concat!("// See deci", "sion 7.");
        assert_eq!(reported(text), ["crates/a/src/lib.rs:1: ambiguous: cite `ADR 7` or `D7`"]);
    }

    #[test]
    fn text_that_only_resembles_a_citation_is_ignored() {
        for text in ["%D0%B0", "let d99 = 1;", "D999", "RD13", "\"\\r9\"", "#d84", "u32", "r13"] {
            assert_eq!(reported(text), Vec::<String>::new(), "{text}");
        }
    }
}
