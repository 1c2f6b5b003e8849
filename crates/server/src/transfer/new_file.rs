//! A file that appears under its name once it is complete.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};

/// A file that is being written. An existing file of its name stays until [`Self::finish`]; a file dropped
/// before that leaves nothing behind. Only its owner can read it.
pub(crate) struct NewFile {
    to: Destination,
}

enum Destination {
    /// Written beside the target, which it then replaces.
    Beside { file: BufWriter<NamedTempFile>, target: PathBuf },
    /// Not a regular file but, for example, a pipe, which cannot be replaced.
    Through(BufWriter<File>),
}

impl NewFile {
    /// Starts to write the file `target`.
    ///
    /// # Errors
    /// No file can be created in its folder, or a folder has its name.
    pub(crate) fn create(target: &Path) -> io::Result<Self> {
        if fs::metadata(target).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
            let file = File::options().write(true).open(target)?;
            return Ok(Self { to: Destination::Through(BufWriter::new(file)) });
        }
        if target.is_dir() {
            return Err(io::Error::from(io::ErrorKind::IsADirectory));
        }
        let name = target.file_name().ok_or(io::ErrorKind::InvalidFilename)?.to_string_lossy();
        let prefix = format!(".{name}.");
        let file = Builder::new().prefix(&prefix).suffix(".partial").tempfile_in(folder_of(target))?;
        Ok(Self { to: Destination::Beside { file: BufWriter::new(file), target: target.to_owned() } })
    }

    /// Gives the file its name. File and name are then on disk, and survive a loss of power. A target that is
    /// not a regular file is only flushed.
    ///
    /// # Errors
    /// The rest cannot be written, or the file cannot be renamed: an existing file of the name stays. Or the
    /// folder cannot be synced: the file has its name, but may lose it with the power.
    pub(crate) fn finish(self) -> io::Result<()> {
        match self.to {
            Destination::Beside { file, target } => {
                let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
                file.as_file().sync_all()?;
                file.persist(&target)?;
                sync_folder(folder_of(&target))
            }
            Destination::Through(mut file) => file.flush(),
        }
    }
}

fn folder_of(file: &Path) -> &Path {
    match file.parent() {
        Some(folder) if folder != Path::new("") => folder,
        Some(_) | None => Path::new("."),
    }
}

/// The name is stored in the folder, so syncing the file does not sync it.
#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// On other systems folders cannot be opened, and the file system's journal keeps the name.
#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.to {
            Destination::Beside { file, target: _ } => file.write(bytes),
            Destination::Through(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.to {
            Destination::Beside { file, target: _ } => file.flush(),
            Destination::Through(file) => file.flush(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn a_file_appears_under_its_name_only_when_complete() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("links.csv");
        fs::write(&target, "before").unwrap();
        let mut file = NewFile::create(&target).unwrap();
        file.write_all(b"after").unwrap();
        file.flush().unwrap();
        assert_eq!(fs::read_to_string(&target).unwrap(), "before");
        file.finish().unwrap();
        assert_eq!(fs::read_to_string(&target).unwrap(), "after");
        assert_eq!(names(folder.path()), ["links.csv"]);
    }

    #[test]
    fn an_unfinished_file_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let mut file = NewFile::create(&folder.path().join("links.csv")).unwrap();
        file.write_all(b"half").unwrap();
        drop(file);
        assert!(names(folder.path()).is_empty());
    }

    #[test]
    fn a_folder_is_refused_as_a_file() {
        let folder = tempfile::tempdir().unwrap();
        assert!(NewFile::create(folder.path()).is_err());
        assert!(NewFile::create(&folder.path().join("missing").join("links.csv")).is_err());
    }
}
