//! Every crate's `Cargo.toml` inherits its lints and dependencies from the workspace.

use anyhow::{Context, Result};
use toml::{Table, Value};

use crate::finding::Finding;

/// The tables of a manifest that list dependencies.
const LISTS: [&str; 3] = ["dependencies", "dev-dependencies", "build-dependencies"];

/// Reports a member that sets its own lints, or a version, path or source of a dependency.
///
/// Versions and features in one place give one build of each dependency. Lints in one place give one standard.
pub fn check(path: &str, text: &str) -> Result<Vec<Finding>> {
    let manifest: Table = text.parse().with_context(|| path.to_owned())?;
    let mut findings = Vec::new();
    if !manifest.get("lints").is_some_and(inherited) {
        findings.push(Finding::about(path, "has no `[lints] workspace = true`"));
    }
    let targets = manifest.get("target").and_then(Value::as_table);
    let of_targets = targets.into_iter().flat_map(Table::values).filter_map(Value::as_table);
    for table in std::iter::once(&manifest).chain(of_targets) {
        let lists = LISTS.iter().filter_map(|list| table.get(*list)).filter_map(Value::as_table);
        for (name, dependency) in lists.flatten() {
            if !inherited(dependency) {
                let message = format!("`{name}` does not say `workspace = true`");
                findings.push(Finding::about(path, message));
            }
        }
    }
    Ok(findings)
}

fn inherited(value: &Value) -> bool {
    value.get("workspace").and_then(Value::as_bool) == Some(true)
}

#[cfg(test)]
mod tests {
    use super::check;

    fn reported(text: &str) -> Vec<String> {
        check("Cargo.toml", text).unwrap().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_manifest_that_inherits_everything_passes() {
        let text = "[lints]\nworkspace = true\n[dependencies]\na.workspace = true\n\
                    b = { workspace = true, features = [\"c\"] }\n";
        assert_eq!(reported(text), Vec::<String>::new());
    }

    #[test]
    fn a_member_without_the_lints_of_the_workspace_is_reported() {
        for text in ["", "[lints]\nworkspace = false\n", "[lints.rust]\nunsafe_code = \"allow\"\n"] {
            assert_eq!(reported(text), ["Cargo.toml: has no `[lints] workspace = true`"], "{text}");
        }
    }

    #[test]
    fn an_own_version_is_reported_in_every_table() {
        for list in [
            "dependencies",
            "dev-dependencies",
            "build-dependencies",
            "target.'cfg(unix)'.dependencies",
            "target.wasm32-unknown-unknown.dev-dependencies",
        ] {
            let text = format!("[lints]\nworkspace = true\n[{list}]\na = \"1\"\nb.workspace = true\n");
            assert_eq!(reported(&text), ["Cargo.toml: `a` does not say `workspace = true`"], "{list}");
        }
    }
}
