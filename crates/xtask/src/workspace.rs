//! The crates of the workspace and their dependencies, as reported by cargo.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// One crate of the workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    /// The package's name.
    pub name: String,
    /// The path of its `Cargo.toml`, relative to the repository's root.
    pub manifest: String,
    /// Its direct dependencies, for all targets and features.
    pub dependencies: Vec<Dependency>,
}

/// One direct dependency of a crate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependency {
    /// The name of the package, even if the crate renames it.
    pub name: String,
    /// The purpose of the dependency.
    pub kind: Kind,
    /// Whether it is a path dependency, like the crates of the workspace.
    pub by_path: bool,
}

/// The purpose of a dependency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// For the crate itself or its build script.
    Product,
    /// For its tests, examples and benches.
    Tests,
}

/// The cargo that runs this program, or the one on the path.
#[must_use]
pub fn cargo() -> Command {
    command(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// A command with no input, and without the variables with which cargo describes this program. The build script of `ring`
/// reads some of them: with them, `cargo xtask test` after `cargo test`, and the other way around, compiles the stores
/// anew.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    for (name, _) in env::vars_os().filter(|(name, _)| describes_a_package(&name.to_string_lossy())) {
        command.env_remove(name);
    }
    command.stdin(Stdio::null());
    command
}

fn describes_a_package(variable: &str) -> bool {
    let names = [
        "CARGO_BIN_NAME",
        "CARGO_CRATE_NAME",
        "CARGO_MANIFEST_DIR",
        "CARGO_MANIFEST_LINKS",
        "CARGO_MANIFEST_PATH",
        "CARGO_PRIMARY_PACKAGE",
        "OUT_DIR",
    ];
    names.contains(&variable) || variable.starts_with("CARGO_PKG_")
}

/// Asks cargo for the members of the workspace at `root`. Needs neither the network nor a lock file.
pub fn packages(root: &Path) -> Result<Vec<Package>> {
    parse(&metadata(root)?)
}

/// The name of the package in the folder `crates/<crate_name>`.
pub fn package_in(root: &Path, crate_name: &str) -> Result<String> {
    let manifest = format!("crates/{crate_name}/Cargo.toml");
    let package = packages(root)?.into_iter().find(|package| package.manifest == manifest);
    package
        .map(|package| package.name)
        .with_context(|| format!("there is no crate `{crate_name}` in `crates`"))
}

/// The folder in which cargo builds, for the workspace at `root`.
pub fn target_folder(root: &Path) -> Result<PathBuf> {
    Ok(text(&metadata(root)?, "target_directory")?.into())
}

fn metadata(root: &Path) -> Result<Value> {
    let output = cargo()
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .current_dir(root)
        .output()
        .context("cannot start cargo")?;
    if !output.status.success() {
        bail!("`cargo metadata` failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    serde_json::from_slice(&output.stdout).context("`cargo metadata` is not JSON")
}

fn parse(metadata: &Value) -> Result<Vec<Package>> {
    let root = text(metadata, "workspace_root")?;
    list(metadata, "packages")?
        .iter()
        .map(|package| {
            let manifest = Path::new(text(package, "manifest_path")?);
            let manifest = manifest.strip_prefix(root).context("a member outside the repository")?;
            Ok(Package {
                name: text(package, "name")?.to_owned(),
                manifest: manifest.to_string_lossy().replace('\\', "/"),
                dependencies: list(package, "dependencies")?.iter().map(dependency).collect::<Result<_>>()?,
            })
        })
        .collect()
}

fn dependency(value: &Value) -> Result<Dependency> {
    let kind = match value.get("kind").and_then(Value::as_str) {
        None | Some("build") => Kind::Product,
        Some("dev") => Kind::Tests,
        Some(other) => bail!("unknown kind of dependency in the output of cargo: {other}"),
    };
    let by_path = value.get("path").is_some_and(Value::is_string);
    Ok(Dependency { name: text(value, "name")?.to_owned(), kind, by_path })
}

fn text<'a>(value: &'a Value, key: &str) -> Result<&'a str> {
    value.get(key).and_then(Value::as_str).with_context(|| format!("`cargo metadata` without `{key}`"))
}

fn list<'a>(value: &'a Value, key: &str) -> Result<&'a Vec<Value>> {
    value.get(key).and_then(Value::as_array).with_context(|| format!("`cargo metadata` without `{key}`"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Dependency, Kind, Package, parse};

    #[test]
    fn a_renamed_dependency_has_the_name_of_its_package() {
        let metadata = json!({
            "workspace_root": "/signpost",
            "packages": [{
                "name": "signpost-app",
                "manifest_path": "/signpost/crates/app/Cargo.toml",
                "dependencies": [
                    { "name": "diesel", "rename": "innocent", "kind": null, "source": "registry" },
                    { "name": "signpost-memory", "kind": "dev", "path": "/signpost/crates/memory" },
                ],
            }],
        });
        let dependencies = vec![
            Dependency { name: "diesel".to_owned(), kind: Kind::Product, by_path: false },
            Dependency { name: "signpost-memory".to_owned(), kind: Kind::Tests, by_path: true },
        ];
        let expected = Package {
            name: "signpost-app".to_owned(),
            manifest: "crates/app/Cargo.toml".to_owned(),
            dependencies,
        };
        assert_eq!(parse(&metadata).unwrap(), [expected]);
    }

    #[test]
    fn unexpected_metadata_is_an_error_and_not_an_empty_workspace() {
        assert!(parse(&json!({ "workspace_root": "/signpost" })).is_err());
        let unknown_kind = json!({
            "workspace_root": "/signpost",
            "packages": [{
                "name": "a",
                "manifest_path": "/signpost/a/Cargo.toml",
                "dependencies": [{ "name": "b", "kind": "other" }],
            }],
        });
        assert!(parse(&unknown_kind).is_err());
    }
}
