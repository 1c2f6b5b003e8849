//! What the cells of a table mean.
//!
//! A cell is a text or nothing, and there are more values than that; so this is where the others are told.

use signpost_app::transfer::{Field, FieldValue};

/// What stands for the root of a domain in the column `slug`, where an empty cell asks for a slug to be found. No slug
/// has this character.
const ROOT: &str = "/";

/// The value of a cell in the column of a field; `None` if the row says nothing of the field.
pub(crate) fn value(field: Field, cell: &str) -> Option<FieldValue> {
    if cell.is_empty() {
        return when_empty(field);
    }
    Some(match field {
        Field::Slug if cell == ROOT => FieldValue::Null,
        Field::Note => FieldValue::Text(unescaped(cell).to_owned()),
        Field::IsLost | Field::IsActive | Field::AntibotEnabled | Field::AnalyticsEnabled => flag(cell),
        Field::GeoBlocklists => {
            let separates = |character: char| character == ',' || character.is_whitespace();
            let codes = cell.split(separates).filter(|code| !code.is_empty());
            FieldValue::Countries(codes.map(str::to_owned).collect())
        }
        Field::Object
        | Field::Id
        | Field::Domain
        | Field::Slug
        | Field::Name
        | Field::Title
        | Field::TargetUrl
        | Field::GroupId
        | Field::Group
        | Field::CreatedAt
        | Field::UpdatedAt => FieldValue::Text(cell.to_owned()),
    })
}

/// An empty cell is null in the column of a field that can be null; otherwise it says nothing.
const fn when_empty(field: Field) -> Option<FieldValue> {
    match field {
        Field::Id | Field::Domain | Field::Note | Field::GroupId | Field::Group | Field::GeoBlocklists => {
            Some(FieldValue::Null)
        }
        Field::Object
        | Field::Slug
        | Field::IsLost
        | Field::Name
        | Field::Title
        | Field::TargetUrl
        | Field::IsActive
        | Field::AntibotEnabled
        | Field::AnalyticsEnabled
        | Field::CreatedAt
        | Field::UpdatedAt => None,
    }
}

/// `true` and `false`, in any case, because spreadsheets write them in theirs. Anything else is left for the use case to
/// refuse.
fn flag(cell: &str) -> FieldValue {
    if cell.eq_ignore_ascii_case("true") {
        FieldValue::Flag(true)
    } else if cell.eq_ignore_ascii_case("false") {
        FieldValue::Flag(false)
    } else {
        FieldValue::Text(cell.to_owned())
    }
}

/// The cell of a value; of none if the record says nothing of the field.
pub(crate) fn cell(field: Field, value: Option<&FieldValue>) -> String {
    match value {
        Some(FieldValue::Null) if field == Field::Slug => ROOT.to_owned(),
        None | Some(FieldValue::Null | FieldValue::Unfit) => String::new(),
        Some(FieldValue::Flag(flag)) => flag.to_string(),
        Some(FieldValue::Text(text)) if field == Field::Note => escaped(text),
        Some(FieldValue::Text(text)) => text.clone(),
        Some(FieldValue::Countries(countries)) => countries.join(" "),
    }
}

/// An empty note is not the same as none (D25). It is written as two quotation marks; and so that this can be nothing else,
/// a note of quotation marks alone gets two more. One of a single mark stays as it is.
fn escaped(note: &str) -> String {
    let is_marks_alone = note.bytes().all(|byte| byte == b'"');
    if is_marks_alone && note.len() != 1 { format!("\"\"{note}") } else { note.to_owned() }
}

fn unescaped(cell: &str) -> &str {
    let is_marks_alone = cell.bytes().all(|byte| byte == b'"');
    match cell.strip_prefix("\"\"") {
        Some(note) if is_marks_alone => note,
        Some(_) | None => cell,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn d25_an_empty_note_is_not_the_same_as_none() {
        assert_eq!(value(Field::Note, ""), Some(FieldValue::Null));
        assert_eq!(cell(Field::Note, Some(&FieldValue::Text(String::new()))), "\"\"");
    }

    #[test]
    fn d21_the_root_of_a_domain_is_not_the_same_as_no_slug() {
        assert_eq!(value(Field::Slug, ""), None);
        assert_eq!(value(Field::Slug, "/"), Some(FieldValue::Null));
        assert_eq!(cell(Field::Slug, Some(&FieldValue::Null)), "/");
    }

    #[test]
    fn flags_and_countries_are_read_as_spreadsheets_write_them() {
        assert_eq!(value(Field::IsActive, "TRUE"), Some(FieldValue::Flag(true)));
        assert_eq!(value(Field::IsActive, "yes"), Some(FieldValue::Text("yes".to_owned())));
        let countries = FieldValue::Countries(vec!["DE".to_owned(), "AT".to_owned()]);
        for cell in ["DE AT", "DE,AT", " DE,  AT "] {
            assert_eq!(value(Field::GeoBlocklists, cell).as_ref(), Some(&countries));
        }
    }

    proptest! {
        #[test]
        fn every_note_reads_back(note in prop_oneof!["\"{0,6}", ".*", "\"\"[a\"]{0,4}"]) {
            let value_of = FieldValue::Text(note);
            prop_assert_eq!(value(Field::Note, &cell(Field::Note, Some(&value_of))), Some(value_of));
        }
    }
}
