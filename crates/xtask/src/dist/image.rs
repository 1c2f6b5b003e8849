//! The container image, built without an engine: the few files of Debian that the program needs, and the program.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::contents::Contents;
use super::notices;
use super::processor::Processor;
use super::tree::{Tree, tar};
use super::{Artifact, Place};
use crate::tool_folder::run;

/// The instructions for the image.
pub(super) const RECIPE: &str = "packaging/image/Containerfile";

/// The Containerfile for people who build from the sources. The image has the same release of Debian.
pub(super) const FROM_SOURCES: &str = "Containerfile";

/// The packages of Debian whose files are in the image. They are unpacked, not installed, so that no program of another
/// processor has to run. The first one has the folders that the others need.
const PACKAGES: [&str; 4] = ["base-files", "libc6", "libgcc-s1", "ca-certificates"];

/// What is left out, relative to the image: documents, tools, and conversions between character sets that the program does
/// not use.
const LEFT_OUT: [&str; 8] = [
    "usr/share/man",
    "usr/share/lintian",
    "usr/share/info",
    "usr/share/ca-certificates",
    "usr/sbin",
    "usr/lib/*/gconv",
    "usr/share/doc/*/*.gz",
    "usr/share/doc/*/examples",
];

/// The user and group of the program.
const USER: u32 = 10001;

/// The folder that belongs to them.
const DATA: &str = "var/lib/signpost";

/// How large the files of an image may be, and how large compressed, in bytes.
const MAXIMUM_UNPACKED: u64 = 50_000_000;
const MAXIMUM_PACKED: u64 = 20_000_000;

/// Makes the image as an archive that `docker load` and `podman load` read.
pub(super) fn make(
    place: &Place<'_>,
    contents: &Contents,
    processor: Processor,
    program: &Path,
) -> Result<Artifact> {
    let name = format!("signpost-{}-image-{}", place.release.version, processor.name());
    let context = Tree::new(place.work.join(&name))?;
    let release = place.release;
    let unpacked = base(place, processor)?;

    let base = context.path().join("base.tar");
    run(tar("--create", &base, release, 0).arg("--directory").arg(unpacked.path()).arg("."))?;
    let files = Tree::new(place.work.join(format!("{name}-program")))?;
    files.copy_program(program, "usr/local/bin/signpost")?;
    for licence in ["LICENSE-APACHE", "LICENSE-MIT", notices::NAME] {
        let source = contents.source(licence).with_context(|| format!("no {licence}"))?;
        files.copy(source, &format!("usr/share/doc/signpost/{licence}"))?;
    }
    let added = context.path().join("program.tar");
    run(tar("--create", &added, release, 0).arg("--directory").arg(files.path()).arg("usr"))?;
    files.folder(DATA)?;
    run(Command::new("chmod").arg("0700").arg(files.path().join(DATA)))?;
    run(tar("--append", &added, release, USER).arg("--directory").arg(files.path()).arg(DATA))?;

    let archive = place.results.join(format!("{name}.tar"));
    build(place, processor, context.path(), &archive)?;
    // podman does not load a compressed archive, so the size that a registry would transfer is only measured.
    let packed = Command::new("gzip").args(["-9", "--stdout"]).arg(&archive).output()?;
    ensure!(packed.status.success(), "gzip ended with {}", packed.status);
    let mut artifact = Artifact::new(archive);
    artifact.promise("files", fs::metadata(&base)?.len() + fs::metadata(&added)?.len(), MAXIMUM_UNPACKED);
    artifact.promise("compressed", u64::try_from(packed.stdout.len())?, MAXIMUM_PACKED);
    Ok(artifact)
}

/// Unpacks the files of Debian.
fn base(place: &Place<'_>, processor: Processor) -> Result<Tree> {
    let packages = Tree::new(place.work.join(format!("debian-{}", processor.of_debian())))?;
    let sources = fs::read_to_string(place.root.join(FROM_SOURCES))?;
    let debian = debian_release(&sources)?;
    // It knows the mirrors and keys of a release, and gives its hook an `apt-get` for the other processor.
    let download = format!(
        "cd '{}' && APT_CONFIG=\"$MMDEBSTRAP_APT_CONFIG\" apt-get --quiet --quiet -o APT::Sandbox::User= download {}",
        packages.path().display(),
        PACKAGES.join(" ")
    );
    let mut fetch = Command::new("mmdebstrap");
    fetch.args(["--quiet", "--mode=chrootless", "--variant=custom", "--format=null", "--skip=check/qemu"]);
    fetch
        .args([format!("--architectures={}", processor.of_debian()), format!("--customize-hook={download}")]);
    run(fetch.arg(debian)).with_context(|| format!("cannot fetch packages of {debian}"))?;

    let root = Tree::new(place.work.join(format!("image-{}", processor.name())))?;
    for package in PACKAGES {
        unpack(&only_package(packages.path(), package)?, &root, package)?;
    }
    let certificates = certificates(&root.path().join("usr/share/ca-certificates"))?;
    root.file("etc/ssl/certs/ca-certificates.crt", certificates)?;
    root.file(
        "etc/passwd",
        "root:x:0:0:root:/:/usr/sbin/nologin\nsignpost:x:10001:10001::/var/lib/signpost:/usr/sbin/nologin\n",
    )?;
    root.file("etc/group", "root:x:0:\nsignpost:x:10001:\n")?;
    root.file("etc/nsswitch.conf", "hosts: files dns\n")?;
    leave_out(&root)?;
    Ok(root)
}

/// Unpacks a package into the root, and notes its version where scanners for vulnerabilities look for it.
fn unpack(package: &Path, root: &Tree, name: &str) -> Result<()> {
    let files = root.path().with_extension("tar");
    let output = Command::new("dpkg-deb").arg("--fsys-tarfile").arg(package).output()?;
    ensure!(output.status.success(), "dpkg-deb ended with {}", output.status);
    fs::write(&files, output.stdout)?;
    let mut tar = Command::new("tar");
    // In the root, folders may be links to others, which must stay.
    tar.args(["--extract", "--keep-directory-symlink", "--no-same-owner", "--file"]).arg(&files);
    run(tar.arg("--directory").arg(root.path()))?;
    let fields = Command::new("dpkg-deb").arg("--field").arg(package).output()?;
    ensure!(fields.status.success(), "dpkg-deb ended with {}", fields.status);
    root.file(&format!("var/lib/dpkg/status.d/{name}"), fields.stdout)
}

/// The one file of this package in the folder of downloads.
fn only_package(folder: &Path, name: &str) -> Result<PathBuf> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if file.starts_with(&format!("{name}_")) {
            return Ok(path);
        }
    }
    anyhow::bail!("{name} was not downloaded")
}

/// All certificates in one text. On a system, the package's script writes it.
fn certificates(folder: &Path) -> Result<String> {
    let mut files = Vec::new();
    for authority in fs::read_dir(folder).context("no certificates")? {
        for file in fs::read_dir(authority?.path())? {
            files.push(file?.path());
        }
    }
    files.sort();
    let mut bundle = String::new();
    for file in files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "crt")) {
        bundle.push_str(&fs::read_to_string(file)?);
        if !bundle.ends_with('\n') {
            bundle.push('\n');
        }
    }
    ensure!(bundle.contains("BEGIN CERTIFICATE"), "the package has no certificates");
    Ok(bundle)
}

fn leave_out(root: &Tree) -> Result<()> {
    let mut remove = Command::new("sh");
    remove.args(["-c", &format!("rm -rf {}", LEFT_OUT.join(" "))]);
    run(remove.current_dir(root.path()))
}

/// The release of Debian that the Containerfile names.
pub(super) fn debian_release(containerfile: &str) -> Result<&str> {
    let release = containerfile.lines().find_map(|line| line.strip_prefix("ARG DEBIAN_RELEASE="));
    release.context("the Containerfile has no DEBIAN_RELEASE")
}

/// Lets buildah follow the instructions, with all that it stores in the folder for files on the way.
fn build(place: &Place<'_>, processor: Processor, context: &Path, archive: &Path) -> Result<()> {
    let buildah = || {
        let mut buildah = Command::new("buildah");
        buildah.args(["--storage-driver", "vfs"]);
        buildah.arg("--root").arg(place.work.join("buildah"));
        buildah.arg("--runroot").arg(place.work.join("buildah-run"));
        buildah
    };
    let version = &place.release.version;
    let tag = format!("signpost:{version}");
    let mut build = buildah();
    // Docker's format, because the other one has no health check.
    build.args(["build", "--quiet", "--format", "docker", "--isolation", "chroot", "--tag", &tag]);
    build.args(["--platform", &format!("linux/{}", processor.of_debian())]);
    build.args(["--timestamp", &place.release.time.to_string()]);
    build.args(["--build-arg", &format!("REVISION={}", place.release.revision)]);
    build.args(["--label", &format!("org.opencontainers.image.version={version}")]);
    build.arg("--file").arg(place.root.join(RECIPE));
    run(build.arg(context))?;
    let mut push = buildah();
    push.args(["push", "--quiet", &tag]);
    run(push.arg(format!("docker-archive:{}:{tag}", archive.display())))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{certificates, debian_release, only_package};

    #[test]
    fn the_release_of_debian_is_that_of_the_containerfile() {
        assert_eq!(debian_release("ARG RUST=1\nARG DEBIAN_RELEASE=bookworm\n").unwrap(), "bookworm");
        assert!(debian_release("FROM scratch\n").is_err());
    }

    #[test]
    fn certificates_are_one_text_in_a_fixed_order() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("mozilla")).unwrap();
        for (name, text) in [("b.crt", "BEGIN CERTIFICATE b\n"), ("a.crt", "a"), ("c.txt", "no certificate")]
        {
            fs::write(folder.path().join("mozilla").join(name), text).unwrap();
        }
        assert_eq!(certificates(folder.path()).unwrap(), "a\nBEGIN CERTIFICATE b\n");
        fs::remove_file(folder.path().join("mozilla/b.crt")).unwrap();
        assert!(certificates(folder.path()).is_err());
    }

    #[test]
    fn packages_are_found_by_their_whole_name() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("libc6-dev_2.36_amd64.deb"), "").unwrap();
        assert!(only_package(folder.path(), "libc6").is_err());
        fs::write(folder.path().join("libc6_2.36_amd64.deb"), "").unwrap();
        assert!(only_package(folder.path(), "libc6").unwrap().ends_with("libc6_2.36_amd64.deb"));
    }
}
