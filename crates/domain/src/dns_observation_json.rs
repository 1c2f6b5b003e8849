//! The stored format of look-up results: a JSON array of records.

use serde_json::{Value, json};

use crate::dns_instruction::DnsRecordType;
use crate::dns_observation::{
    DnsObservation, ObservedText, RecordFinding, RecordMistake, RecordStatus, SeenRecord,
};
use crate::timestamp::Timestamp;

impl DnsObservation {
    /// The records in their stored format. The instant is stored beside them.
    #[must_use]
    pub fn records_to_json(&self) -> String {
        let record = |record: &SeenRecord| {
            let SeenRecord { record_type, value, finding: RecordFinding { status, mistake, observed } } =
                record;
            let observed: Vec<&str> = observed.iter().map(ObservedText::as_str).collect();
            let mut stored = json!({
                "type": record_type.as_str(),
                "value": value,
                "status": status.as_str(),
                "observed": observed,
            });
            if let (Some(mistake), Some(fields)) = (mistake, stored.as_object_mut()) {
                fields.insert("mistake".to_owned(), mistake.as_str().into());
            }
            stored
        };
        Value::Array(self.records.iter().map(record).collect()).to_string()
    }

    /// Reads stored records. An unreadable record, for example of a newer version, is left out and reads as
    /// `unknown`. The records only explain a domain, so they must not keep it from being shown or checked.
    #[must_use]
    pub fn from_stored(checked_at: Timestamp, records: Option<&str>) -> Self {
        let records: Vec<Value> =
            records.and_then(|json| serde_json::from_str(json).ok()).unwrap_or_default();
        Self { checked_at, records: records.iter().filter_map(record).collect() }
    }
}

fn record(json: &Value) -> Option<SeenRecord> {
    let text = |name| json.get(name)?.as_str();
    let word = text("type")?;
    let record_type = DnsRecordType::ALL.into_iter().find(|record_type| record_type.as_str() == word)?;
    let observed = json.get("observed")?.as_array()?.iter().filter_map(Value::as_str);
    let finding = RecordFinding::new(RecordStatus::parse(text("status")?), observed)
        .explained_by(text("mistake").and_then(RecordMistake::parse));
    Some(SeenRecord { record_type, value: text("value")?.to_owned(), finding })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(records: Option<&str>) -> Vec<SeenRecord> {
        DnsObservation::from_stored(Timestamp::EPOCH, records).records
    }

    #[test]
    fn d65_observations_read_back_as_they_were_stored() {
        let mut records = Vec::new();
        for record_type in DnsRecordType::ALL {
            for word in ["unknown", "found", "missing", "wrong"] {
                let finding = RecordFinding::new(RecordStatus::parse(word), ["a \"b\" \\", "\0", "ü🦀"]);
                records.push(SeenRecord { record_type, value: word.to_owned(), finding });
            }
            for mistake in RecordMistake::ALL {
                let finding = RecordFinding::new(RecordStatus::Wrong, ["a"]).explained_by(Some(mistake));
                records.push(SeenRecord { record_type, value: mistake.as_str().to_owned(), finding });
            }
        }
        let observation = DnsObservation { checked_at: Timestamp::LAST, records };
        let json = observation.records_to_json();
        assert_eq!(DnsObservation::from_stored(Timestamp::LAST, Some(&json)), observation);
    }

    /// Rows of older and newer versions, and damaged rows.
    #[test]
    fn d65_unreadable_records_are_left_out() {
        for json in [None, Some(""), Some("rubbish"), Some("{}"), Some("[]"), Some("[1, null, {}]")] {
            assert_eq!(read(json), [], "{json:?}");
        }
        let json = r#"[
            {"type": "HTTPS", "value": "a", "status": "found", "observed": []},
            {"type": "TXT", "value": "b", "status": "too_old", "observed": ["x", 7], "since": 1, "mistake": "of_a_newer_version"}
        ]"#;
        let finding = RecordFinding::new(RecordStatus::Unknown, ["x"]);
        let expected = SeenRecord { record_type: DnsRecordType::Txt, value: "b".to_owned(), finding };
        assert_eq!(read(Some(json)), [expected]);
    }
}
