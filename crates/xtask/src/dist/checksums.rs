//! The checksums of the results, and their signature.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::release::Release;

/// The file of the checksums, in the format of `sha256sum`.
const FILE: &str = "SHA256SUMS";

/// Writes the checksums of the results; nothing if there are none.
pub(super) fn write(folder: &Path, results: &[&Path]) -> Result<Option<PathBuf>> {
    if results.is_empty() {
        return Ok(None);
    }
    let names = results.iter().filter_map(|path| path.file_name());
    let output = Command::new("sha256sum").args(names).current_dir(folder).output();
    let output = output.context("cannot start sha256sum")?;
    ensure!(output.status.success(), "sha256sum ended with {}", output.status);
    let path = folder.join(FILE);
    fs::write(&path, output.stdout).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(Some(path))
}

/// Signs the checksums by minisign, which asks for the key's password.
pub(super) fn sign(folder: &Path, key: &Path, release: &Release) -> Result<PathBuf> {
    let mut command = Command::new("minisign");
    command.arg("-S").arg("-s").arg(key).arg("-m").arg(folder.join(FILE));
    // The trusted comment is signed too, so that an old signature cannot pass for that of a newer version.
    command.arg("-t").arg(format!("Signpost {}", release.version));
    let status = command.status().context("cannot start minisign: apt-get install minisign")?;
    ensure!(status.success(), "minisign ended with {status}");
    Ok(folder.join(format!("{FILE}.minisig")))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::write;

    #[test]
    fn checksums_name_files_without_their_folder() {
        let folder = tempfile::tempdir().unwrap();
        let result = folder.path().join("a");
        fs::write(&result, "").unwrap();
        let path = write(folder.path(), &[&result]).unwrap().unwrap();
        let expected = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  a\n";
        assert_eq!(fs::read_to_string(path).unwrap(), expected);
        assert_eq!(write(folder.path(), &[]).unwrap(), None);
    }
}
