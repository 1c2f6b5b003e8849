//! Finds the program that an agent names.

use std::cell::LazyCell;

use super::names::{Category, Group, NAMES, Position};
use super::patterns::{by_address, by_ending, is_of_phone, starts_with};

/// How much of an agent is examined. The longest agents of real apps have about 500 bytes, and the limit
/// bounds the work for any input.
pub const MAX_EXAMINED_BYTES: usize = 1024;

/// The program that an agent names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownProgram {
    /// The rule that matched: a name, an ending such as `*bot`, `+http` or `empty`. It is meant for logs, and
    /// never a part of what the visitor sent.
    pub rule: &'static str,
    /// The kind of program.
    pub category: Category,
}

/// Returns the program that `agent`, the value of a `User-Agent` header, names. `None` for browsers and
/// unknown agents.
///
/// It allocates nothing and reads the agent once. A name takes precedence over a common ending, and a
/// previewer over the library that it uses, wherever they occur.
#[must_use]
pub fn classify(agent: &[u8]) -> Option<KnownProgram> {
    let agent = agent.trim_ascii();
    let agent = agent.get(..MAX_EXAMINED_BYTES).unwrap_or(agent);
    if !agent.iter().any(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii()) {
        return Some(KnownProgram { rule: "empty", category: Category::Empty });
    }
    // Judged at most once, or an agent full of endings would cost its length squared.
    let is_of_phone = LazyCell::new(|| is_of_phone(agent));
    let mut named = None;
    let mut by_habit = None;
    let mut rest = agent;
    while let Some(byte) = rest.first() {
        let mut length = 1;
        let habit = if byte.is_ascii_alphanumeric() {
            match by_name(rest, rest.len() == agent.len()) {
                Some(previewer @ KnownProgram { category: Category::Previewer, .. }) => {
                    return Some(previewer);
                }
                found => named = named.or(found),
            }
            length = rest.iter().position(|byte| !byte.is_ascii_alphanumeric()).unwrap_or(rest.len());
            by_ending(rest.get(..length).unwrap_or_default()).filter(|_| !*is_of_phone)
        } else if matches!(byte, b'+' | b':') {
            by_address(rest, agent)
        } else {
            None
        };
        by_habit = by_habit.or(habit);
        rest = rest.get(length..).unwrap_or_default();
    }
    named.or_else(|| by_habit.map(|(rule, category)| KnownProgram { rule, category }))
}

/// Whether `agent`, the value of a `User-Agent` header, is that of a program that fetches links to show cards of them (D135). It is
/// [`classify`]'s rule, so agents of search engines and of browsers within apps are not.
#[must_use]
pub fn is_previewer(agent: &[u8]) -> bool {
    classify(agent).is_some_and(|program| program.category == Category::Previewer)
}

/// The longest name at the start of `rest`, which starts at a word.
fn by_name(rest: &[u8], is_start: bool) -> Option<KnownProgram> {
    let &[first, second, third, ..] = rest else { return None };
    let mut entry = INDEX.first.get(slot(first, second, third)).copied().flatten();
    let mut longest: Option<&Entry> = None;
    while let Some(candidate) = entry.and_then(|number| ENTRIES.get(usize::from(number))) {
        let Entry { name, place, .. } = candidate;
        if (is_start || *place == Position::Anywhere)
            && longest.is_none_or(|longest| longest.name.len() < name.len())
            && starts_with(rest, name)
            && ends_there(name, rest)
        {
            longest = Some(candidate);
        }
        entry = entry.and_then(|number| INDEX.next.get(usize::from(number)).copied().flatten());
    }
    longest.map(|entry| KnownProgram { rule: entry.name, category: entry.category })
}

/// Whether the last word of `name` also ends in `rest`: `curl/8` and `java1.8` match, `curling` does not.
fn ends_there(name: &str, rest: &[u8]) -> bool {
    let ends_in_letter = name.ends_with(|last: char| last.is_ascii_alphabetic());
    !(ends_in_letter && rest.get(name.len()).is_some_and(u8::is_ascii_alphabetic))
}

/// One name of the table.
#[derive(Clone, Copy)]
struct Entry {
    name: &'static str,
    place: Position,
    category: Category,
}

/// The number of names.
const COUNT: usize = count();

/// The number of lists in the index: one more than the greatest [`slot`].
const SLOTS: usize = 2048;

/// Every name.
static ENTRIES: [Entry; COUNT] = entries();

/// Finds names by their first three letters: chains of entries that share a slot.
struct Index {
    first: [Option<u16>; SLOTS],
    next: [Option<u16>; COUNT],
}

static INDEX: Index = index();

/// The slot of names that begin with these letters, of either case.
const fn slot(first: u8, second: u8, third: u8) -> usize {
    (five_bits(first) << 6) ^ (five_bits(second) << 3) ^ five_bits(third)
}

/// The bits of a letter that are equal in both cases.
#[expect(clippy::as_conversions, reason = "`From` is not const yet, and a byte fits")]
const fn five_bits(letter: u8) -> usize {
    (letter & 0x1f) as usize
}

const fn count() -> usize {
    let mut count = 0;
    let mut groups = NAMES;
    while let [Group { names, .. }, rest @ ..] = groups {
        count += names.len();
        groups = rest;
    }
    count
}

#[expect(clippy::indexing_slicing, reason = "evaluated at compile time, where a wrong index is an error")]
const fn entries() -> [Entry; COUNT] {
    let mut entries = [Entry { name: "", place: Position::Start, category: Category::Bot }; COUNT];
    let mut number = 0;
    let mut groups = NAMES;
    while let [Group { category, place, names }, rest @ ..] = groups {
        let mut names = *names;
        while let [name, others @ ..] = names {
            entries[number] = Entry { name, place: *place, category: *category };
            number += 1;
            names = others;
        }
        groups = rest;
    }
    entries
}

#[expect(clippy::indexing_slicing, reason = "evaluated at compile time, where a wrong index is an error")]
#[expect(clippy::as_conversions, reason = "`From` is not const yet; there are fewer names than 65,536")]
#[expect(clippy::cast_possible_truncation, reason = "there are fewer names than 65,536")]
const fn index() -> Index {
    let mut index = Index { first: [None; SLOTS], next: [None; COUNT] };
    let entries = entries();
    let mut number = 0;
    while number < COUNT {
        let name = entries[number].name.as_bytes();
        let slot = slot(name[0], name[1], name[2]);
        index.next[number] = index.first[slot];
        index.first[slot] = Some(number as u16);
        number += 1;
    }
    index
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rule(agent: &str) -> Option<&'static str> {
        classify(agent.as_bytes()).map(|program| program.rule)
    }

    #[test]
    fn every_name_is_found_in_any_case() {
        for Entry { name, category, .. } in ENTRIES {
            let expected = Some(KnownProgram { rule: name, category });
            assert_eq!(classify(name.as_bytes()), expected, "{name}");
            assert_eq!(classify(format!("{}/1.0", name.to_ascii_uppercase()).as_bytes()), expected, "{name}");
        }
    }

    #[test]
    fn name_matches_only_whole_words_in_its_position() {
        for Entry { name, place, .. } in ENTRIES {
            let further_on = format!("Mozilla/5.0 (X11) {name}/1.0");
            assert_eq!(rule(&further_on) == Some(name), place == Position::Anywhere, "{further_on}");
            assert_ne!(rule(&format!("x{name}")), Some(name), "x{name}");
            if name.ends_with(|last: char| last.is_ascii_alphabetic()) {
                assert_ne!(rule(&format!("{name}x")), Some(name), "{name}x");
            }
        }
    }

    #[test]
    fn d56_agent_without_letters_or_digits_is_empty() {
        for agent in ["", " ", "\t", "-", "\"\"", "()", "+"] {
            assert_eq!(
                classify(agent.as_bytes()),
                Some(KnownProgram { rule: "empty", category: Category::Empty })
            );
        }
        assert_eq!(rule("Ы"), None);
    }

    #[test]
    fn names_override_patterns_and_previewers_override_libraries() {
        assert_eq!(
            rule("WGETbot/1.0 (+http://example.com) curl/8.1"),
            Some("*bot"),
            "curl counts at the start"
        );
        assert_eq!(rule("Helper-Bot/1.0 (+http://example.com) python-requests/2"), Some("python-requests"));
        assert_eq!(rule("http.rb/5.2.0 (Mastodon/4.3.0; +https://social.example/)"), Some("mastodon"));
    }

    #[test]
    fn text_beyond_the_limit_is_not_read() {
        let filler = "x ".repeat(MAX_EXAMINED_BYTES / 2);
        assert_eq!(rule(&format!("{filler}Googlebot/2.1")), None);
        let (_, shorter) = filler.split_at("Googlebot/2.1".len());
        assert_eq!(rule(&format!("{shorter}Googlebot/2.1")), Some("googlebot"));
    }

    proptest! {
        #[test]
        fn any_bytes_are_classified(agent in proptest::collection::vec(any::<u8>(), 0..2000)) {
            // A rule copied from the agent could leak what a visitor sent into a log.
            prop_assert!(classify(&agent).is_none_or(|program| program.rule.is_ascii() && !program.rule.is_empty()));
        }

        #[test]
        fn case_makes_no_difference(agent in "[ -~]{0,60}(bot|curl|Slackbot|\\+http://a|java)[ -~]{0,20}") {
            prop_assert_eq!(rule(&agent), rule(&agent.to_ascii_uppercase()));
        }
    }
}
