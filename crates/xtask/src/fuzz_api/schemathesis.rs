//! Schemathesis: where it is, and how it is called.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::program::Program;

/// The variable that names the program, for those who have it elsewhere than on the path.
const VARIABLE: &str = "SCHEMATHESIS";

/// Its names on the path.
const NAMES: [&str; 2] = ["schemathesis", "st"];

/// The version whose options are used here.
const MAJOR_VERSION: u32 = 4;

/// What it is told about rules that the document cannot state, in its own language.
const HOOKS: &str = include_str!("beyond_the_schema.py");

/// Where it finds that.
const HOOKS_FILE: &str = "beyond_the_schema.py";

/// An installed Schemathesis.
#[derive(Debug)]
pub(super) struct Schemathesis(OsString);

impl Schemathesis {
    /// Finds it: the one that the variable `SCHEMATHESIS` names, else the one on the path.
    ///
    /// # Errors
    /// There is none, or another version; the message says how to install it.
    pub(super) fn find() -> Result<Self> {
        if let Some(named) = env::var_os(VARIABLE).filter(|named| !named.is_empty()) {
            return match major_version(&named) {
                Some(MAJOR_VERSION) => Ok(Self(named)),
                Some(other) => bail!("{VARIABLE} names version {other} of Schemathesis; {INSTALL}"),
                None => bail!("{VARIABLE} names no Schemathesis: {}; {INSTALL}", named.to_string_lossy()),
            };
        }
        let found = NAMES.map(OsString::from).into_iter().find(|name| {
            // Other programs are called `st` too.
            major_version(name) == Some(MAJOR_VERSION)
        });
        found
            .map(Self)
            .with_context(|| format!("there is no Schemathesis {MAJOR_VERSION} on the path; {INSTALL}"))
    }

    /// Runs it on the program, with every check and in every phase, and gives its exit code.
    pub(super) fn run(
        &self,
        folder: &Path,
        program: &Program,
        seed: u32,
        max_examples: u32,
        further: &[OsString],
    ) -> Result<u8> {
        fs::write(folder.join(HOOKS_FILE), HOOKS)?;
        let status = Command::new(&self.0)
            .args(arguments(program, seed, max_examples))
            .args(further)
            // It leaves its notes in the folder where it runs, and reads a `schemathesis.toml` that lies there.
            .current_dir(folder)
            .env("SCHEMATHESIS_HOOKS", HOOKS_FILE)
            .stdin(Stdio::null())
            .status()
            .context("cannot start Schemathesis")?;
        // One that a signal ended has no code.
        Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
    }
}

const INSTALL: &str = "install it from PyPI with `pip install 'schemathesis>=4,<5'` (best in a virtual environment), and \
                       put it on the path or its path into the variable SCHEMATHESIS";

/// The major version of a Schemathesis, or nothing if `program` is none.
fn major_version(program: &OsString) -> Option<u32> {
    let output = Command::new(program).arg("--version").stdin(Stdio::null()).output().ok()?;
    parse_version(&String::from_utf8_lossy(&output.stdout))
}

/// Reads `schemathesis, version 4.32.5`.
fn parse_version(text: &str) -> Option<u32> {
    let (name, version) = text.trim().split_once(", version ")?;
    let (major, _) = version.split_once('.')?;
    if name.eq_ignore_ascii_case("schemathesis") { major.parse().ok() } else { None }
}

fn arguments(program: &Program, seed: u32, max_examples: u32) -> Vec<String> {
    let Program { api, key, .. } = program;
    [
        "run",
        &format!("{api}/openapi.json"),
        "--url",
        api,
        "--header",
        &format!("Authorization: Bearer {key}"),
        "--checks",
        "all",
        "--phases",
        "examples,coverage,fuzzing,stateful",
        "--mode",
        "all",
        "--max-examples",
        &max_examples.to_string(),
        "--seed",
        &seed.to_string(),
        // The seed says it all: no memory of former runs.
        "--generation-database",
        "none",
        "--continue-on-failure",
        "--request-timeout",
        "30",
    ]
    .map(str::to_owned)
    .to_vec()
}

#[cfg(test)]
mod tests {
    use super::parse_version;

    #[test]
    fn only_schemathesis_has_a_version() {
        assert_eq!(parse_version("schemathesis, version 4.32.5\n"), Some(4));
        assert_eq!(parse_version("Schemathesis, version 3.0.1"), Some(3));
        for other in
            ["", "st 0.9", "simple terminal, version 4.0", "schemathesis", "schemathesis, version x.1"]
        {
            assert_eq!(parse_version(other), None, "{other}");
        }
    }
}
