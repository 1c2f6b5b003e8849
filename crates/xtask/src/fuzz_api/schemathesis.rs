//! Finding and running Schemathesis.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::program::Program;

/// The variable with the path of the program, if it is not on the path.
const VARIABLE: &str = "SCHEMATHESIS";

/// Its names on the path.
const NAMES: [&str; 2] = ["schemathesis", "st"];

/// The version whose options this crate uses.
const MAJOR_VERSION: u32 = 4;

/// Hooks in Python for rules that the document cannot express.
const HOOKS: &str = include_str!("beyond_the_schema.py");

/// The file name of the hooks.
const HOOKS_FILE: &str = "beyond_the_schema.py";

/// An installed Schemathesis.
#[derive(Debug)]
pub(super) struct Schemathesis(OsString);

impl Schemathesis {
    /// Finds the program in the variable `SCHEMATHESIS`, or else on the path.
    ///
    /// # Errors
    /// If it is missing or has another version; the message says how to install it.
    pub(super) fn find() -> Result<Self> {
        if let Some(named) = env::var_os(VARIABLE).filter(|named| !named.is_empty()) {
            return match major_version(&named) {
                Some(MAJOR_VERSION) => Ok(Self(named)),
                Some(other) => bail!("{VARIABLE} is version {other} of Schemathesis; {INSTALL}"),
                None => bail!("{VARIABLE} is not Schemathesis: {}; {INSTALL}", named.to_string_lossy()),
            };
        }
        let found = NAMES.map(OsString::from).into_iter().find(|name| {
            // Other programs have the name `st` too.
            major_version(name) == Some(MAJOR_VERSION)
        });
        found.map(Self).with_context(|| format!("Schemathesis {MAJOR_VERSION} is not on the path; {INSTALL}"))
    }

    /// Runs all its checks and phases on the program, and returns its exit code.
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
            // It writes files to its working directory, and reads `schemathesis.toml` there.
            .current_dir(folder)
            .env("SCHEMATHESIS_HOOKS", HOOKS_FILE)
            .stdin(Stdio::null())
            .status()
            .context("cannot start Schemathesis")?;
        // There is no exit code if a signal ended it.
        Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
    }
}

const INSTALL: &str = "install it from PyPI with `pip install 'schemathesis>=4,<5'` (best in a virtual environment), and \
                       put it on the path or its path into the variable SCHEMATHESIS";

/// The major version of Schemathesis; `None` if `program` is another program.
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
        // Keep no database of earlier runs, so that the seed alone decides.
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
    fn other_programs_named_st_have_no_version() {
        assert_eq!(parse_version("schemathesis, version 4.32.5\n"), Some(4));
        assert_eq!(parse_version("Schemathesis, version 3.0.1"), Some(3));
        for other in
            ["", "st 0.9", "simple terminal, version 4.0", "schemathesis", "schemathesis, version x.1"]
        {
            assert_eq!(parse_version(other), None, "{other}");
        }
    }
}
