//! What holds of every declaration, and the table of settings in the README.

use std::collections::HashSet;
use std::{env, fs};

use super::catalog::{API_LISTEN, SETTINGS};
use super::setting::About;

#[test]
fn names_and_variables_are_unique() {
    let keys: HashSet<_> = SETTINGS.iter().map(|setting| setting.key).collect();
    let variables: HashSet<_> = SETTINGS.iter().map(|setting| setting.variable()).collect();
    assert_eq!((keys.len(), variables.len()), (SETTINGS.len(), SETTINGS.len()));
}

#[test]
fn d61_a_variable_is_the_prefix_with_the_name() {
    assert_eq!(API_LISTEN.about.variable(), "SIGNPOST_API_LISTEN");
}

const TABLE_HEAD: &str = "| setting | default | what it is |\n| --- | --- | --- |\n";

fn table_row(setting: &About) -> String {
    let About { key, default, help, .. } = setting;
    let (help, described) = match help.split_once(" [default: ") {
        Some((help, described)) => (help, Some(described.trim_end_matches(']').to_owned())),
        None => (*help, None),
    };
    let default = default.map(|default| format!("`{default}`")).or(described);
    format!("| `{key}` | {} | {help} |\n", default.as_deref().unwrap_or("none"))
}

#[test]
fn the_readme_has_the_table_of_settings() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md");
    let readme = fs::read_to_string(path).unwrap();
    let (before, rest) = readme.split_once(TABLE_HEAD).expect("the README has the head of the table");
    let (_, after) = rest.split_once("\n\n").expect("an empty line follows the table");
    let rows: String = SETTINGS.iter().map(|setting| table_row(setting)).collect();
    let expected = format!("{before}{TABLE_HEAD}{rows}\n{after}");
    if env::var_os("UPDATE_README").is_some() {
        fs::write(path, expected).unwrap();
    } else {
        assert_eq!(readme, expected, "run this test with UPDATE_README=1 to write the table anew");
    }
}
