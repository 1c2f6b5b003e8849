//! The files that belong to the repository, and their text.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

/// A checkout: its root and all files that git does not ignore.
#[derive(Debug)]
pub struct Repository {
    root: PathBuf,
    files: Vec<String>,
}

impl Repository {
    /// The checkout that this crate was compiled in.
    pub fn of_this_crate() -> Result<Self> {
        Self::at(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")))
    }

    /// The checkout at the folder `root`.
    ///
    /// It omits files that git ignores. If git is not installed or `root` is an unpacked archive, it walks the folders and
    /// follows the `.gitignore` of the root.
    pub fn at(root: &Path) -> Result<Self> {
        let root = root.canonicalize().with_context(|| format!("no folder {}", root.display()))?;
        let mut files = match listed_by_git(&root) {
            Some(files) => files,
            None => walked(&root)?,
        };
        files.sort();
        files.dedup();
        Ok(Self { root, files })
    }

    /// The root folder. All paths are relative to it.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The path of every file, relative to the root and with `/` as separator, in alphabetical order.
    #[must_use]
    pub fn files(&self) -> &[String] {
        &self.files
    }

    /// The text of a file; `None` if it is not UTF-8.
    pub fn text(&self, path: &str) -> Result<Option<String>> {
        let bytes = fs::read(self.root.join(path)).with_context(|| format!("cannot read {path}"))?;
        Ok(String::from_utf8(bytes).ok())
    }

    /// Every text file with its text. Omits deleted files that are still in git's index.
    pub fn texts(&self) -> Result<Vec<(&str, String)>> {
        let mut texts = Vec::new();
        for path in &self.files {
            match fs::read_to_string(self.root.join(path)) {
                Ok(text) => texts.push((path.as_str(), text)),
                Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::InvalidData) => {}
                Err(error) => return Err(error).with_context(|| format!("cannot read {path}")),
            }
        }
        Ok(texts)
    }
}

/// The files by git, or `None` if git cannot list this folder. Inside another checkout git gives an empty or partial list,
/// so the list counts only if it has the manifest of the root.
fn listed_by_git(root: &Path) -> Option<Vec<String>> {
    let output = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard", "-z"])
        .current_dir(root)
        .stdin(Stdio::null())
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    let files: Vec<String> = String::from_utf8(output.stdout)
        .ok()?
        .split('\0')
        .filter(|path| !path.is_empty())
        .map(str::to_owned)
        .collect();
    files.iter().any(|path| path == "Cargo.toml").then_some(files)
}

fn walked(root: &Path) -> Result<Vec<String>> {
    let ignored = ignored_at_root(root)?;
    let mut files = Vec::new();
    let mut folders = vec![String::new()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root.join(&folder)).with_context(|| format!("cannot list {folder}"))? {
            let entry = entry?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            if name == ".git" || (folder.is_empty() && ignored.iter().any(|pattern| pattern.matches(&name))) {
                continue;
            }
            let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
            if entry.file_type()?.is_dir() {
                folders.push(path);
            } else {
                files.push(path);
            }
        }
    }
    Ok(files)
}

/// A line of the root's `.gitignore`: `/name` or `/prefix*`, the two forms in this repository.
enum Ignored {
    Name(String),
    Beginning(String),
}

impl Ignored {
    fn matches(&self, name: &str) -> bool {
        match self {
            Self::Name(ignored) => name == ignored,
            Self::Beginning(ignored) => name.starts_with(ignored.as_str()),
        }
    }
}

fn ignored_at_root(root: &Path) -> Result<Vec<Ignored>> {
    let text = match fs::read_to_string(root.join(".gitignore")) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
        Err(error) => return Err(error).context("cannot read .gitignore"),
    };
    let patterns = text.lines().filter_map(|line| line.trim().strip_prefix('/'));
    Ok(patterns
        .map(|pattern| match pattern.strip_suffix('*') {
            Some(beginning) => Ignored::Beginning(beginning.to_owned()),
            None => Ignored::Name(pattern.trim_end_matches('/').to_owned()),
        })
        .collect())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::Repository;

    #[test]
    fn walking_an_archive_omits_files_ignored_at_its_root() {
        let folder = tempfile::tempdir().unwrap();
        for path in [".ci", ".git", "crates/one/target", "target/debug"] {
            fs::create_dir_all(folder.path().join(path)).unwrap();
        }
        fs::write(folder.path().join(".gitignore"), "/target\n/signpost.db*\n").unwrap();
        let files = [
            ".ci/run",
            ".git/HEAD",
            "Cargo.toml",
            "crates/one/target/kept.rs",
            "signpost.db-wal",
            "target/debug/x",
        ];
        for path in files {
            fs::write(folder.path().join(path), "").unwrap();
        }
        let repository = Repository::at(folder.path()).unwrap();
        assert_eq!(repository.files(), [".ci/run", ".gitignore", "Cargo.toml", "crates/one/target/kept.rs"]);
    }

    #[test]
    fn a_binary_file_has_no_text() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("picture"), [0xff, 0xd8]).unwrap();
        fs::write(folder.path().join("words"), "words").unwrap();
        let repository = Repository::at(folder.path()).unwrap();
        assert_eq!(repository.text("picture").unwrap(), None);
        assert_eq!(repository.text("words").unwrap().as_deref(), Some("words"));
        assert_eq!(repository.texts().unwrap(), [("words", "words".to_owned())]);
        assert!(repository.text("absent").is_err());
    }
}
