//! The files of a small Debian system, which are fetched once and kept below cargo's target folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What the test needs beside the essential packages.
const PACKAGES: [&str; 7] =
    ["systemd", "systemd-sysv", "dbus", "ca-certificates", "curl", "pebble", "sqlite3"];

/// The archive of the system's files. The reason is why there is none.
///
/// It is of the same release as this machine, because the program of the tests needs this machine's C library.
pub(crate) fn archive() -> Result<PathBuf, String> {
    let release = release()?;
    // The name says what is in it, so that other packages make another archive.
    let archive = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("{release}-with-{}.tar", PACKAGES.join("-with-")));
    if !archive.is_file() {
        fetch(&release, &archive)?;
    }
    Ok(archive)
}

/// The release of Debian that this machine runs.
fn release() -> Result<String, String> {
    let text = fs::read_to_string("/etc/os-release").unwrap_or_default();
    let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(&format!("{name}=")));
    match (field("ID"), field("VERSION_CODENAME")) {
        (Some("debian"), Some(release)) => Ok(release.to_owned()),
        _ => Err("this machine does not run Debian".to_owned()),
    }
}

fn fetch(release: &str, archive: &Path) -> Result<(), String> {
    let unfinished = archive.with_extension("new.tar");
    let mut fetch = Command::new("mmdebstrap");
    fetch.args(["--quiet", "--variant=minbase"]).arg(format!("--include={}", PACKAGES.join(",")));
    fetch.arg(release).arg(&unfinished).stdin(Stdio::null());
    let output = fetch.output().map_err(|error| format!("mmdebstrap: {error}"))?;
    if !output.status.success() {
        return Err(format!("mmdebstrap: {}", String::from_utf8_lossy(&output.stderr)));
    }
    fs::rename(&unfinished, archive).map_err(|error| error.to_string())
}
