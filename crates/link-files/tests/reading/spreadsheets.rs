//! Tables as spreadsheets write them.

use signpost_app::transfer::{Field, FieldValue, ImportRow};

use crate::rows::{csv, outcomes, text};

/// What Calc, Excel, Numbers and Google Sheets make of a table that people edit by hand.
#[test]
fn tables_of_spreadsheets_are_read_as_people_mean_them() {
    let expected = [Ok("a"), Ok("b")];
    for table in [
        "Slug,Target URL\na,https://a.example\nb,https://b.example\n",
        "SLUG, Target-Url \na,https://a.example\nb,https://b.example\n",
        "slug,target\u{a0}url,,\na,https://a.example,,\nb,https://b.example,,a remark\n",
        ",slug,target_url\n1,a,https://a.example\n2,b,https://b.example\n",
        "slug,target_url\na,https://a.example\n,\n , \n,,,\nb,https://b.example\n,\n,",
        "sep=;\r\nslug;target_url\r\na;https://a.example\r\nb;https://b.example\r\n",
        "\u{feff}\"sep=,\"\r\nslug,target_url\r\na,https://a.example\r\nb,https://b.example\r\n",
        "SEP=|\nslug|target_url\na|https://a.example\nb|https://b.example\n",
        "sep=\t\nslug\ttarget_url\na\thttps://a.example\nb\thttps://b.example\n",
        ",,\nslug,target_url,\na,https://a.example,\nb,https://b.example,\n",
        "\"sep=;\";\r\nslug;target_url\r\na;https://a.example\r\nb;https://b.example\r\n",
        "sep=;,\nslug,target_url\na,https://a.example\nb,https://b.example\n",
        "sep=,,,\nslug,target_url,,\na,https://a.example,,\nb,https://b.example,,\n",
        "\"sep=,\",,\nslug,target_url,note\na,https://a.example\nb,https://b.example,\n",
        "slug,target_url,note,group\na,https://a.example\r\nb,https://b.example,\r\n",
        "slug,target_url\n a ,\u{a0}https://a.example \n\"b \",\"\thttps://b.example\n\"\n",
    ] {
        let rows = csv(table);
        assert_eq!(
            outcomes(&rows).into_iter().map(|(_, outcome)| outcome).collect::<Vec<_>>(),
            expected,
            "{table:?}"
        );
        let target =
            |row: &ImportRow| text(row.record.as_ref().unwrap(), Field::TargetUrl).map(str::to_owned);
        let targets: Vec<_> = rows.iter().filter_map(target).collect();
        assert_eq!(targets, ["https://a.example", "https://b.example"], "{table:?}");
    }
}

/// Only notes may begin or end with white space, so only theirs means something.
#[test]
fn d25_white_space_around_values_is_dropped_except_in_notes() {
    let rows = csv("slug,note,is_active,domain,geo_blocklists\n / , x , TRUE , , DE \n");
    let record = rows[0].record.as_ref().unwrap();
    assert_eq!(record.get(Field::Slug), Some(&FieldValue::Null));
    assert_eq!(text(record, Field::Note), Some(" x "));
    assert_eq!(record.get(Field::IsActive), Some(&FieldValue::Flag(true)));
    assert_eq!(record.get(Field::Domain), Some(&FieldValue::Null));
    assert_eq!(record.get(Field::GeoBlocklists), Some(&FieldValue::Countries(vec!["DE".to_owned()])));
}

/// A file that was cut off must not become a link to half an address.
#[test]
fn a_short_row_at_the_end_of_a_file_needs_a_line_end() {
    let cut = "The file ends in this row, which has 2 cells of 3. If nothing is missing, end the row with a line end.";
    let table = "slug,target_url,note\na,https://a.example,x\nb,https://b.exa";
    assert_eq!(outcomes(&csv(table)), [(2, Ok("a")), (3, Err(cut))]);
    assert_eq!(outcomes(&csv(format!("{table}\n"))), [(2, Ok("a")), (3, Ok("b"))]);
    assert_eq!(outcomes(&csv(format!("{table},"))), [(2, Ok("a")), (3, Ok("b"))]);
}

/// Such a table would give links with the texts of several cells in one.
#[test]
fn a_short_row_with_another_separator_fails() {
    for (table, found) in [
        ("target_url,slug,note\nhttps://a.example/a;de1;Note\n", ';'),
        ("target_url,slug,note\n\"https://a.example/a;b=2,shop,x\"\n", ';'),
        ("target_url,slug,note\n\"https://a.example/a,shop,x\"\n", ','),
        ("target_url,slug,note\nhttps://a.example/a|de1|Note\n", '|'),
        ("target_url,slug,note\nhttps://a.example/a;de1;Note, more\n", ';'),
        ("target_url;slug;note\nhttps://a.example/a,de1,Note\n", ','),
        ("target_url\tslug\tnote\nhttps://a.example/a,de1,Note\n", ','),
        ("target_url,slug,note\nhttps://a.example/a\tde1\tNote\n", '\t'),
    ] {
        let rows = csv(table);
        let message = rows[0].record.as_ref().unwrap_err();
        assert!(message.contains(&format!("there is {found:?} in the row")), "{table:?}: {message}");
    }
    for table in ["target_url,slug,note\nhttps://maps.example/@52,13,,\n", "slug,note\na,b,\n"] {
        let rows = csv(table);
        let message = rows[0].record.as_ref().unwrap_err();
        assert!(message.contains("cells, the header"), "{table:?}: {message}");
    }
    assert_eq!(outcomes(&csv("slug,note,group\na,\"one, two\"\n")), [(2, Ok("a"))]);
}

#[test]
fn a_missing_cell_is_an_empty_cell() {
    let [short, long] = ["slug,is_active,note\na\n", "slug,is_active,note\na,,\n"].map(csv);
    assert_eq!(short, long);
    assert_eq!(short[0].record.as_ref().unwrap().get(Field::Note), Some(&FieldValue::Null));
}
