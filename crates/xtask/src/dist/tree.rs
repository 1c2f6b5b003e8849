//! A folder of files for a package, with rights that do not depend on the builder's umask.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::release::Release;
use crate::tool_folder::run;

/// Rights of files, and of programs and folders.
const FILE: u32 = 0o644;
const PROGRAM: u32 = 0o755;

/// A folder that becomes an archive, a package or an image.
pub(super) struct Tree(PathBuf);

impl Tree {
    /// An empty tree at this path.
    pub(super) fn new(path: PathBuf) -> Result<Self> {
        if path.exists() {
            fs::remove_dir_all(&path).with_context(|| format!("cannot remove {}", path.display()))?;
        }
        fs::create_dir_all(&path).with_context(|| format!("cannot make {}", path.display()))?;
        fs::set_permissions(&path, Permissions::from_mode(PROGRAM))?;
        Ok(Self(path))
    }

    /// The folder.
    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// Makes a folder and those above it; `name` is relative to the tree.
    pub(super) fn folder(&self, name: &str) -> Result<()> {
        let mut path = self.0.clone();
        for part in name.split('/').filter(|part| !part.is_empty()) {
            path.push(part);
            if !path.is_dir() {
                fs::create_dir(&path).with_context(|| format!("cannot make {}", path.display()))?;
                fs::set_permissions(&path, Permissions::from_mode(PROGRAM))?;
            }
        }
        Ok(())
    }

    /// Writes a file.
    pub(super) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> Result<()> {
        self.write(name, content.as_ref(), FILE)
    }

    /// Writes a program or script.
    pub(super) fn script(&self, name: &str, content: impl AsRef<[u8]>) -> Result<()> {
        self.write(name, content.as_ref(), PROGRAM)
    }

    /// Copies a file.
    pub(super) fn copy(&self, source: &Path, name: &str) -> Result<()> {
        let content = fs::read(source).with_context(|| format!("cannot read {}", source.display()))?;
        self.file(name, content)
    }

    /// Copies a program.
    pub(super) fn copy_program(&self, source: &Path, name: &str) -> Result<()> {
        let content = fs::read(source).with_context(|| format!("cannot read {}", source.display()))?;
        self.script(name, content)
    }

    /// Compresses a file, so that the result depends on its content only.
    pub(super) fn compress(&self, name: &str) -> Result<()> {
        run(Command::new("gzip").args(["-9", "--no-name", "--force"]).arg(self.0.join(name)))
    }

    fn write(&self, name: &str, content: &[u8], mode: u32) -> Result<()> {
        if let Some((folder, _)) = name.rsplit_once('/') {
            self.folder(folder)?;
        }
        let path = self.0.join(name);
        fs::write(&path, content).with_context(|| format!("cannot write {}", path.display()))?;
        fs::set_permissions(&path, Permissions::from_mode(mode))?;
        Ok(())
    }
}

/// A `tar` that writes the same bytes for the same files, owned by this user and group.
pub(super) fn tar(action: &str, archive: &Path, release: &Release, owner: u32) -> Command {
    let mut command = Command::new("tar");
    command.args([action, "--sort=name", "--numeric-owner"]);
    command.arg(format!("--mtime=@{}", release.time));
    command.args([format!("--owner={owner}"), format!("--group={owner}")]);
    command.arg("--file").arg(archive);
    command
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::Tree;

    #[test]
    fn files_and_folders_have_fixed_rights() {
        let folder = tempfile::tempdir().unwrap();
        let tree = Tree::new(folder.path().join("tree")).unwrap();
        tree.file("usr/share/doc/text", "text").unwrap();
        tree.script("usr/bin/program", "#!/bin/sh").unwrap();
        let mode = |name: &str| fs::metadata(tree.path().join(name)).unwrap().permissions().mode() & 0o7777;
        assert_eq!(mode("usr/share/doc/text"), 0o644);
        assert_eq!(mode("usr/bin/program"), 0o755);
        assert_eq!(mode("usr/share"), 0o755);
    }

    #[test]
    fn a_new_tree_is_empty() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tree");
        Tree::new(path.clone()).unwrap().file("old", "").unwrap();
        let tree = Tree::new(path).unwrap();
        assert!(!tree.path().join("old").exists());
    }
}
