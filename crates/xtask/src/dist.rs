//! `cargo xtask dist`: builds what a release consists of, for this machine's processor or for all.
//!
//! The programs are linked against an old C library, by zig, so that one build of each runs on every distribution that people
//! still use. Archives, packages and images contain the same programs (ADR 72).

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};

mod archive;
mod checksums;
mod contents;
mod debian;
mod debian_changelog;
mod elf;
mod image;
mod notices;
#[cfg(test)]
mod packaging_tests;
mod processor;
mod release;
mod toolchain;
mod tree;

use contents::Contents;
use processor::Processor;
use release::Release;
use toolchain::Toolchain;

use crate::workspace::target_folder;

/// The folder of the results, below cargo's target folder.
const RESULTS: &str = "dist";

/// The folder for everything that is not a result, below cargo's target folder.
const WORK: &str = "dist-work";

/// The options of the command.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// Builds for every processor, and fails if anything is left out.
    #[arg(long)]
    all: bool,
    /// Builds for this processor, beside this machine's own.
    #[arg(long, value_enum, value_name = "NAME")]
    processor: Vec<Processor>,
    /// Makes only these.
    #[arg(long, value_enum, value_name = "KIND")]
    only: Vec<Kind>,
    /// Signs the checksums with this secret key by minisign, which asks for its password. The changelog must have the version.
    #[arg(long, value_name = "FILE")]
    minisign_key: Option<PathBuf>,
}

/// What can be made of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Kind {
    /// An archive with the program, its units and documents.
    Archive,
    /// A package for Debian and Ubuntu.
    Deb,
    /// A container image.
    Image,
}

const KINDS: [Kind; 3] = [Kind::Archive, Kind::Deb, Kind::Image];

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Archive => "archive",
            Self::Deb => "package for Debian",
            Self::Image => "image",
        }
    }

    /// The programs of the system that making it needs: an argument with which each only tells its version, and the package
    /// of Debian with it.
    fn programs(self) -> &'static [(&'static str, &'static str, &'static str)] {
        match self {
            Self::Archive => &[("tar", "--version", "tar"), ("gzip", "--version", "gzip")],
            Self::Deb => &[("dpkg-deb", "--version", "dpkg"), ("gzip", "--version", "gzip")],
            Self::Image => &[
                ("buildah", "--version", "buildah"),
                ("mmdebstrap", "--version", "mmdebstrap"),
                ("dpkg-deb", "--version", "dpkg"),
            ],
        }
    }

    /// The names of the packages of Debian that it needs and that are missing.
    fn missing(self, runs: impl Fn(&str, &str) -> bool) -> Vec<&'static str> {
        let programs = self.programs().iter().filter(|(program, version, _)| !runs(program, version));
        programs.map(|(_, _, package)| *package).collect()
    }
}

/// Builds for the workspace at `root`, and lists the results with their sizes.
///
/// # Errors
/// If a tool is missing and cannot be installed, or the program does not build or needs a newer C library than
/// glibc 2.28. A result that is larger than promised is kept, but the run fails.
pub fn run(root: &Path, options: &Options) -> Result<ExitCode> {
    let mut output = io::stdout().lock();
    let release = Release::of(root)?;
    let (kinds, left_out) = options.kinds(crate::tool_folder::runs);
    for line in &left_out {
        writeln!(output, "LEFT OUT: {line}")?;
    }
    ensure!(left_out.is_empty() || !options.all, "a release has everything; install what is missing");
    if let Some(note) = release.note() {
        ensure!(options.minisign_key.is_none(), "{note}, so they are not signed");
        writeln!(output, "{note}")?;
    }

    let native = Processor::native()?;
    let target = target_folder(root)?;
    let (results, work) = (target.join(RESULTS), target.join(WORK));
    for folder in [&results, &work] {
        if folder.exists() {
            fs::remove_dir_all(folder).with_context(|| format!("cannot remove {}", folder.display()))?;
        }
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    }
    let toolchain = Toolchain::install(root, &target)?;
    let mut artifacts = Vec::new();
    let mut contents = None;
    // This machine's own program comes first, because only it can write the manual pages.
    for processor in options.processors(native) {
        let program = toolchain.build(processor)?;
        elf::check(&program, processor)?;
        let contents = if let Some(contents) = &contents {
            contents
        } else {
            let written = Contents::written_by(&program, root, &work.join("common"))?;
            contents.insert(written.with_notices(notices::write(root, toolchain.tools(), &work)?))
        };
        if processor == native && !options.is_selected(native) {
            continue;
        }
        for kind in &kinds {
            let place = Place { root, release: &release, results: &results, work: &work };
            artifacts.push(match kind {
                Kind::Archive => archive::make(&place, contents, processor, &program)?,
                Kind::Deb => debian::make(&place, contents, processor, &program)?,
                Kind::Image => image::make(&place, contents, processor, &program)?,
            });
        }
    }
    let mut paths: Vec<&Path> = artifacts.iter().map(|artifact| artifact.path.as_path()).collect();
    let checksums = checksums::write(&results, &paths)?;
    paths.extend(checksums.as_deref());
    let signature = options.minisign_key.as_ref().map(|key| checksums::sign(&results, key, &release));
    let signature = signature.transpose()?;
    paths.extend(signature.as_deref());
    for path in paths {
        writeln!(output, "{:>12} bytes  {}", fs::metadata(path)?.len(), path.display())?;
    }
    // Unpacked trees and the storage of buildah take more room than the results.
    fs::remove_dir_all(&work).context("cannot remove the files on the way")?;
    let broken: Vec<&String> = artifacts.iter().flat_map(|artifact| &artifact.broken_promises).collect();
    for promise in &broken {
        writeln!(output, "TOO LARGE: {promise}")?;
    }
    Ok(if broken.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Packages a program that is built already for this machine's Debian, as the version that is given. Returns the path of the
/// package, which is in `folder`. Tests install it; releases are made by [`run`].
///
/// # Errors
/// If the program does not write its manual pages and completions, or a program of the system is missing.
pub fn package_of(program: &Path, version: &str, root: &Path, folder: &Path) -> Result<PathBuf> {
    let release = Release { version: version.to_owned(), ..Release::of(root)? };
    let work = folder.join(WORK);
    let contents = Contents::written_by(program, root, &work.join("common"))?;
    let place = Place { root, release: &release, results: folder, work: &work };
    let package =
        debian::build(&place, &contents, Processor::native()?, program, debian::Compression::Fastest)?;
    fs::remove_dir_all(&work).context("cannot remove the files on the way")?;
    Ok(package)
}

/// Where results are made, and of what.
struct Place<'a> {
    /// The repository.
    root: &'a Path,
    release: &'a Release,
    /// The folder of the results.
    results: &'a Path,
    /// The folder for files on the way.
    work: &'a Path,
}

/// A file of a release, and what is wrong with its sizes.
struct Artifact {
    path: PathBuf,
    broken_promises: Vec<String>,
}

impl Artifact {
    fn new(path: PathBuf) -> Self {
        Self { path, broken_promises: Vec::new() }
    }

    /// Notes whether the file, or a part of it, is larger than promised.
    fn promise(&mut self, what: &str, bytes: u64, maximum: u64) {
        if bytes > maximum {
            let name = self.path.file_name().unwrap_or_default().display();
            self.broken_promises
                .push(format!("{name}: {what}: {bytes} bytes, and at most {maximum} are promised"));
        }
    }
}

impl Options {
    /// The processors to build for, this machine's own first.
    fn processors(&self, native: Processor) -> Vec<Processor> {
        let others = processor::ALL.into_iter().filter(|processor| *processor != native);
        std::iter::once(native)
            .chain(others.filter(|processor| self.is_selected_or_all(*processor)))
            .collect()
    }

    fn is_selected_or_all(&self, processor: Processor) -> bool {
        self.all || self.processor.contains(&processor)
    }

    /// Whether this machine's own processor is to get results, and not only to write the manual pages.
    fn is_selected(&self, native: Processor) -> bool {
        self.processor.is_empty() || self.is_selected_or_all(native)
    }

    /// What to make, and a line for each kind that is left out because programs are missing.
    fn kinds(&self, runs: impl Fn(&str, &str) -> bool) -> (Vec<Kind>, Vec<String>) {
        let mut kinds = Vec::new();
        let mut left_out = Vec::new();
        for kind in KINDS.into_iter().filter(|kind| self.only.is_empty() || self.only.contains(kind)) {
            let missing = kind.missing(&runs);
            if missing.is_empty() {
                kinds.push(kind);
            } else {
                left_out.push(format!("{}: install it: apt-get install {}", kind.name(), missing.join(" ")));
            }
        }
        (kinds, left_out)
    }
}

#[cfg(test)]
mod tests {
    use super::{Artifact, Kind, Options, Processor};

    const NOTHING: Options = Options { all: false, processor: vec![], only: vec![], minisign_key: None };

    #[test]
    fn without_options_this_machines_processor_is_built() {
        assert_eq!(NOTHING.processors(Processor::X86_64), [Processor::X86_64]);
        assert!(NOTHING.is_selected(Processor::X86_64));
        let all = Options { all: true, ..NOTHING };
        assert_eq!(all.processors(Processor::Aarch64), [Processor::Aarch64, Processor::X86_64]);
    }

    #[test]
    fn another_processor_needs_this_machines_program_for_the_manual() {
        let other = Options { processor: vec![Processor::Aarch64], ..NOTHING };
        assert_eq!(other.processors(Processor::X86_64), [Processor::X86_64, Processor::Aarch64]);
        assert!(!other.is_selected(Processor::X86_64));
    }

    #[test]
    fn what_lacks_a_program_is_left_out_with_a_command() {
        let (kinds, left_out) = NOTHING.kinds(|program, _| program != "buildah");
        assert_eq!(kinds, [Kind::Archive, Kind::Deb]);
        assert_eq!(left_out, ["image: install it: apt-get install buildah"]);
        let only = Options { only: vec![Kind::Deb], ..NOTHING };
        assert_eq!(only.kinds(|_, _| true), (vec![Kind::Deb], vec![]));
    }

    #[test]
    fn a_result_that_is_too_large_is_named() {
        let mut artifact = Artifact::new("dist/a.deb".into());
        artifact.promise("package", 12, 12);
        assert_eq!(artifact.broken_promises, Vec::<String>::new());
        artifact.promise("package", 13, 12);
        assert_eq!(artifact.broken_promises, ["a.deb: package: 13 bytes, and at most 12 are promised"]);
    }
}
