//! Records that are written read back the same.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests fail by panicking"
)]

use proptest::prelude::*;
use serde_json::{Value, json};
use signpost_app::transfer::{Field, FieldValue, Imported, ImportedRow, Record};
use signpost_domain::{ErrorCode, Link, Placement, Redirect};
use signpost_link_files::{FileFormat, RecordReader, RecordWriter, ReportWriter};
use signpost_port_contracts::{one_of_each, samples};

const BOTH: [FileFormat; 2] = [FileFormat::Csv, FileFormat::JsonLines];

fn written(format: FileFormat, records: &[Record]) -> Vec<u8> {
    let mut writer = RecordWriter::new(format, vec![]).unwrap();
    for record in records {
        writer.write(record).unwrap();
    }
    writer.finish().unwrap()
}

fn read(format: FileFormat, bytes: &[u8]) -> Vec<Record> {
    let mut reader = RecordReader::open(format, bytes).unwrap();
    let mut records = vec![];
    while let Some(row) = reader.next_row().unwrap() {
        records.push(row.record.unwrap());
    }
    records
}

/// The record without the nulls that empty cells add for fields that its kind does not have.
fn without_nulls(record: &Record) -> Record {
    let mut kept = Record::default();
    for field in Field::ALL {
        let nothing = match field {
            Field::Slug => false,
            _ => matches!(record.get(field), Some(FieldValue::Null)),
        };
        let is_empty = [FieldValue::Countries(vec![]), FieldValue::Names(vec![])]
            .map(Some)
            .contains(&record.get(field).cloned());
        if let Some(value) = record.get(field).filter(|_| !nothing && !is_empty) {
            kept.set(field, value.clone());
        }
    }
    kept
}

#[test]
fn every_kind_of_record_reads_back_from_both_formats() {
    let mut records: Vec<Record> = one_of_each::links().iter().map(Record::from).collect();
    records.push(Record::from(&samples::group("Spring, \"summer\"")));
    for format in BOTH {
        let read: Vec<_> = read(format, &written(format, &records)).iter().map(without_nulls).collect();
        assert_eq!(read, records.iter().map(without_nulls).collect::<Vec<_>>(), "{}", format.as_str());
    }
    let exact = read(FileFormat::JsonLines, &written(FileFormat::JsonLines, &records));
    assert_eq!(exact, records, "JSON lines hold the record exactly");
}

/// The form of the files is a promise to those who keep them: a later version may add fields.
#[test]
fn the_form_of_the_files_is_stable() {
    let link = samples::redirect("plain");
    let record = Record::from(&link.clone().into_any());
    let (id, at) = (link.id.to_string(), link.created_at.to_string());
    let table = String::from_utf8(written(FileFormat::Csv, std::slice::from_ref(&record))).unwrap();
    let [names, cells] = table.lines().collect::<Vec<_>>()[..] else { panic!("{table}") };
    let cell = |name: &str| names.split(',').zip(cells.split(',')).find(|(one, _)| *one == name);
    let lines = String::from_utf8(written(FileFormat::JsonLines, &[record])).unwrap();
    let object: Value = serde_json::from_str(&lines).unwrap();
    assert_eq!(lines.matches('\n').count(), 1, "{lines}");
    for (name, in_table, in_object) in [
        ("object", "redirect", json!("redirect")),
        ("id", &id, json!(id)),
        ("domain", "", json!(null)),
        ("slug", "plain", json!("plain")),
        ("is_lost", "", json!(null)),
        ("name", "plain", json!("plain")),
        ("title", "", json!(null)),
        ("target_url", "https://example.com/plain", json!("https://example.com/plain")),
        ("note", "", json!(null)),
        ("group_id", "", json!(null)),
        ("tags", "", json!([])),
        ("is_active", "true", json!(true)),
        ("starts_at", "", json!(null)),
        ("expires_at", "", json!(null)),
        ("fallback_url", "", json!(null)),
        ("redirect_status", "302", json!(302)),
        ("forward_query", "false", json!(false)),
        ("utm_source", "", json!(null)),
        ("utm_medium", "", json!(null)),
        ("utm_campaign", "", json!(null)),
        ("utm_term", "", json!(null)),
        ("utm_content", "", json!(null)),
        ("max_clicks", "", json!(null)),
        ("clicks_left", "", json!(null)),
        ("rules", "", json!(null)),
        ("split_key", "", json!(null)),
        ("preview_title", "", json!(null)),
        ("preview_description", "", json!(null)),
        ("preview_image_url", "", json!(null)),
        ("antibot_enabled", "false", json!(false)),
        ("geo_blocklists", "", json!({"countries": []})),
        ("analytics_enabled", "true", json!(true)),
        ("created_at", &at, json!(at)),
        ("updated_at", &at, json!(at)),
    ] {
        assert_eq!((cell(name), &object[name]), (Some((name, in_table)), &in_object));
    }
    for absent in ["is_lost", "title"] {
        assert!(object.get(absent).is_none(), "{lines}");
    }
}

#[test]
fn an_empty_export_is_a_header_or_nothing() {
    assert_eq!(written(FileFormat::JsonLines, &[]), b"");
    assert!(read(FileFormat::Csv, &written(FileFormat::Csv, &[])).is_empty());
}

#[test]
fn a_report_has_a_row_for_each_row_that_an_import_reads() {
    let id = samples::group("Spring").id;
    let rows = [
        ImportedRow {
            line: 2,
            outcome: Imported::Created,
            id: Some(signpost_app::transfer::ObjectId::Group(id)),
            url: None,
        },
        ImportedRow { line: 3, outcome: Imported::Ignored, id: None, url: None },
        ImportedRow {
            line: 7,
            outcome: Imported::Failed {
                code: ErrorCode::SlugAlreadyTaken,
                message: "No, \"no\".".to_owned(),
            },
            id: None,
            url: None,
        },
        ImportedRow {
            line: 9,
            outcome: Imported::Conflict { differing: vec![Field::Note, Field::TargetUrl] },
            id: None,
            url: Some("https://go.example.com/a".to_owned()),
        },
    ];
    let report = |format| {
        let mut bytes = vec![];
        let mut writer = ReportWriter::new(format, &mut bytes);
        writer.write(&rows[..1]).unwrap();
        writer.write(&rows[1..]).unwrap();
        drop(writer);
        String::from_utf8(bytes).unwrap()
    };
    assert_eq!(
        report(FileFormat::Csv),
        format!(
            "row,outcome,id,url,code,message\n2,created,{id},,,\n\
             7,failed,,,slug_already_taken,\"No, \"\"no\"\".\"\n\
             9,conflict,,https://go.example.com/a,,\"It is there already, with other values of `note`, `target_url`.\"\n"
        )
    );
    let lines = report(FileFormat::JsonLines);
    let second: Value = serde_json::from_str(lines.lines().nth(1).unwrap()).unwrap();
    assert_eq!(
        second,
        json!({
            "row": 7, "outcome": "failed", "id": null, "url": null, "code": "slug_already_taken", "message": "No, \"no\"."
        })
    );
}

proptest! {
    /// Both formats keep any text that the domain accepts in a link.
    #[test]
    fn any_text_reads_back(note in ".{0,40}", name in "[^\\p{Cc}]{1,40}", slug in "[A-Za-z0-9_-]{1,20}") {
        let parsed = (signpost_domain::Note::parse(&note), signpost_domain::Name::parse(&name));
        prop_assume!(parsed.0.is_ok() && parsed.1.is_ok());
        let (note, name) = (parsed.0.unwrap(), parsed.1.unwrap());
        let placement = Placement::System { slug: samples::slug(&slug) };
        let link: Link = Redirect { note: Some(note), name, placement, ..samples::redirect("x") }.into();
        let record = Record::from(&link);
        for format in BOTH {
            let read = read(format, &written(format, std::slice::from_ref(&record)));
            prop_assert_eq!(without_nulls(&read[0]), without_nulls(&record));
        }
    }

    /// Reading any bytes ends, and returns a result for each row.
    #[test]
    fn any_bytes_are_read_to_their_end(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        for format in BOTH {
            let table = [b"slug,note\n".as_slice(), &bytes].concat();
            let mut reader = RecordReader::open(format, table.as_slice()).unwrap();
            let mut last = 0;
            while let Some(row) = reader.next_row().unwrap() {
                prop_assert!(row.line > last);
                last = row.line;
            }
        }
    }
}
