//! Records that are written read back the same.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests fail by panicking"
)]

use proptest::prelude::*;
use signpost_app::transfer::{Field, FieldValue, Imported, ImportedRow, Record};
use signpost_domain::{CountryCode, ErrorCode, GeoBlocklist, Landing, Link, Placement, Redirect};
use signpost_link_files::{FileFormat, RecordReader, RecordWriter, ReportWriter};
use signpost_port_contracts::samples;

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
        let none_blocked = record.get(field) == Some(&FieldValue::Countries(vec![]));
        if let Some(value) = record.get(field).filter(|_| !nothing && !none_blocked) {
            kept.set(field, value.clone());
        }
    }
    kept
}

fn links() -> Vec<Link> {
    let countries = ["DE", "AT"].map(|code| CountryCode::parse(code).unwrap()).to_vec();
    vec![
        samples::redirect("plain").into(),
        Redirect {
            note: Some(samples::note("")),
            is_active: false,
            group_id: Some(samples::group("Spring").id),
            ..samples::redirect("full")
        }
        .with(|content| content.geo_blocklist = GeoBlocklist::new(countries))
        .into(),
        Redirect { placement: samples::on_custom("go.example.com", None), ..samples::redirect("root") }
            .into(),
        Landing { placement: samples::on_custom("go.example.com", Some("x")), ..samples::landing("x") }
            .into(),
        Landing { placement: samples::lost(None), ..samples::landing("lost") }.into(),
        Redirect { placement: samples::lost(Some("was")), ..samples::redirect("was") }.into(),
    ]
}

#[test]
fn every_kind_of_record_reads_back_from_both_formats() {
    let mut records: Vec<Record> = links().iter().map(Record::from).collect();
    records.push(Record::from(&samples::group("Spring, \"summer\"")));
    for format in BOTH {
        let read: Vec<_> = read(format, &written(format, &records)).iter().map(without_nulls).collect();
        assert_eq!(read, records.iter().map(without_nulls).collect::<Vec<_>>(), "{}", format.as_str());
    }
    let exact = read(FileFormat::JsonLines, &written(FileFormat::JsonLines, &records));
    assert_eq!(exact, records, "JSON lines hold the record exactly");
}

/// The form of the files is a promise to those who keep them.
#[test]
fn the_form_of_the_files_is_stable() {
    let link = samples::redirect("plain");
    let record = Record::from(&link.clone().into_any());
    let (id, at) = (link.id, link.created_at);
    let table = String::from_utf8(written(FileFormat::Csv, std::slice::from_ref(&record))).unwrap();
    assert_eq!(
        table,
        format!(
            "object,id,domain,slug,is_lost,name,title,target_url,note,group_id,is_active,antibot_enabled,\
             geo_blocklists,analytics_enabled,created_at,updated_at\n\
             redirect,{id},,plain,,plain,,https://example.com/plain,,,true,false,,true,{at},{at}\n"
        )
    );
    let lines = String::from_utf8(written(FileFormat::JsonLines, &[record])).unwrap();
    assert_eq!(
        lines,
        format!(
            "{{\"object\":\"redirect\",\"id\":\"{id}\",\"domain\":null,\"slug\":\"plain\",\"name\":\"plain\",\
             \"target_url\":\"https://example.com/plain\",\"note\":null,\"group_id\":null,\"is_active\":true,\
             \"antibot_enabled\":false,\"geo_blocklists\":{{\"countries\":[]}},\"analytics_enabled\":true,\
             \"created_at\":\"{at}\",\"updated_at\":\"{at}\"}}\n"
        )
    );
}

#[test]
fn an_empty_export_is_a_header_or_nothing() {
    assert_eq!(written(FileFormat::JsonLines, &[]), b"");
    assert!(read(FileFormat::Csv, &written(FileFormat::Csv, &[])).is_empty());
}

#[test]
fn a_report_has_a_row_for_each_row_of_the_file() {
    let id = samples::group("Spring").id;
    let rows = [
        ImportedRow {
            line: 2,
            outcome: Imported::Created,
            id: Some(signpost_app::transfer::ObjectId::Group(id)),
            url: None,
        },
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
    let second: serde_json::Value = serde_json::from_str(lines.lines().nth(1).unwrap()).unwrap();
    assert_eq!(
        second,
        serde_json::json!({
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
