//! Builds the test binaries and learns from cargo where they are.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::workspace::cargo;

/// The target of a package that a test binary was built from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    /// The unit tests of a library.
    Lib,
    /// The unit tests of a program.
    Bin(String),
    /// A file or folder of integration tests.
    Test(String),
}

/// A built test binary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TestBinary {
    /// The folder of its crate, in which it runs.
    pub(crate) folder: PathBuf,
    pub(crate) target: Target,
    pub(crate) path: PathBuf,
}

impl TestBinary {
    /// The folder's name, which names the crate in messages and on the command line.
    pub(crate) fn crate_name(&self) -> String {
        self.folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Its name in messages, such as `sqlite contract`.
    pub(crate) fn name(&self) -> String {
        let target = match &self.target {
            Target::Lib => "lib",
            Target::Bin(name) | Target::Test(name) => name,
        };
        format!("{} {target}", self.crate_name())
    }
}

/// Builds the test binaries of the packages and targets that `selection` names with cargo's options.
pub(crate) fn build(root: &Path, selection: &[String]) -> Result<Vec<TestBinary>> {
    let mut command = cargo();
    command.args(["test", "--no-run", "--message-format", "json-render-diagnostics"]).args(selection);
    let output = command.current_dir(root).stderr(Stdio::inherit()).output().context("cannot start cargo")?;
    ensure!(output.status.success(), "the tests do not build");
    String::from_utf8_lossy(&output.stdout).lines().filter_map(|line| test_binary(line).transpose()).collect()
}

/// The test binary that a line of cargo's output reports, if it reports one.
fn test_binary(line: &str) -> Result<Option<TestBinary>> {
    // Build scripts may print lines of their own.
    let Ok(message) = serde_json::from_str::<Value>(line) else { return Ok(None) };
    let text = |pointer: &str| message.pointer(pointer).and_then(Value::as_str);
    let is_test = message.pointer("/profile/test").and_then(Value::as_bool) == Some(true);
    let (Some("compiler-artifact"), true, Some(path)) = (text("/reason"), is_test, text("/executable"))
    else {
        return Ok(None);
    };
    let manifest = text("/manifest_path").context("cargo reports a test binary without its manifest")?;
    let folder = Path::new(manifest).parent().context("a manifest without a folder")?.to_owned();
    let name = text("/target/name").context("cargo reports a test binary without its name")?.to_owned();
    let target = match text("/target/kind/0") {
        Some("test") => Target::Test(name),
        Some("bin") => Target::Bin(name),
        Some(_) | None => Target::Lib,
    };
    Ok(Some(TestBinary { folder, target, path: path.into() }))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Target, TestBinary, test_binary};

    #[test]
    fn only_test_binaries_are_taken_from_cargos_messages() {
        let message = |kind: &str, name: &str, is_test: bool| {
            json!({
                "reason": "compiler-artifact",
                "manifest_path": "/signpost/crates/sqlite/Cargo.toml",
                "target": {"kind": [kind], "name": name},
                "profile": {"test": is_test},
                "executable": "/target/debug/deps/it",
            })
            .to_string()
        };
        let binary = |target| TestBinary {
            folder: "/signpost/crates/sqlite".into(),
            target,
            path: "/target/debug/deps/it".into(),
        };
        let contract = binary(Target::Test("contract".to_owned()));
        assert_eq!(contract.name(), "sqlite contract");
        assert_eq!(test_binary(&message("test", "contract", true)).unwrap(), Some(contract));
        assert_eq!(test_binary(&message("lib", "signpost_sqlite", true)).unwrap(), Some(binary(Target::Lib)));
        assert_eq!(test_binary(&message("bin", "signpost", false)).unwrap(), None);
        assert_eq!(test_binary(r#"{"reason": "build-finished", "success": true}"#).unwrap(), None);
        assert_eq!(test_binary("a line of a build script").unwrap(), None);
    }
}
