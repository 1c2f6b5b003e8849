//! Tables and JSON lines of other programs, and invalid ones.

use std::io::{self, Read};

use signpost_app::transfer::{Field, FieldValue, Record};
use signpost_link_files::{FileFormat, MAX_ROW_BYTES, OpenError, RecordReader};

use crate::rows::{csv, jsonl, outcomes, text};

fn header_error(bytes: &[u8]) -> String {
    match RecordReader::open(FileFormat::Csv, bytes) {
        Err(error @ OpenError::Header(_)) => error.to_string(),
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("the header was accepted"),
    }
}

#[test]
fn all_common_forms_of_a_table_read_the_same() {
    let expected = [(2, Ok("a")), (3, Ok("b"))];
    for table in [
        "slug,target_url\na,https://a.example\nb,https://b.example\n",
        "slug,target_url\r\na,https://a.example\r\nb,https://b.example",
        "slug,target_url\ra,https://a.example\rb,https://b.example\r",
        "\u{feff}slug,target_url\na,https://a.example\nb,https://b.example\n",
        "\u{feff}\"slug\",\"target_url\"\r\n\"a\",\"https://a.example\"\r\n\"b\",\"https://b.example\"\r\n",
        " slug , target_url\na,https://a.example\nb,https://b.example\n",
        "slug;target_url\na;https://a.example\nb;https://b.example\n",
        "slug\ttarget_url\r\na\thttps://a.example\r\nb\thttps://b.example\r\n",
        "\u{feff}\"slug\";\"target_url\"\r\"a\";\"https://a.example\"\r\"b\";\"https://b.example\"\r",
    ] {
        assert_eq!(outcomes(&csv(table)), expected, "{table:?}");
    }
}

#[test]
fn columns_may_come_in_any_order_and_blank_lines_are_skipped() {
    let rows = csv("target_url,slug\n\nhttps://a.example,a\n\r\n\nhttps://b.example,b\n\n");
    assert_eq!(outcomes(&rows), [(3, Ok("a")), (6, Ok("b"))]);
}

#[test]
fn a_row_has_the_number_of_its_first_line() {
    let rows = csv("slug,note\na,\"one\ntwo \"\"quoted\"\"\r\nthree, four\"\nb,x\n");
    assert_eq!(outcomes(&rows), [(2, Ok("a")), (5, Ok("b"))]);
    let record = rows[0].record.as_ref().unwrap();
    assert_eq!(text(record, Field::Note), Some("one\ntwo \"quoted\"\r\nthree, four"));
}

/// Only the header decides the separator, because addresses and notes contain commas and semicolons.
#[test]
fn the_header_decides_the_separator_of_the_rows() {
    let rows = csv("slug;note;geo_blocklists\na;one, two;DE,AT\nb;\"three; four\";\n");
    let notes: Vec<_> = rows.iter().map(|row| text(row.record.as_ref().unwrap(), Field::Note)).collect();
    assert_eq!(notes, [Some("one, two"), Some("three; four")]);
    let countries = FieldValue::Countries(vec!["DE".to_owned(), "AT".to_owned()]);
    assert_eq!(rows[0].record.as_ref().unwrap().get(Field::GeoBlocklists), Some(&countries));
    let rows = csv("slug,note\na,one; two\n");
    assert_eq!(text(rows[0].record.as_ref().unwrap(), Field::Note), Some("one; two"));
    assert_eq!(outcomes(&csv("slug\na\n")), [(2, Ok("a"))]);
    assert_eq!(outcomes(&csv("slug;note\na;b\nc;d;e\n"))[1], (3, Err("The row has 3 cells, the header 2.")));
}

#[test]
fn a_group_is_named_in_tables_and_in_json() {
    for rows in [csv("slug,group\na,Spring\nb,\n"), jsonl("{\"group\": \"Spring\"}\n{\"group\": null}\n")] {
        let groups = rows.iter().map(|row| row.record.as_ref().unwrap().get(Field::Group));
        let expected = [FieldValue::Text("Spring".to_owned()), FieldValue::Null];
        assert!(groups.eq(expected.iter().map(Some)), "{rows:?}");
    }
}

#[test]
fn d122_tags_are_named_in_tables_and_in_json() {
    let table = csv("slug,tags\na,\"Spring sale, mail\"\nb,\n");
    let lines = jsonl("{\"tags\": [\"Spring sale\", \"mail\"]}\n{\"tags\": null}\n");
    let names = FieldValue::Names(vec!["Spring sale".to_owned(), "mail".to_owned()]);
    for rows in [table, lines] {
        let tags = rows.iter().map(|row| row.record.as_ref().unwrap().get(Field::Tags));
        assert!(tags.eq([&names, &FieldValue::Null].map(Some)), "{rows:?}");
    }
}

#[test]
fn d133_rules_are_a_list_in_json_and_the_same_text_in_tables() {
    let text = r#"[{"target_url": "https://example.com/","conditions":[]}]"#;
    let table = csv(format!("slug,rules\na,\"{}\"\nb,\n", text.replace('"', "\"\"")));
    let lines = jsonl(format!("{{\"rules\": {text}}}\n{{\"rules\": null}}\n"));
    let json = FieldValue::Json(text.to_owned());
    for rows in [table, lines] {
        let rules = rows.iter().map(|row| row.record.as_ref().unwrap().get(Field::Rules));
        assert!(rules.eq([&json, &FieldValue::Null].map(Some)), "{rows:?}");
    }
    for unfit in ["[", "[{\"a\": 1, \"a\": 2}]", &"[".repeat(1_000)] {
        let rows = csv(format!("slug,rules\na,\"{}\"\n", unfit.replace('"', "\"\"")));
        assert_eq!(
            rows[0].record.as_ref().unwrap().get(Field::Rules),
            Some(&FieldValue::Unfit),
            "{unfit:.20}"
        );
    }
    for unfit in ["{}", "\"[]\"", "7", "true"] {
        let rows = jsonl(format!("{{\"rules\": {unfit}}}\n"));
        assert_eq!(rows[0].record.as_ref().unwrap().get(Field::Rules), Some(&FieldValue::Unfit), "{unfit}");
    }
}

#[test]
fn an_unclosed_quotation_mark_fails_its_row() {
    for text in
        ["slug,note\nz,y\na,\"abc\nb,x\nc,y\n", "slug;note\nz;y\na;\"abc", "slug,note\nz,y\na,\"abc\"\"\n"]
    {
        let rows = csv(text);
        assert_eq!(rows.len(), 2, "{rows:?}");
        assert!(rows[0].record.is_ok(), "{rows:?}");
        let message = rows[1].record.as_ref().unwrap_err();
        assert!(rows[1].line == 3 && message.contains("never closed"), "{rows:?}");
    }
    for text in ["slug,note\na,\"abc\"", "slug,note\na,\"a\nb\"\n", "slug,note\na,ab\"c", "slug,note\na,b"] {
        let rows = csv(text);
        assert!(rows.len() == 1 && rows[0].record.is_ok(), "{text}: {rows:?}");
    }
}

/// The parser would add the text to the cell, and the link would lead to an address that is not in the file.
#[test]
fn text_behind_a_closing_quotation_mark_fails_its_row() {
    let message = |cell: &str| {
        format!("{cell} has text behind its closing quotation mark. Write a mark within a cell as two marks.")
    };
    for (row, cell) in [
        ("a,\"https://e.com\"x", "`target_url`"),
        ("a,\"https://e.com\" ", "`target_url`"),
        ("a,\"https://e.com\"\"\"x\"", "`target_url`"),
        ("\"a\nb\"x\"y\",\"https://e.com\"", "`slug`"),
        ("\"a\"\0,b", "`slug`"),
        ("a,b,\"c\"d", "Cell 3"),
    ] {
        for end in ["\n", "\r\n", "\r"] {
            let rows = csv(format!("slug,target_url{end}{row}{end}z,https://z.example{end}"));
            let [wrong, right] = &outcomes(&rows)[..] else { panic!("{row:?}: {rows:?}") };
            assert_eq!(*wrong, (2, Err(message(cell).as_str())), "{row:?}");
            assert_eq!(right.1, Ok("z"), "{row:?}");
        }
        let rows = csv(format!("slug,target_url\n{row}"));
        assert_eq!(outcomes(&rows), [(2, Err(message(cell).as_str()))], "{row:?}");
    }
    for row in ["a,\"b\"", "\"a\",\"b \"\"c\"\"\"", "a,\"\"", "a,b\"c\"d", "a, \"b\"x", "a,\"\"\"\""] {
        let rows = csv(format!("slug,target_url\n{row}\n"));
        assert_eq!(outcomes(&rows), [(2, Ok("a"))], "{row:?}");
    }
}

#[test]
fn an_invalid_header_is_refused_before_any_row() {
    assert!(header_error(b"slug,\"tar\"get_url\n").contains("\"target_url\" has text behind"));
    assert!(header_error(b"slug,colour,target_url,size\n").contains("no column \"colour\", \"size\""));
    assert!(header_error(b"slug;colour;target_url\n").contains("no column \"colour\";"));
    assert!(header_error(b"long;short\n").contains("no column \"long\", \"short\";"));
    assert!(header_error(b"slug|target_url\n").contains("no column \"slug|target_url\";"));
    assert!(header_error(b"slug,target_url, slug\n").contains("`slug` twice"));
    assert!(header_error(b"slug,target_url,Target URL\n").contains("`target_url` twice"));
    assert!(header_error(b"sep=;\nslug,target_url\n").contains("no column \"slug,target_url\";"));
    assert!(header_error(b"sep=x\nslug,target_url\n").contains("no column \"sep=x\";"));
    assert!(header_error(b"sep=;\nsep=;\n").contains("empty"));
    assert!(header_error(b"slug,\"target\nurl\"\n").contains("cannot have a line break"));
    assert!(header_error(b",,\n;;\n").contains("empty"));
    assert!(header_error(b"").contains("empty"));
    assert!(header_error(b"\n\r\n").contains("empty"));
    assert!(header_error(b"\xffslug\n").contains("no column"));
    let wide = "slug,".repeat(100_000);
    assert!(header_error(wide.as_bytes()).contains("too long for a header"));
    let long = "x".repeat(2 * MAX_ROW_BYTES);
    assert!(header_error(long.as_bytes()).len() < 200);
    for mark in [&b"\xff\xfes\0l\0"[..], b"\xfe\xff\0s\0l"] {
        assert!(matches!(RecordReader::open(FileFormat::Csv, mark), Err(OpenError::Utf16)));
        assert!(matches!(RecordReader::open(FileFormat::JsonLines, mark), Err(OpenError::Utf16)));
    }
}

#[test]
fn an_invalid_row_does_not_stop_the_others() {
    let many = ",".repeat(200);
    let table =
        [b"slug,target_url\na,b,c\nb\nc,\xff\xfe\n".as_slice(), many.as_bytes(), b"\nd,https://d.example\n"]
            .concat();
    assert_eq!(
        outcomes(&csv(table)),
        [
            (2, Err("The row has 3 cells, the header 2.")),
            (3, Ok("b")),
            (4, Err("`target_url` is not valid UTF-8.")),
            (5, Err("The row has more than 64 cells, the header 2.")),
            (6, Ok("d")),
        ]
    );
}

/// The memory for a row is bounded for every file.
#[test]
fn a_row_of_10_megabytes_is_skipped() {
    let huge = "x".repeat(10 << 20);
    let too_long = "The row is longer than 1 MiB. Is a closing quotation mark missing?";
    let table = format!("slug,note\na,{huge}\nb,\"{huge}\n{huge}\"\nc,x\n");
    assert_eq!(outcomes(&csv(table)), [(2, Err(too_long)), (3, Err(too_long)), (5, Ok("c"))]);
    let lines = format!("{{\"slug\":\"{huge}\"}}\n{{\"slug\":\"b\"}}\n");
    assert_eq!(outcomes(&jsonl(lines)), [(1, Err("The row is longer than 1 MiB.")), (2, Ok("b"))]);
}

#[test]
fn a_row_that_is_too_long_hints_at_an_unclosed_quotation_mark() {
    let rest = "b,https://b.example\n".repeat(100_000);
    let rows = csv(format!("slug,note\na,\"open\n{rest}"));
    assert_eq!(rows.len(), 1);
    assert!(rows[0].record.as_ref().unwrap_err().contains("quotation mark"));
}

/// The domain refuses NUL in fields, so the reader must pass it on.
#[test]
fn control_characters_are_passed_on() {
    let rows = csv("slug,note\na\0b,\"\u{7}\"\n");
    assert_eq!(outcomes(&rows), [(2, Ok("a\0b"))]);
    assert_eq!(outcomes(&jsonl("{\"slug\":\"a\\u0000b\"}")), [(1, Ok("a\0b"))]);
}

#[test]
fn json_lines_may_be_blank_and_have_any_line_end() {
    let expected = [(1, Ok("a")), (4, Ok("b"))];
    for lines in [
        "{\"slug\":\"a\"}\n\n  \t\n{\"slug\":\"b\"}",
        "\u{feff}{\"slug\":\"a\"}\r\n\r\n \r\n {\"slug\":\"b\"} \r\n",
        "{\"slug\":\"a\"}\r\r\r{\"slug\":\"b\"}\r",
    ] {
        assert_eq!(outcomes(&jsonl(lines)), expected, "{lines:?}");
    }
    assert_eq!(jsonl("").len() + jsonl("\n\n").len() + jsonl("\u{feff}").len(), 0);
}

/// As strict as the API is with bodies (D10).
#[test]
fn d10_an_invalid_json_line_does_not_stop_the_others() {
    let deep = format!("{{\"note\":{}1{}}}", "[".repeat(1_000), "]".repeat(1_000));
    for wrong in [
        "[]",
        "null",
        "5",
        "\"slug\"",
        "{",
        "{\"slug\":}",
        "{'slug':'a'}",
        "{\"slug\":\"a\"} x",
        "{\"slug\":\"a\",}",
        "{\"slug\":\"a\",\"slug\":\"b\"}",
        "{\"note\":{\"a\":1,\"a\":2}}",
        "{\"note\":1e999}",
        "{\"note\":NaN}",
        "{\"slug\":\"\\ud800\"}",
        "// comment",
        &deep,
    ] {
        let rows = jsonl(format!("{wrong}\n{{\"slug\":\"b\"}}\n"));
        assert!(rows.len() == 2 && rows[0].record.is_err() && rows[1].record.is_ok(), "{rows:?}");
        assert!(rows[0].record.as_ref().unwrap_err().len() < 300);
    }
    let rows = jsonl(b"{\"slug\":\"\xff\"}\n");
    assert!(rows[0].record.is_err());
    let twice = jsonl("{\"slug\":\"a\",\"slug\":\"b\"}");
    assert!(twice[0].record.as_ref().unwrap_err().contains("`slug` stands twice"));
}

#[test]
fn the_use_case_judges_fields_of_the_wrong_type() {
    let line = r#"{"slug":5,"is_active":"true","note":{"a":[]},"geo_blocklists":["DE"],"tags":["a",5],"colour":null}"#;
    let rows = jsonl(line);
    let record = rows[0].record.as_ref().unwrap();
    assert_eq!(record.get(Field::Slug), Some(&FieldValue::Unfit));
    assert_eq!(record.get(Field::IsActive), Some(&FieldValue::Text("true".to_owned())));
    assert_eq!(record.get(Field::Note), Some(&FieldValue::Unfit));
    assert_eq!(record.get(Field::GeoBlocklists), Some(&FieldValue::Unfit));
    assert_eq!(record.get(Field::Tags), Some(&FieldValue::Unfit));
    let mut without = Record::default();
    for field in [Field::Slug, Field::IsActive, Field::Note, Field::GeoBlocklists, Field::Tags] {
        without.set(field, record.get(field).unwrap().clone());
    }
    assert_ne!(*record, without, "the unknown field is recorded");
    without.set_unknown("colour");
    assert_eq!(*record, without);
}

/// A read error is not the end of the file.
#[test]
fn a_read_error_is_reported() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::ErrorKind::TimedOut.into())
        }
    }
    for format in [FileFormat::Csv, FileFormat::JsonLines] {
        let start: &[u8] = if format == FileFormat::Csv { b"slug\na\n" } else { b"{\"slug\":\"a\"}\n" };
        let mut reader = RecordReader::open(format, start.chain(Broken)).unwrap();
        assert!(reader.next_row().unwrap().is_some(), "the rows before the error are read");
        assert!(reader.next_row().is_err());
        assert!(matches!(RecordReader::open(format, Broken), Err(OpenError::Io(_))));
    }
}
