//! What holds of every declaration, and the tables of `docs/settings.md`.

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

/// The heading behind the tables.
const REST: &str = "## Plans\n";

fn table_row(setting: &About) -> String {
    let About { key, default, help, .. } = setting;
    let (help, described) = match help.split_once(" [default: ") {
        Some((help, described)) => (help, Some(described.trim_end_matches(']').to_owned())),
        None => (*help, None),
    };
    let default = default.map(|default| format!("`{default}`")).or(described);
    format!("| `{key}` | {} | {help} |\n", default.as_deref().unwrap_or("none"))
}

/// A section with a table for each group, in the order of their first settings.
fn sections() -> String {
    let mut groups: Vec<&str> = Vec::new();
    for setting in SETTINGS {
        if !groups.contains(&setting.group) {
            groups.push(setting.group);
        }
    }
    let section = |group: &&str| {
        let rows = SETTINGS.iter().filter(|setting| setting.group == *group);
        let rows: String = rows.map(|setting| table_row(setting)).collect();
        format!("## {group}\n\n{TABLE_HEAD}{rows}\n")
    };
    groups.iter().map(section).collect()
}

#[test]
fn d209_docs_have_the_tables_of_settings() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/settings.md");
    let page = fs::read_to_string(path).unwrap();
    let (before, rest) = page.split_once(REST).expect("the page has the heading behind the tables");
    let introduction = before.split("## ").next().unwrap();
    let expected = format!("{introduction}{}{REST}{rest}", sections());
    if env::var_os("UPDATE_SETTINGS").is_some() {
        fs::write(path, expected).unwrap();
    } else {
        assert_eq!(page, expected, "run this test with UPDATE_SETTINGS=1 to write the tables anew");
    }
}
