//! Checks the numbers of `docs/operations.md` against the code.
//!
//! `FACTS` gives the place of each number in the code, and `NOT_OURS` lists numbers that the code does not
//! have. A number that is in neither fails a test, so that its author adds the source.

mod facts;
mod quantity;

use std::ops::Range;
use std::path::Path;

use facts::{FACTS, NOT_OURS};
use quantity::Quantity;

const GUIDE: &str = include_str!("../../../../docs/operations.md");

/// A number of the guide, and its place in the code.
struct Fact {
    /// Part of a sentence, with the number in braces, which the guide does not have.
    says: &'static str,
    holds: Relation,
}

/// How the guide's number follows from the code's.
enum Relation {
    Is(Place),
    /// The guide promises a limit, and the code stays below it.
    Within(Place),
    Sum(Place, Place),
    Product(Place, Place),
    /// The code's number is this multiple of the guide's.
    Times(u64, Place),
    /// One of the two is a bare number of this unit.
    In(&'static str, Place),
    /// The guide counts one more than the code.
    OneMore(Place),
    /// The guide's number is this multiple of the code's.
    Multiple(u64, Place),
}

/// The place of a number in the code.
enum Place {
    /// A constant in a source file.
    Const(&'static str, &'static str),
    /// The number after this text in a file.
    Behind(&'static str, &'static str),
    /// The default of a setting.
    Default(&'static str),
}

impl Place {
    fn quantity(&self) -> Quantity {
        let (file, text, value) = match *self {
            Self::Const(file, name) => {
                let (text, mark) = (source(file), format!("const {name}: "));
                let declared = behind(&text, &mark, file);
                (file, mark, behind(declared, " = ", file).to_owned())
            }
            Self::Behind(file, mark) => (file, mark.to_owned(), behind(&source(file), mark, file).to_owned()),
            Self::Default(setting) => {
                let file = "crates/server/src/settings/catalog.rs";
                let (text, mark) = (source(file), format!("key: \"{setting}\""));
                let declared = behind(&text, &mark, file);
                (file, mark, behind(declared, "default: Some(\"", file).to_owned())
            }
        };
        Quantity::of_code(&value).unwrap_or_else(|| panic!("no number behind `{text}` in {file}"))
    }
}

/// A file of the repository.
fn source(file: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::fs::read_to_string(root.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// The text after the first `mark`.
fn behind<'t>(text: &'t str, mark: &str, file: &str) -> &'t str {
    text.split_once(mark)
        .unwrap_or_else(|| panic!("{file} no longer has `{mark}`; correct the table of facts"))
        .1
}

/// The prose of the guide without its blocks of code, in one line.
fn prose() -> String {
    let texts: Vec<&str> = GUIDE.split("\n```").step_by(2).collect();
    texts.join(" ").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The places of a part of a sentence. There is at least one.
fn ranges(prose: &str, part: &str) -> Vec<Range<usize>> {
    let found: Vec<_> = prose.match_indices(part).map(|(at, _)| at..at + part.len()).collect();
    assert!(!found.is_empty(), "the guide no longer says: {part}");
    found
}

#[test]
fn every_number_of_the_guide_equals_that_of_the_code() {
    let prose = prose();
    for Fact { says, holds } in FACTS {
        ranges(&prose, &says.replace(['{', '}'], ""));
        let (_, number) = says.split_once('{').unwrap();
        let (number, _) = number.split_once('}').unwrap();
        let said = Quantity::of_prose(number).unwrap_or_else(|| panic!("{number} is no number: {says}"));
        let (said, is) = match holds {
            Relation::Is(place) => (said, place.quantity()),
            Relation::Within(place) => {
                assert!(place.quantity() < said, "{says}: the code says {:?}", place.quantity());
                continue;
            }
            Relation::In(unit, place) => (said.or_number_of(unit), place.quantity().or_number_of(unit)),
            Relation::OneMore(place) => (said, place.quantity().plus(Quantity::Count(1))),
            Relation::Sum(one, other) => (said, one.quantity().plus(other.quantity())),
            Relation::Product(one, other) => (said, one.quantity().times(other.quantity())),
            Relation::Times(factor, place) => (said.times(Quantity::Count(*factor)), place.quantity()),
            Relation::Multiple(factor, place) => (said, place.quantity().times(Quantity::Count(*factor))),
        };
        assert_eq!(said, is, "the guide says: {says}; the code says {is:?}");
    }
}

#[test]
fn every_number_of_the_guide_has_a_known_source() {
    let prose = prose();
    let facts = FACTS.iter().map(|fact| fact.says.replace(['{', '}'], ""));
    let known: Vec<Range<usize>> = facts
        .chain(NOT_OURS.iter().map(|part| (*part).to_owned()))
        .flat_map(|part| ranges(&prose, &part))
        .collect();
    let unknown: Vec<&str> = numbers(&prose)
        .into_iter()
        .filter(|number| !known.iter().any(|known| known.start <= number.start && number.end <= known.end))
        .map(|number| {
            let begin = prose[..number.start].char_indices().rev().nth(60).map_or(0, |(at, _)| at);
            let end =
                prose[number.end..].char_indices().nth(40).map_or(prose.len(), |(at, _)| number.end + at);
            &prose[begin..end]
        })
        .collect();
    assert!(unknown.is_empty(), "add the source of these numbers to the table of facts: {unknown:#?}");
}

/// The places of numbers, in figures and in words, without HTTP statuses and parts of names.
fn numbers(prose: &str) -> Vec<Range<usize>> {
    const WORDS: [&str; 19] = [
        "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "twelve", "twenty", "thirty",
        "sixty", "hundred", "thousand", "million", "half", "tenth", "twice",
    ];
    const UNITS: [&str; 8] = ["ms", "second", "seconds", "minute", "minutes", "hour", "hours", "day"];
    const STATUSES: [&str; 11] =
        ["200", "302", "400", "401", "403", "404", "410", "429", "500", "502", "503"];
    let separates = |c: char| !(c.is_alphanumeric() || matches!(c, '_' | ',' | '.' | '%' | '-' | ':'));
    let (mut tokens, mut at) = (Vec::new(), 0);
    for piece in prose.split_inclusive(separates) {
        let token = piece.trim_end_matches(separates).trim_end_matches([',', '.', ':', '-']);
        if !token.is_empty() {
            tokens.push(at..at + token.len());
        }
        at += piece.len();
    }
    let is_number = |token: &str, next: &str| {
        let is_time = UNITS.contains(&next);
        let word = token.to_lowercase();
        let is_one = ["a", "an", "one"].contains(&word.as_str()) && is_time;
        let is_status = STATUSES.contains(&token) && !is_time;
        is_one
            || WORDS.contains(&word.as_str())
            || (token.starts_with(|c: char| c.is_ascii_digit()) && !is_status)
    };
    tokens
        .iter()
        .enumerate()
        .filter(|(index, token)| {
            let next = tokens.get(index + 1).map_or("", |next| &prose[next.clone()]);
            is_number(&prose[(*token).clone()], next)
        })
        .map(|(_, token)| token.clone())
        .collect()
}
