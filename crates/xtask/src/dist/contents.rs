//! The files beside the program: manual pages, completions, units and documents, and where archives and packages have each.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use super::notices;
use super::tree::Tree;
use crate::tool_folder::run;
use crate::workspace::command;

/// The shells with completions, and the file in which each looks for them in an archive and on a system.
const SHELLS: [(&str, &str, &str); 3] = [
    ("bash", "completions/signpost.bash", "usr/share/bash-completion/completions/signpost"),
    ("zsh", "completions/_signpost", "usr/share/zsh/vendor-completions/_signpost"),
    ("fish", "completions/signpost.fish", "usr/share/fish/vendor_completions.d/signpost.fish"),
];

/// The extensions of the units, which are in `packaging`.
const UNITS: [&str; 3] = ["service", "socket", "timer"];

/// The documents for users and operators, in `docs`. Units name `operations.md` by its path in the package.
const DOCUMENTS: [&str; 9] = [
    "analytics.md",
    "api.md",
    "dashboard.md",
    "dashboard.png",
    "import-export.md",
    "operations.md",
    "pages.md",
    "questions.md",
    "settings.md",
];

/// What only archives have; packages have a form of their own for it.
const OF_ARCHIVES: [(&str, &str); 6] = [
    ("packaging/archive/README.txt", "README.txt"),
    ("packaging/compose.yaml", "compose.yaml"),
    ("packaging/compose.postgres.yaml", "compose.postgres.yaml"),
    ("CHANGELOG.md", "CHANGELOG.md"),
    ("LICENSE-APACHE", "LICENSE-APACHE"),
    ("LICENSE-MIT", "LICENSE-MIT"),
];

/// Where Debian keeps the documents of the package.
pub(super) const DOCUMENTS_OF_DEBIAN: &str = "usr/share/doc/signpost";

/// All files beside the program.
pub(super) struct Contents {
    pub(super) files: Vec<Item>,
}

/// A file and its places, which are relative to the archive's folder and to the root of the system.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) source: PathBuf,
    pub(super) in_archive: String,
    /// `None` if packages do not have it.
    pub(super) in_package: Option<String>,
}

impl Contents {
    /// Collects the files of the repository, and those that this machine's own program writes into the folder `work`.
    pub(super) fn written_by(program: &Path, root: &Path, work: &Path) -> Result<Self> {
        let tree = Tree::new(work.to_owned())?;
        tree.folder("man")?;
        let manual = tree.path().join("man");
        run(command(program).arg("manual").arg(&manual)).context("the program writes no manual pages")?;
        for (shell, in_archive, _) in SHELLS {
            let mut completions = command(program);
            let output = completions.args(["completions", shell]).output().context("cannot start it")?;
            ensure!(output.status.success(), "the program writes no completions for {shell}");
            ensure!(!output.stdout.is_empty(), "the program's completions for {shell} are empty");
            tree.file(in_archive, output.stdout)?;
        }
        let mut files = Vec::new();
        for page in names_in(&manual)? {
            files.push(Item {
                source: manual.join(&page),
                in_archive: format!("man/{page}"),
                in_package: Some(format!("usr/share/man/man1/{page}")),
            });
        }
        let has_first_page = files.iter().any(|file| file.in_archive == "man/signpost.1");
        ensure!(has_first_page, "the program did not write signpost.1");
        for (_, in_archive, in_package) in SHELLS {
            files.push(Item {
                source: tree.path().join(in_archive),
                in_archive: in_archive.to_owned(),
                in_package: Some(in_package.to_owned()),
            });
        }
        files.extend(of_repository(root)?);
        Ok(Self { files })
    }

    /// Adds the licences of others' software in the program.
    pub(super) fn with_notices(mut self, path: PathBuf) -> Self {
        self.files.push(Item {
            source: path,
            in_archive: notices::NAME.to_owned(),
            in_package: Some(format!("{DOCUMENTS_OF_DEBIAN}/{}", notices::NAME)),
        });
        self
    }

    /// What has this place in an archive.
    pub(super) fn source(&self, in_archive: &str) -> Option<&Path> {
        self.files.iter().find(|file| file.in_archive == in_archive).map(|file| file.source.as_path())
    }
}

/// The files of the repository.
fn of_repository(root: &Path) -> Result<Vec<Item>> {
    let mut files = Vec::new();
    for unit in units(root)? {
        files.push(Item {
            source: root.join("packaging").join(&unit),
            in_archive: format!("systemd/{unit}"),
            // systemd reads this folder on merged and on unmerged systems, and Debian 13 allows no other.
            in_package: Some(format!("usr/lib/systemd/system/{unit}")),
        });
    }
    for document in DOCUMENTS {
        files.push(Item {
            source: root.join("docs").join(document),
            in_archive: format!("docs/{document}"),
            in_package: Some(format!("{DOCUMENTS_OF_DEBIAN}/{document}")),
        });
    }
    for (source, in_archive) in OF_ARCHIVES {
        files.push(Item { source: root.join(source), in_archive: in_archive.to_owned(), in_package: None });
    }
    Ok(files)
}

/// The names of the units.
pub(super) fn units(root: &Path) -> Result<Vec<String>> {
    let is_unit = |name: &String| {
        let extension = Path::new(name).extension().and_then(|extension| extension.to_str());
        extension.is_some_and(|extension| UNITS.contains(&extension))
    };
    Ok(names_in(&root.join("packaging"))?.into_iter().filter(is_unit).collect())
}

/// The names in a folder, sorted.
fn names_in(folder: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::process::Command;

    use super::Contents;
    use crate::repository::Repository;
    use crate::tool_folder::run;

    /// Writes what the program writes, in a few lines.
    const PROGRAM: &str = r#"#!/bin/sh
case "$1" in
  manual) echo .TH > "$2/signpost.1" && echo .TH > "$2/signpost-serve.1" ;;
  completions) echo "completions of $2" ;;
esac
"#;

    fn written_by(script: &str, folder: &Path) -> anyhow::Result<Contents> {
        let (text, program) = (folder.join("text"), folder.join("program"));
        fs::write(&text, script).unwrap();
        // By another process: a program that this process had open for writing may still be open in a child of another test,
        // and then it cannot be started.
        run(Command::new("install").args([&text, &program])).unwrap();
        Contents::written_by(&program, Repository::of_this_crate()?.root(), &folder.join("work"))
    }

    #[test]
    fn every_file_exists_and_has_a_place_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let contents = written_by(PROGRAM, folder.path()).unwrap();
        let mut places: Vec<&str> = contents.files.iter().map(|file| file.in_archive.as_str()).collect();
        for expected in [
            "man/signpost-serve.1",
            "completions/_signpost",
            "systemd/signpost.service",
            "docs/operations.md",
        ] {
            assert!(places.contains(&expected), "{places:?}");
        }
        places.sort_unstable();
        places.dedup();
        assert_eq!(places.len(), contents.files.len());
        for file in &contents.files {
            assert!(file.source.is_file(), "{file:?}");
        }
    }

    #[test]
    fn a_program_that_writes_nothing_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let only_completions = "#!/bin/sh\necho words\n";
        let error = written_by(only_completions, folder.path()).err().unwrap();
        assert_eq!(error.to_string(), "the program did not write signpost.1");
        assert!(written_by("#!/bin/sh\nexit 2\n", folder.path()).is_err());
    }
}
