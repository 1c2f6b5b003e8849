//! What look-ups saw where the records of a custom domain should be (D65).

use std::fmt;

use crate::dns_instruction::{DnsInstruction, DnsRecordType};
use crate::timestamp::Timestamp;

/// Text from a stranger's DNS zone, safe to store and to show: at most [`MAX_CHARS`](Self::MAX_CHARS) characters, each
/// visible or a plain space.
///
/// Control characters and invisible format characters are replaced by U+FFFD. A terminal would obey the former, and
/// PostgreSQL stores no U+0000. The latter reorder or hide text, so that a wrong value could look right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObservedText(String);

impl ObservedText {
    /// The greatest length, in Unicode scalar values (D9).
    pub const MAX_CHARS: usize = 255;

    /// As much of `text` as is shown.
    ///
    /// ```
    /// use signpost_domain::ObservedText;
    ///
    /// assert_eq!(ObservedText::of("v=spf1 -all").as_str(), "v=spf1 -all");
    /// assert_eq!(ObservedText::of("\u{1b}[2J").as_str(), "\u{fffd}[2J");
    /// ```
    #[must_use]
    pub fn of(text: &str) -> Self {
        let shown = |char: char| if is_hidden(char) { char::REPLACEMENT_CHARACTER } else { char };
        Self(text.chars().take(Self::MAX_CHARS).map(shown).collect())
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ObservedText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether a character controls or hides what stands around it.
fn is_hidden(char: char) -> bool {
    let is_format = matches!(
        char,
        '\u{ad}'
            | '\u{61c}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e0fff}'
    );
    char.is_control() || is_format
}

/// What a look-up says about one record of the instructions. An open list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RecordStatus {
    /// No look-up has answered this yet.
    #[default]
    Unknown,
    /// The record is there, or another one that does the same.
    Found,
    /// Nothing is there.
    Missing,
    /// Something else is there.
    Wrong,
}

impl RecordStatus {
    const ALL: [Self; 4] = [Self::Unknown, Self::Found, Self::Missing, Self::Wrong];

    /// The word that answers and stores use.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Found => "found",
            Self::Missing => "missing",
            Self::Wrong => "wrong",
        }
    }

    /// Reads a stored word. What only a newer version knows is unknown to this one.
    #[must_use]
    pub fn parse(word: &str) -> Self {
        Self::ALL.into_iter().find(|status| status.as_str() == word).unwrap_or_default()
    }
}

/// What a look-up saw where one record should be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecordFinding {
    /// What follows from it.
    pub status: RecordStatus,
    /// The values, at most [`MAX_VALUES`](Self::MAX_VALUES).
    pub observed: Vec<ObservedText>,
}

impl RecordFinding {
    /// How many values are kept.
    pub const MAX_VALUES: usize = 5;

    /// A finding with the first of these values.
    pub fn new<T: AsRef<str>>(status: RecordStatus, values: impl IntoIterator<Item = T>) -> Self {
        let observed = values.into_iter().take(Self::MAX_VALUES);
        Self { status, observed: observed.map(|value| ObservedText::of(value.as_ref())).collect() }
    }
}

/// A record of the instructions, and what a look-up saw in its place.
///
/// The record is kept by its type and value. If the operator moves the edge, the instructions change, and what was seen in
/// place of the old records says nothing about the new ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenRecord {
    /// The type that was asked of the owner.
    pub record_type: DnsRecordType,
    /// The value that was asked of the owner.
    pub value: String,
    /// What was there.
    pub finding: RecordFinding,
}

/// What the last look-up of each record saw, and when the last of them was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DnsObservation {
    /// When DNS last answered about the domain.
    pub checked_at: Timestamp,
    /// The records that were looked up.
    pub records: Vec<SeenRecord>,
}

impl DnsObservation {
    /// What is known after these records were seen at `now`. A look-up that leaves out the proof, or the records that point
    /// to the edge, leaves what is known about them as it was.
    #[must_use]
    pub fn after(previous: Option<&Self>, seen: &[SeenRecord], now: Timestamp) -> Self {
        let is_proof = |record: &SeenRecord| record.record_type == DnsRecordType::Txt;
        let is_repeated = |old: &SeenRecord| seen.iter().any(|new| is_proof(new) == is_proof(old));
        let kept = previous.into_iter().flat_map(|previous| &previous.records);
        let kept = kept.filter(|old| !is_repeated(old));
        Self { checked_at: now, records: seen.iter().chain(kept).cloned().collect() }
    }

    /// What is known about a record of the instructions.
    #[must_use]
    pub fn finding_for(&self, instruction: &DnsInstruction) -> RecordFinding {
        let is_meant = |record: &&SeenRecord| {
            record.record_type == instruction.record_type && record.value == instruction.value
        };
        self.records.iter().find(is_meant).map(|record| record.finding.clone()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn seen(record_type: DnsRecordType, value: &str, status: RecordStatus) -> SeenRecord {
        SeenRecord { record_type, value: value.to_owned(), finding: RecordFinding::new(status, [value]) }
    }

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_unix_millis(millis).unwrap()
    }

    #[test]
    fn d65_hidden_characters_are_replaced() {
        for hidden in ['\0', '\n', '\u{7f}', '\u{9b}', '\u{200b}', '\u{202e}', '\u{2066}', '\u{e0041}'] {
            assert_eq!(ObservedText::of(&format!("a{hidden}b")).as_str(), "a\u{fffd}b", "{hidden:?}");
        }
        assert_eq!(ObservedText::of("a ü\u{301} 🦀 \"").as_str(), "a ü\u{301} 🦀 \"");
    }

    #[test]
    fn d65_values_are_bounded_in_number_and_length() {
        let finding = RecordFinding::new(RecordStatus::Wrong, vec!["🦀".repeat(256); 6]);
        assert_eq!(finding.observed, vec![ObservedText::of(&"🦀".repeat(255)); 5]);
    }

    #[test]
    fn d65_a_look_up_leaves_other_records_as_they_were() {
        let proof = seen(DnsRecordType::Txt, "proof", RecordStatus::Found);
        let old = seen(DnsRecordType::Cname, "old", RecordStatus::Wrong);
        let first = DnsObservation::after(None, &[proof.clone(), old], at(1));
        let new = seen(DnsRecordType::A, "192.0.2.1", RecordStatus::Missing);
        let second = DnsObservation::after(Some(&first), std::slice::from_ref(&new), at(2));
        assert_eq!(second, DnsObservation { checked_at: at(2), records: vec![new, proof] });
    }

    /// An operator who moves the edge changes the instructions.
    #[test]
    fn d65_a_finding_is_about_one_record_only() {
        let records = vec![seen(DnsRecordType::A, "192.0.2.1", RecordStatus::Found)];
        let observation = DnsObservation { checked_at: at(0), records };
        let instruction = |record_type, value: &str| DnsInstruction {
            record_type,
            name: "shop.com".to_owned(),
            value: value.to_owned(),
            purpose: "",
        };
        for (record_type, value, status) in [
            (DnsRecordType::A, "192.0.2.1", RecordStatus::Found),
            (DnsRecordType::A, "192.0.2.2", RecordStatus::Unknown),
            (DnsRecordType::Cname, "192.0.2.1", RecordStatus::Unknown),
        ] {
            assert_eq!(observation.finding_for(&instruction(record_type, value)).status, status, "{value}");
        }
    }

    proptest! {
        #[test]
        fn d65_observed_text_is_within_its_bounds(text in "(?s).{0,300}") {
            let observed = ObservedText::of(&text);
            prop_assert_eq!(observed.as_str().chars().count(), text.chars().count().min(255));
            prop_assert!(!observed.as_str().chars().any(is_hidden));
            prop_assert_eq!(ObservedText::of(observed.as_str()), observed);
        }
    }
}
