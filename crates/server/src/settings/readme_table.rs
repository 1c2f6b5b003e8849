//! The table of settings in the README, which is made of the catalog.

use std::{env, fs};

use super::catalog::SETTINGS;
use super::setting::About;

const HEAD: &str = "| setting | default | what it is |\n| --- | --- | --- |\n";

fn row(setting: &About) -> String {
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
    let (before, rest) = readme.split_once(HEAD).expect("the head of the table is there");
    let (_, after) = rest.split_once("\n\n").expect("the table ends");
    let rows: String = SETTINGS.iter().map(|setting| row(setting)).collect();
    let expected = format!("{before}{HEAD}{rows}\n{after}");
    if env::var_os("UPDATE_README").is_some() {
        fs::write(path, expected).unwrap();
    } else {
        assert_eq!(readme, expected, "UPDATE_README=1 writes the table anew");
    }
}
