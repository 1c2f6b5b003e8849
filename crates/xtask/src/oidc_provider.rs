//! Installs the certified identity provider of the tests from its package registry, if Node.js is there and that is allowed.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};
use signpost_test_servers::oidc_provider::{LOCKED_PACKAGES, PACKAGES};

use crate::servers::FORBID_INSTALLATION;
use crate::tool_folder::{ToolFolder, run, runs};
use crate::workspace::target_folder;

/// Returns the folder of its packages. Without Node.js or a network there is none, and the reason.
///
/// # Errors
/// If the folder cannot be written.
pub(crate) fn provide(root: &Path) -> Result<Result<PathBuf, String>> {
    let tools = ToolFolder::at(target_folder(root)?.join("tools/oidc-provider"))?;
    fs::write(tools.path().join("package.json"), PACKAGES).context("cannot write the list of packages")?;
    let is_forbidden = env::var_os(FORBID_INSTALLATION).is_some_and(|value| value == "0");
    let installed = tools.unless_installed("package-lock.json", LOCKED_PACKAGES, |_| {
        anyhow::ensure!(!is_forbidden, "{FORBID_INSTALLATION}=0 forbids its installation");
        anyhow::ensure!(runs("npm", "--version"), "npm is missing");
        let options = ["ci", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--fetch-retries=0"];
        run(Command::new("npm").args(options).current_dir(tools.path()))
    });
    let why = |error: anyhow::Error| {
        format!(
            "oidc-provider is not installed: the test at a certified identity provider did NOT run; {error}"
        )
    };
    Ok(installed.map(|()| tools.path().to_owned()).map_err(why))
}
