//! A library's manifest switches off exactly those kinds of tests that it has none of.
//!
//! Cargo builds a test binary, and a run of the documentation's examples, for every library that does not say otherwise.
//! For an empty one that is wasted time. A switch that stays when tests are added would hide them.

use anyhow::{Context, Result};
use toml::{Table, Value};

use crate::finding::Finding;

/// Checks the manifest at `path` against the sources of its library.
pub fn check(path: &str, manifest: &str, sources: &[&str]) -> Result<Vec<Finding>> {
    let manifest: Table = manifest.parse().with_context(|| path.to_owned())?;
    let library = manifest.get("lib").and_then(Value::as_table);
    let is_off = |switch: &str| {
        library.and_then(|library| library.get(switch)).and_then(Value::as_bool) == Some(false)
    };
    let kinds = [
        ("test", "unit tests", sources.iter().any(|source| has_unit_tests(source))),
        ("doctest", "examples", sources.iter().any(|source| has_examples(source))),
    ];
    let mut findings = Vec::new();
    for (switch, tests, has_some) in kinds {
        let message = match (is_off(switch), has_some) {
            (true, true) => format!("`{switch} = false` hides the {tests} of the library"),
            (false, false) => format!("the library has no {tests}: say `{switch} = false` in `[lib]`"),
            (true, false) | (false, true) => continue,
        };
        findings.push(Finding::about(path, message));
    }
    Ok(findings)
}

fn has_unit_tests(source: &str) -> bool {
    let attributes = ["#[test]", "#[tokio::test"];
    source.lines().any(|line| attributes.iter().any(|attribute| line.trim_start().starts_with(attribute)))
}

/// Whether rustdoc compiles a block of code in the documentation. A block that names another language is only shown.
fn has_examples(source: &str) -> bool {
    let docs = source.lines().map(str::trim_start).filter_map(|line| {
        let doc = line.strip_prefix("//!").or_else(|| line.strip_prefix("///"));
        doc.map(str::trim)
    });
    let mut is_within = false;
    for fence in docs.filter_map(|text| text.strip_prefix("```")) {
        let is_rust = fence.is_empty() || ["rust", "no_run", "should_panic"].contains(&fence);
        if !is_within && is_rust {
            return true;
        }
        is_within = !is_within;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::check;

    fn reported(manifest: &str, source: &str) -> Vec<String> {
        check("Cargo.toml", manifest, &["//! Docs.", source])
            .unwrap()
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    const OFF: &str = "[lib]\ntest = false\ndoctest = false\n";
    const TEST: &str = "mod tests {\n    #[tokio::test(flavor = \"multi_thread\")]\n    async fn a() {}\n}\n";
    const EXAMPLE: &str = "/// ```text\n/// a\n/// ```\n/// ```\n/// f();\n/// ```\n";

    #[test]
    fn what_a_library_has_must_run() {
        assert_eq!(reported("", &format!("{TEST}{EXAMPLE}")), Vec::<String>::new());
        assert_eq!(
            reported(OFF, &format!("{TEST}{EXAMPLE}")),
            [
                "Cargo.toml: `test = false` hides the unit tests of the library",
                "Cargo.toml: `doctest = false` hides the examples of the library",
            ]
        );
    }

    #[test]
    fn what_a_library_lacks_must_not_be_built() {
        let source = "//! ```text\n//! a\n//! ```\nmacro_rules! tests { () => { $(#[test] fn a() {})* } }\n";
        assert_eq!(reported(OFF, source), Vec::<String>::new());
        assert_eq!(
            reported("", source),
            [
                "Cargo.toml: the library has no unit tests: say `test = false` in `[lib]`",
                "Cargo.toml: the library has no examples: say `doctest = false` in `[lib]`",
            ]
        );
    }
}
