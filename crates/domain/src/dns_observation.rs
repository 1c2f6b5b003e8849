//! What look-ups found in place of the records of a custom domain (D65).

use std::fmt;

use crate::dns_instruction::{DnsInstruction, DnsRecordType};
use crate::timestamp::Timestamp;

/// Text from someone else's DNS zone, safe to store and show: at most [`MAX_CHARS`](Self::MAX_CHARS)
/// characters, all visible or plain spaces.
///
/// Control characters and invisible format characters are replaced by U+FFFD. A terminal would obey control
/// characters, and PostgreSQL cannot store U+0000. Format characters reorder or hide text, so that a wrong
/// value could look right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObservedText(String);

impl ObservedText {
    /// The greatest length, in Unicode scalar values (D9).
    pub const MAX_CHARS: usize = 255;

    /// The part of `text` that is shown.
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

/// Whether a character controls or hides the text around it.
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

/// What a look-up says about one record of the instructions. More statuses may be added.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RecordStatus {
    /// No look-up has been answered yet.
    #[default]
    Unknown,
    /// The record exists, or another one with the same effect.
    Found,
    /// No record exists.
    Missing,
    /// Another record exists.
    Wrong,
}

impl RecordStatus {
    const ALL: [Self; 4] = [Self::Unknown, Self::Found, Self::Missing, Self::Wrong];

    /// The word in API answers and stores.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Found => "found",
            Self::Missing => "missing",
            Self::Wrong => "wrong",
        }
    }

    /// Reads a stored word. A word of a newer version reads as unknown.
    #[must_use]
    pub fn parse(word: &str) -> Self {
        Self::ALL.into_iter().find(|status| status.as_str() == word).unwrap_or_default()
    }
}

/// A common mistake that explains why a record is not found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordMistake {
    /// The value has quotation marks around it.
    QuotationMarks,
    /// The record is at its name followed by the zone once more: the provider adds the zone to what one enters.
    ZoneTwice,
    /// The `TXT` record is at the hostname itself, without the first label of its name.
    AtTheHostname,
    /// The `TXT` value lacks its end.
    CutOff,
    /// The `TXT` value has other capital and small letters.
    LetterCase,
    /// The name of the `TXT` record is an alias.
    AliasInstead,
    /// A proxy of the provider answers in place of the record.
    Proxied,
    /// The name leads to another server, by address records that may be in the way.
    OldAddresses,
    /// The name is an alias of another name than that of the edge.
    OtherAlias,
    /// The `TXT` record has the token of an earlier connection, or of another account.
    OtherToken,
}

impl RecordMistake {
    /// All mistakes.
    pub const ALL: [Self; 10] = [
        Self::QuotationMarks,
        Self::ZoneTwice,
        Self::AtTheHostname,
        Self::CutOff,
        Self::LetterCase,
        Self::AliasInstead,
        Self::Proxied,
        Self::OldAddresses,
        Self::OtherAlias,
        Self::OtherToken,
    ];

    /// The word in stores.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::QuotationMarks => "quotation_marks",
            Self::ZoneTwice => "zone_twice",
            Self::AtTheHostname => "at_the_hostname",
            Self::CutOff => "cut_off",
            Self::LetterCase => "letter_case",
            Self::AliasInstead => "alias_instead",
            Self::Proxied => "proxied",
            Self::OldAddresses => "old_addresses",
            Self::OtherAlias => "other_alias",
            Self::OtherToken => "other_token",
        }
    }

    /// Reads a stored word. `None` for a word of a newer version.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mistake| mistake.as_str() == word)
    }

    /// What the account has to change about the record named `name`, in a sentence.
    ///
    /// ```
    /// use signpost_domain::RecordMistake;
    ///
    /// let hint = RecordMistake::ZoneTwice.hint("_signpost.go.example.com");
    /// assert!(hint.contains("`_signpost.go.example.com.example.com`"));
    /// assert!(hint.contains("enter `_signpost.go`"));
    /// ```
    #[must_use]
    pub fn hint(self, name: &str) -> String {
        match self {
            Self::QuotationMarks => {
                "The value in DNS has quotation marks around it: enter it without them.".to_owned()
            }
            Self::ZoneTwice => {
                let (label, zone) = label_and_zone(name);
                format!(
                    "The record is at `{name}.{zone}`, because the provider adds `{zone}` to the name: enter `{label}` as \
                     the name."
                )
            }
            Self::AtTheHostname => {
                let (label, zone) = label_and_zone(name);
                let hostname = name.split_once('.').map_or(name, |(_, hostname)| hostname);
                format!(
                    "The record is at `{hostname}`: enter `{label}` as the name if the provider adds `{zone}` to it; \
                     otherwise enter `{name}`."
                )
            }
            Self::CutOff => "The value in DNS lacks its end: copy the whole value, and enter it again.".to_owned(),
            Self::LetterCase => {
                "The value in DNS has other capital letters: enter it in small letters, exactly as shown here.".to_owned()
            }
            Self::AliasInstead => format!(
                "`{name}` is an alias of another name, so the record cannot be seen: delete its own CNAME record, and add this \
                 TXT record in its place; a CNAME record of a wildcard (`*`) may stay."
            ),
            Self::Proxied => format!(
                "A proxy of the provider answers for `{name}`, so the record cannot be seen: turn the proxy off for this \
                 name (“DNS only”, the grey cloud, at Cloudflare)."
            ),
            Self::OldAddresses => format!(
                "`{name}` leads to another server. Delete its own A and AAAA records, except those with an address that you were \
                 asked to add; records of a wildcard (`*`) may stay."
            ),
            Self::OtherAlias => format!(
                "`{name}` is an alias of another name, which does not lead here: delete its CNAME record, and add this record \
                 in its place."
            ),
            Self::OtherToken => format!(
                "`{name}` has the value of another account, or of an earlier connection of this hostname: add this value, or \
                 replace the other one if nobody needs it."
            ),
        }
    }
}

/// The part of a name that people enter where the provider adds the zone, and the zone.
fn label_and_zone(name: &str) -> (&str, &str) {
    let zone = psl::domain_str(name).unwrap_or(name);
    let label = name.strip_suffix(zone).map_or(name, |label| label.trim_end_matches('.'));
    (if label.is_empty() { "@" } else { label }, zone)
}

/// What a look-up found in place of one record.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecordFinding {
    /// The conclusion.
    pub status: RecordStatus,
    /// Why the record is not found, if a common mistake explains it.
    pub mistake: Option<RecordMistake>,
    /// The values, at most [`MAX_VALUES`](Self::MAX_VALUES).
    pub observed: Vec<ObservedText>,
}

impl RecordFinding {
    /// The maximum number of values.
    pub const MAX_VALUES: usize = 5;

    /// A finding with the first of these values.
    pub fn new<T: AsRef<str>>(status: RecordStatus, values: impl IntoIterator<Item = T>) -> Self {
        let observed = values.into_iter().take(Self::MAX_VALUES);
        Self {
            status,
            mistake: None,
            observed: observed.map(|value| ObservedText::of(value.as_ref())).collect(),
        }
    }
}

impl RecordFinding {
    /// The same finding, explained by a mistake unless the record was found.
    #[must_use]
    pub fn explained_by(self, mistake: Option<RecordMistake>) -> Self {
        let mistake = mistake.filter(|_| self.status != RecordStatus::Found);
        Self { mistake, ..self }
    }
}

/// A record of the instructions, and what a look-up found in its place.
///
/// The record is identified by its type and value. If the operator moves the edge, the instructions change,
/// and a finding for an old record says nothing about a new one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenRecord {
    /// The type of the record to add.
    pub record_type: DnsRecordType,
    /// The value of the record to add.
    pub value: String,
    /// What was found.
    pub finding: RecordFinding,
}

/// The results of the last look-up of each record, and the time of the latest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DnsObservation {
    /// When DNS last answered about the domain.
    pub checked_at: Timestamp,
    /// The records that were looked up.
    pub records: Vec<SeenRecord>,
}

impl DnsObservation {
    /// The observation after these records were found at `now`. If a look-up leaves out the proof, or the
    /// records that point to the edge, their earlier findings stay.
    #[must_use]
    pub fn after(previous: Option<&Self>, seen: &[SeenRecord], now: Timestamp) -> Self {
        let is_proof = |record: &SeenRecord| record.record_type == DnsRecordType::Txt;
        let is_repeated = |old: &SeenRecord| seen.iter().any(|new| is_proof(new) == is_proof(old));
        let kept = previous.into_iter().flat_map(|previous| &previous.records);
        let kept = kept.filter(|old| !is_repeated(old));
        Self { checked_at: now, records: seen.iter().chain(kept).cloned().collect() }
    }

    /// The finding for a record of the instructions.
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
    fn d65_a_look_up_does_not_change_other_records() {
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
