//! `examples/link-checker` uses the domain crate as a tool of someone else would: outside the workspace, and without the
//! features that it does not need.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use signpost_xtask::repository::Repository;
use signpost_xtask::workspace::cargo;

/// A tool that checks slugs, targets, hostnames and states builds fewer crates than this, itself included.
const MAX_CRATES: usize = 30;

/// The package, ready to build.
struct Example {
    folder: PathBuf,
    /// Whether its crates are here that the workspace does not use. They need the network once.
    has_own_crates: bool,
}

impl Example {
    /// The package with its own lock file. Without a network, a copy of it with the crates of the workspace.
    fn ready() -> Self {
        let root = Repository::of_this_crate().unwrap().root().to_owned();
        let folder = root.join("examples/link-checker");
        let fetched = run(&folder, &["fetch", "--locked"]);
        if fetched.status.success() {
            return Self { folder, has_own_crates: true };
        }
        let failure = String::from_utf8_lossy(&fetched.stderr).into_owned();
        assert!(!failure.contains("lock file"), "update the lock file of the example: {failure}");
        Self { folder: copy_with_the_lock_file_of(&root, &folder), has_own_crates: false }
    }

    /// Builds it and runs it with these arguments.
    fn output(&self, arguments: &[&str]) -> Output {
        run(&self.folder, &[&["run", "--quiet", "--offline", "--"], arguments].concat())
    }
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("link-checker");
    cargo().args(arguments).current_dir(folder).env("CARGO_TARGET_DIR", target).output().unwrap()
}

fn copy_with_the_lock_file_of(root: &Path, folder: &Path) -> PathBuf {
    let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join("link-checker-offline");
    fs::create_dir_all(copy.join("src")).unwrap();
    let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
    let domain = root.join("crates/domain").display().to_string();
    fs::write(copy.join("Cargo.toml"), manifest.replace("../../crates/domain", &domain)).unwrap();
    fs::copy(folder.join("src/main.rs"), copy.join("src/main.rs")).unwrap();
    fs::copy(root.join("Cargo.lock"), copy.join("Cargo.lock")).unwrap();
    copy
}

fn lines(output: &Output) -> Vec<String> {
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap().lines().map(str::to_owned).collect()
}

/// One test, since two would build it at the same time.
#[test]
fn tool_of_someone_else_uses_the_rules_with_few_crates() {
    let example = Example::ready();
    let valid = ["slug", "api", "target", "https://Bücher.example/a", "hostname", "GO.example.com."];
    assert_eq!(
        lines(&example.output(&valid)),
        [
            "slug api (only on custom domains)",
            "target https://xn--bcher-kva.example/a",
            "hostname go.example.com"
        ]
    );
    let invalid = example.output(&["slug", "a b", "slug", "sale"]);
    assert!(!invalid.status.success());
    assert!(invalid.stdout.starts_with(b"slug \"a b\" invalid_format: "), "{invalid:?}");
    assert_eq!(
        lines(&example.output(&["domain", "70h", "proven", "71h", "ready"])),
        ["0h pending", "70h proven: ssl_pending", "71h ready: active"]
    );
    assert_eq!(lines(&example.output(&["domain", "73h", "proven"])), ["0h pending", "73h proven: failed"]);
    if example.has_own_crates {
        let tree = run(
            &example.folder,
            &["tree", "--locked", "--offline", "--edges", "normal,build", "--prefix", "none", "--no-dedupe"],
        );
        let crates: BTreeSet<String> = lines(&tree).into_iter().collect();
        assert!((2..MAX_CRATES).contains(&crates.len()), "{} crates: {crates:#?}", crates.len());
    }
}
