//! The package for Debian and Ubuntu, by `dpkg-deb` (ADR 72).

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use super::contents::{Contents, DOCUMENTS_OF_DEBIAN};
use super::debian_changelog;
use super::processor::Processor;
use super::tree::Tree;
use super::{Artifact, Place};
use crate::tool_folder::run;

/// The folder of the control file and the scripts.
pub(super) const FOLDER: &str = "packaging/debian";

/// The scripts that dpkg runs.
pub(super) const SCRIPTS: [&str; 3] = ["postinst", "prerm", "postrm"];

/// Where dpkg looks for its files in the tree of a package.
const CONTROL: &str = "DEBIAN";

/// How large a package may be, in bytes.
const MAXIMUM: u64 = 12_000_000;

/// How the files of a package are compressed.
#[derive(Debug, Clone, Copy)]
pub(super) enum Compression {
    /// For downloads, in the form that every dpkg reads: the one of Debian 11 cannot read zstd, which is the default of
    /// some builders.
    Smallest,
    /// For packages that do not leave this machine.
    Fastest,
}

impl Compression {
    const fn options(self) -> &'static [&'static str] {
        match self {
            Self::Smallest => &["-Zxz", "-z9", "-Sextreme"],
            Self::Fastest => &["-Zgzip", "-z1"],
        }
    }
}

/// Makes the package of a release.
pub(super) fn make(
    place: &Place<'_>,
    contents: &Contents,
    processor: Processor,
    program: &Path,
) -> Result<Artifact> {
    let package = build(place, contents, processor, program, Compression::Smallest)?;
    let length = fs::metadata(&package)?.len();
    let mut artifact = Artifact::new(package);
    artifact.promise("package", length, MAXIMUM);
    Ok(artifact)
}

/// Makes a package, and returns its path.
pub(super) fn build(
    place: &Place<'_>,
    contents: &Contents,
    processor: Processor,
    program: &Path,
    compression: Compression,
) -> Result<PathBuf> {
    let name = format!("signpost_{}_{}.deb", place.release.version, processor.of_debian());
    let sources = place.root.join(FOLDER);
    let control = read(&sources.join("control"))?;
    let tree = Tree::new(place.work.join(&name))?;

    tree.copy_program(program, "usr/bin/signpost")?;
    tree.folder("etc/signpost")?;
    for file in &contents.files {
        let Some(in_package) = &file.in_package else { continue };
        tree.copy(&file.source, in_package)?;
        if in_package.starts_with("usr/share/man/") {
            tree.compress(in_package)?;
        }
    }
    tree.copy(&sources.join("copyright"), &format!("{DOCUMENTS_OF_DEBIAN}/copyright"))?;
    let changelog = format!("{DOCUMENTS_OF_DEBIAN}/changelog");
    tree.file(&changelog, debian_changelog::written(place.release, maintainer(&control)?)?)?;
    tree.compress(&changelog)?;

    let files = files_in(tree.path())?;
    let checksums = checksums(tree.path(), &files)?;
    let control = complete(&control, &place.release.version, processor, installed_kib(tree.path(), &files)?);
    tree.file(&format!("{CONTROL}/control"), control)?;
    tree.file(&format!("{CONTROL}/md5sums"), checksums)?;
    for script in SCRIPTS {
        tree.script(&format!("{CONTROL}/{script}"), read(&sources.join(script))?)?;
    }

    let package = place.results.join(&name);
    let mut build = Command::new("dpkg-deb");
    build.arg("--root-owner-group").args(compression.options()).arg("--build");
    build.arg(tree.path()).arg(&package).stdout(Stdio::null());
    run(build.env("SOURCE_DATE_EPOCH", place.release.time.to_string()))?;
    Ok(package)
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

/// The name and address of the maintainer in the control file.
fn maintainer(control: &str) -> Result<&str> {
    let maintainer = control.lines().find_map(|line| line.strip_prefix("Maintainer: "));
    maintainer.context("the control file has no maintainer")
}

/// The control file with the fields that differ from package to package.
fn complete(control: &str, version: &str, processor: Processor, installed_kib: u64) -> String {
    let processor = processor.of_debian();
    let fields = format!("Version: {version}\nArchitecture: {processor}\nInstalled-Size: {installed_kib}\n");
    match control.split_once('\n') {
        Some((name, others)) => format!("{name}\n{fields}{others}"),
        None => format!("{control}\n{fields}"),
    }
}

/// The paths of all files below a folder, relative to it and sorted.
fn files_in(root: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
            } else {
                files.push(entry.path().strip_prefix(root)?.to_owned());
            }
        }
    }
    files.sort();
    Ok(files)
}

/// By these checksums `dpkg --verify` finds files that were changed.
fn checksums(root: &Path, files: &[PathBuf]) -> Result<Vec<u8>> {
    let output =
        Command::new("md5sum").args(files).current_dir(root).output().context("cannot start md5sum")?;
    ensure!(output.status.success(), "md5sum ended with {}", output.status);
    Ok(output.stdout)
}

/// The size of the installed files, each rounded up as Debian asks for.
fn installed_kib(root: &Path, files: &[PathBuf]) -> Result<u64> {
    let mut sum = 0;
    for file in files {
        sum += fs::metadata(root.join(file))?.len().div_ceil(1024);
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::{Processor, checksums, complete, files_in, installed_kib, maintainer};

    #[test]
    fn the_control_file_gets_the_fields_of_the_build() {
        let control = "Package: signpost\nMaintainer: A <a@example.com>\n";
        assert_eq!(maintainer(control).unwrap(), "A <a@example.com>");
        let expected = "Package: signpost\nVersion: 1.2.3\nArchitecture: arm64\nInstalled-Size: 7\n\
                        Maintainer: A <a@example.com>\n";
        assert_eq!(complete(control, "1.2.3", Processor::Aarch64, 7), expected);
    }

    #[test]
    fn checksums_and_sizes_are_those_of_all_files() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("usr/bin")).unwrap();
        fs::write(folder.path().join("usr/bin/b"), [0; 1025]).unwrap();
        fs::write(folder.path().join("a"), "").unwrap();
        let files = files_in(folder.path()).unwrap();
        assert_eq!(files, [PathBuf::from("a"), PathBuf::from("usr/bin/b")]);
        assert_eq!(installed_kib(folder.path(), &files).unwrap(), 2);
        let checksums = String::from_utf8(checksums(folder.path(), &files).unwrap()).unwrap();
        assert!(checksums.starts_with("d41d8cd98f00b204e9800998ecf8427e  a\n"), "{checksums}");
        assert!(checksums.ends_with("  usr/bin/b\n"), "{checksums}");
    }
}
