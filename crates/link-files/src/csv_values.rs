//! Converts the cells of a table to values and back.
//!
//! A cell is text or empty, but a field can have other values. This module encodes them.

use signpost_app::transfer::{Field, FieldForm, FieldValue};

/// The root of a domain in the column `slug`, where an empty cell asks for a generated slug. No slug has this
/// character.
const ROOT: &str = "/";

/// The value of a cell in the column of a field; `None` if the row does not set the field.
///
/// White space around a value comes from copying it into a spreadsheet, and is dropped. Only notes may begin or end with
/// white space (D25), so theirs is kept: a note from an export reads back as it is.
pub(crate) fn value(field: Field, cell: &str) -> Option<FieldValue> {
    let cell = match field.form() {
        FieldForm::FreeText => cell,
        FieldForm::Text
        | FieldForm::NullableText
        | FieldForm::Slug
        | FieldForm::Flag
        | FieldForm::Number
        | FieldForm::NullableNumber
        | FieldForm::Countries
        | FieldForm::Names
        | FieldForm::Json => cell.trim(),
    };
    if cell.is_empty() {
        return when_empty(field.form());
    }
    Some(match field.form() {
        FieldForm::Slug if cell == ROOT => FieldValue::Null,
        FieldForm::FreeText => FieldValue::Text(unescaped(cell).to_owned()),
        FieldForm::Flag => flag(cell),
        // The use case refuses other texts.
        FieldForm::Number | FieldForm::NullableNumber => {
            cell.parse().map_or_else(|_| FieldValue::Text(cell.to_owned()), FieldValue::Number)
        }
        FieldForm::Countries => {
            let separates = |character: char| character == ',' || character.is_whitespace();
            let codes = cell.split(separates).filter(|code| !code.is_empty());
            FieldValue::Countries(codes.map(str::to_owned).collect())
        }
        FieldForm::Names => {
            // A comma at the end is no name, nor are two commas in a row: spreadsheets join empty cells like that.
            let names = cell.split(',').map(str::trim).filter(|name| !name.is_empty());
            FieldValue::Names(names.map(str::to_owned).collect())
        }
        // The same rules as for a line of JSON: no repeated name, and no deep nesting.
        FieldForm::Json => match signpost_strict_json::parse(cell.as_bytes()) {
            Ok(_) => FieldValue::Json(cell.to_owned()),
            Err(_) => FieldValue::Unfit,
        },
        FieldForm::Text | FieldForm::NullableText | FieldForm::Slug => FieldValue::Text(cell.to_owned()),
    })
}

/// In columns of these forms an empty cell means null; in others it is ignored.
const fn when_empty(form: FieldForm) -> Option<FieldValue> {
    match form {
        FieldForm::NullableText
        | FieldForm::FreeText
        | FieldForm::NullableNumber
        | FieldForm::Countries
        | FieldForm::Names
        | FieldForm::Json => Some(FieldValue::Null),
        FieldForm::Text | FieldForm::Slug | FieldForm::Flag | FieldForm::Number => None,
    }
}

/// The words of spreadsheets for true and false in English, German, French, Spanish, Italian, Portuguese, Dutch, Polish and
/// Russian, in lower case. They write the word of the country that they are set to, and `1` and `0` as numbers.
const TRUE: [&str; 10] =
    ["true", "1", "wahr", "vrai", "verdadero", "vero", "verdadeiro", "waar", "prawda", "истина"];
const FALSE: [&str; 8] = ["false", "0", "falsch", "faux", "falso", "onwaar", "fałsz", "ложь"];

/// A flag in any case, because spreadsheets write `TRUE` and `FALSE`. The use case refuses other texts.
fn flag(cell: &str) -> FieldValue {
    let word = cell.to_lowercase();
    if TRUE.contains(&&*word) {
        FieldValue::Flag(true)
    } else if FALSE.contains(&&*word) {
        FieldValue::Flag(false)
    } else {
        FieldValue::Text(cell.to_owned())
    }
}

/// The cell of a value; empty if the record does not set the field.
pub(crate) fn cell(field: Field, value: Option<&FieldValue>) -> String {
    match value {
        Some(FieldValue::Null) if field.form() == FieldForm::Slug => ROOT.to_owned(),
        None | Some(FieldValue::Null | FieldValue::Unfit) => String::new(),
        Some(FieldValue::Flag(flag)) => flag.to_string(),
        Some(FieldValue::Number(number)) => number.to_string(),
        Some(FieldValue::Text(text)) if field.form() == FieldForm::FreeText => escaped(text),
        Some(FieldValue::Text(text) | FieldValue::Json(text)) => text.clone(),
        Some(FieldValue::Countries(countries)) => countries.join(" "),
        Some(FieldValue::Names(names)) => names.join(","),
    }
}

/// An empty text differs from null (D25), so it is written as two quotation marks. To keep this unambiguous, a text that
/// consists only of quotation marks gets two more. A single mark stays as it is.
fn escaped(text: &str) -> String {
    let has_only_marks = text.bytes().all(|byte| byte == b'"');
    if has_only_marks && text.len() != 1 { format!("\"\"{text}") } else { text.to_owned() }
}

fn unescaped(cell: &str) -> &str {
    let has_only_marks = cell.bytes().all(|byte| byte == b'"');
    match cell.strip_prefix("\"\"") {
        Some(text) if has_only_marks => text,
        Some(_) | None => cell,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn d128_numbers_read_back_and_other_texts_are_kept_for_the_message() {
        for (text, number) in [("0", 0), ("-1", -1), (" 1000000000 ", 1_000_000_000)] {
            assert_eq!(value(Field::MaxClicks, text), Some(FieldValue::Number(number)));
            assert_eq!(cell(Field::MaxClicks, Some(&FieldValue::Number(number))), text.trim());
        }
        assert_eq!(value(Field::MaxClicks, " "), Some(FieldValue::Null));
        for text in ["1.5", "1 000", "many"] {
            assert_eq!(value(Field::MaxClicks, text), Some(FieldValue::Text(text.to_owned())));
        }
    }

    #[test]
    fn d25_an_empty_note_differs_from_no_note() {
        assert_eq!(value(Field::Note, ""), Some(FieldValue::Null));
        assert_eq!(cell(Field::Note, Some(&FieldValue::Text(String::new()))), "\"\"");
    }

    #[test]
    fn d21_the_root_of_a_domain_differs_from_no_slug() {
        assert_eq!(value(Field::Slug, ""), None);
        assert_eq!(value(Field::Slug, "/"), Some(FieldValue::Null));
        assert_eq!(cell(Field::Slug, Some(&FieldValue::Null)), "/");
    }

    #[test]
    fn flags_and_countries_are_read_as_spreadsheets_write_them() {
        assert_eq!(value(Field::IsActive, "TRUE"), Some(FieldValue::Flag(true)));
        for (cell, flag) in [("WAHR", true), ("falsch", false), ("1", true), ("0", false), ("FAŁSZ", false)]
        {
            assert_eq!(value(Field::IsActive, cell), Some(FieldValue::Flag(flag)), "{cell}");
        }
        assert_eq!(value(Field::IsActive, "yes"), Some(FieldValue::Text("yes".to_owned())));
        let countries = FieldValue::Countries(vec!["DE".to_owned(), "AT".to_owned()]);
        for cell in ["DE AT", "DE,AT", " DE,  AT "] {
            assert_eq!(value(Field::GeoBlocklists, cell).as_ref(), Some(&countries));
        }
    }

    #[test]
    fn d132_a_status_is_a_number_and_an_empty_cell_leaves_it_out() {
        for status in [" 301 ", "301"] {
            assert_eq!(value(Field::RedirectStatus, status), Some(FieldValue::Number(301)));
        }
        assert_eq!(value(Field::RedirectStatus, "301.0"), Some(FieldValue::Text("301.0".to_owned())));
        assert_eq!(value(Field::RedirectStatus, ""), None);
        assert_eq!(cell(Field::RedirectStatus, Some(&FieldValue::Number(308))), "308");
        assert_eq!(value(Field::UtmSource, " "), Some(FieldValue::Null));
    }

    #[test]
    fn d122_the_names_of_tags_are_separated_by_commas() {
        let names = FieldValue::Names(vec!["Spring sale".to_owned(), "mail".to_owned()]);
        for text in ["Spring sale,mail", " Spring sale , mail ,", ",Spring sale,,mail"] {
            assert_eq!(value(Field::Tags, text).as_ref(), Some(&names), "{text}");
        }
        assert_eq!(cell(Field::Tags, Some(&names)), "Spring sale,mail");
        assert_eq!(value(Field::Tags, " "), Some(FieldValue::Null));
    }

    proptest! {
        #[test]
        fn every_note_reads_back(note in prop_oneof!["\"{0,6}", ".*", "\"\"[a\"]{0,4}"]) {
            let value_of = FieldValue::Text(note);
            prop_assert_eq!(value(Field::Note, &cell(Field::Note, Some(&value_of))), Some(value_of));
        }
    }
}
