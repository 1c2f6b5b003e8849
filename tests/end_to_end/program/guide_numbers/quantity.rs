//! Parses numbers, as the guide words them and as the code spells them.

/// A number, or a length of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
pub(super) enum Quantity {
    /// A number of things.
    Count(u64),
    /// A length of time in microseconds.
    Time(u64),
}

const SECOND: u64 = 1_000_000;

impl Quantity {
    /// Parses the words of the guide: `64`, `ten thousand`, `5 seconds`, `half a second`, `four times a
    /// second`.
    pub(super) fn of_prose(text: &str) -> Option<Self> {
        if let Some((times, unit)) = text.split_once(" times a ") {
            return Some(Self::Time(micros(unit)? / number(times)?));
        }
        for (fraction, divisor) in [("half a", 2), ("half an", 2), ("a tenth of a", 10)] {
            if let Some(unit) = text.strip_prefix(fraction).and_then(|rest| rest.strip_prefix(' ')) {
                return Some(Self::Time(micros(unit)? / divisor));
            }
        }
        if let Some(unit) = micros(text) {
            return Some(Self::Time(unit));
        }
        match text.rsplit_once(' ').and_then(|(count, unit)| Some((number(count)?, micros(unit)?))) {
            Some((count, unit)) => Some(Self::Time(count * unit)),
            None => number(text).map(Self::Count),
        }
    }

    /// Parses the beginning of a source text: `1_000`, `Duration::from_secs(5)`, `5s`,
    /// `NonZeroU32::MIN.saturating_add(4)`.
    pub(super) fn of_code(text: &str) -> Option<Self> {
        let text = text.trim_start_matches('"');
        if let Some(rest) = text.strip_prefix("Duration::from_") {
            let (unit, rest) = rest.split_once('(')?;
            return Some(Self::Time(micros(unit)? * leading_number(rest)?.0));
        }
        if text.starts_with("NonZero") {
            let (_, rest) = text.split_once("::MIN.saturating_add(")?;
            return Some(Self::Count(leading_number(rest)?.0 + 1));
        }
        let (count, rest) = leading_number(text)?;
        let unit: String = rest.chars().take_while(char::is_ascii_alphabetic).collect();
        Some(micros(&unit).map_or(Self::Count(count), |unit| Self::Time(count * unit)))
    }

    /// A bare number as a length of time in this unit.
    pub(super) fn or_number_of(self, unit: &str) -> Self {
        match self {
            Self::Time(_) => self,
            Self::Count(count) => Self::Time(count * micros(unit).expect("a unit of time")),
        }
    }

    pub(super) fn plus(self, other: Self) -> Self {
        match (self, other) {
            (Self::Count(one), Self::Count(other)) => Self::Count(one + other),
            (Self::Time(one), Self::Time(other)) => Self::Time(one + other),
            mixed => panic!("{mixed:?} cannot be added"),
        }
    }

    pub(super) fn times(self, factor: Self) -> Self {
        match (self, factor) {
            (Self::Count(one), Self::Count(factor)) => Self::Count(one * factor),
            (Self::Time(one), Self::Count(factor)) => Self::Time(one * factor),
            mixed => panic!("{mixed:?} cannot be multiplied"),
        }
    }
}

/// The microseconds of a unit of time.
fn micros(unit: &str) -> Option<u64> {
    Some(match unit {
        "ms" | "millis" => SECOND / 1_000,
        "s" | "sec" | "secs" | "second" | "seconds" => SECOND,
        "min" | "mins" | "minute" | "minutes" => 60 * SECOND,
        "h" | "hours" | "hour" => 3_600 * SECOND,
        "day" | "days" => 86_400 * SECOND,
        _ => return None,
    })
}

/// A number in figures or in words.
fn number(text: &str) -> Option<u64> {
    const WORDS: [&str; 11] =
        ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
    let text = text.to_lowercase();
    match text.as_str() {
        "a" | "an" => return Some(1),
        "thirty" => return Some(30),
        _ => {}
    }
    if let Some(thousands) = text.strip_suffix(" thousand") {
        return Some(number(thousands)? * 1_000);
    }
    let word = WORDS.iter().position(|word| *word == text).and_then(|number| u64::try_from(number).ok());
    word.or_else(|| text.replace(',', "").parse().ok())
}

/// The number that a text begins with, and what follows it.
fn leading_number(text: &str) -> Option<(u64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '_').unwrap_or(text.len());
    Some((text[..end].replace('_', "").parse().ok()?, &text[end..]))
}

#[test]
fn quantities_are_read_in_words_and_in_code() {
    for (prose, code) in [
        ("64", "64;"),
        ("ten thousand", "10_000"),
        ("65,536", "65536\n"),
        ("half a second", "Duration::from_millis(500)"),
        ("a tenth of a second", "Duration::from_millis(100)"),
        ("four times a second", "Duration::from_millis(250)"),
        ("5 seconds", "5s\""),
        ("an hour", "Duration::from_mins(60)"),
        ("three days", "Duration::from_hours(72)"),
        ("Five", "NonZeroU32::MIN.saturating_add(4);"),
    ] {
        let (said, is) = (Quantity::of_prose(prose), Quantity::of_code(code));
        assert!(said.is_some() && said == is, "{prose}: {said:?}, {code}: {is:?}");
    }
    assert_eq!(Quantity::of_prose("some seconds"), None);
    assert_ne!(Quantity::of_prose("5 seconds"), Quantity::of_code("5;"));
}
