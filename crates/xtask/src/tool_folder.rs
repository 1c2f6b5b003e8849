//! A folder of tools from package registries, in versions that this crate fixes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

/// Where the tools of one command of the repository are installed.
pub(crate) struct ToolFolder(PathBuf);

impl ToolFolder {
    /// Uses this folder, and makes it if it is missing.
    pub(crate) fn at(path: PathBuf) -> Result<Self> {
        fs::create_dir_all(&path).context("no folder for the tools")?;
        Ok(Self(path))
    }

    /// The folder itself.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// A program of the packages for Python.
    pub(crate) fn python(&self, name: &str) -> PathBuf {
        self.0.join("python/bin").join(name)
    }

    /// Installs packages for Python into an environment of their own; `list` is a file of requirements.
    pub(crate) fn install_python_packages(&self, list: &str) -> Result<()> {
        self.unless_installed("requirements.txt", list, |list| {
            run(Command::new("python3").args(["-m", "venv", "python"]).current_dir(&self.0))?;
            run(Command::new(self.python("pip")).args(["install", "--quiet", "--requirement"]).arg(list))
        })
    }

    /// A program that cargo installed.
    pub(crate) fn cargo_program(&self, name: &str) -> PathBuf {
        self.0.join("bin").join(name)
    }

    /// Builds and installs a program by cargo. `options` are others of cargo: `--debug` builds in a fraction of the time.
    pub(crate) fn install_cargo_program(&self, name: &str, version: &str, options: &[&str]) -> Result<()> {
        self.unless_installed(&format!("{name}.txt"), version, |_| {
            let mut command = crate::workspace::cargo();
            command.args(["install", "--locked", name, "--version", version]).args(options);
            command.arg("--root").arg(&self.0);
            run(command.arg("--target-dir").arg(self.0.join("building")))
        })
    }

    /// Writes the list of packages and installs them, unless the list is that of the last installation.
    pub(crate) fn unless_installed(
        &self,
        name: &str,
        list: &str,
        install: impl FnOnce(&Path) -> Result<()>,
    ) -> Result<()> {
        let (path, done) = (self.0.join(name), self.0.join(format!("{name}.installed")));
        if fs::read_to_string(&done).is_ok_and(|installed| installed == list) {
            return Ok(());
        }
        fs::write(&path, list).with_context(|| format!("cannot write {}", path.display()))?;
        install(&path)?;
        fs::write(&done, list).with_context(|| format!("cannot write {}", done.display()))
    }
}

/// Whether a program of the system starts with this argument, with which it only tells its version.
pub(crate) fn runs(program: &str, version: &str) -> bool {
    let status = Command::new(program).arg(version).stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// Runs a command without input, and fails if it does.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = command.stdin(Stdio::null()).status();
    let name = command.get_program().display().to_string();
    let status = status.with_context(|| format!("cannot start {name}"))?;
    ensure!(status.success(), "{name} ended with {status}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use anyhow::bail;

    use super::ToolFolder;

    #[test]
    fn an_installation_is_repeated_after_a_failure_and_for_another_list() {
        let folder = tempfile::tempdir().unwrap();
        let tools = ToolFolder::at(folder.path().join("tools")).unwrap();
        let mut installed = Vec::new();
        assert!(tools.unless_installed("list", "one", |_| bail!("no network")).is_err());
        for list in ["one", "one", "two"] {
            tools
                .unless_installed("list", list, |path| {
                    installed.push(fs::read_to_string(path)?);
                    Ok(())
                })
                .unwrap();
        }
        assert_eq!(installed, ["one", "two"]);
    }
}
