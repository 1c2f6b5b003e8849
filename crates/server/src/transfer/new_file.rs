//! A file that gets its name when it is whole.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};

/// A file that is being written. Until [`Self::finish`], whatever had its name before has it still; dropped before that,
/// it leaves nothing behind. It is readable by its owner alone.
pub(crate) struct NewFile {
    to: Destination,
}

enum Destination {
    /// Written beside the target, which it then replaces.
    Beside { file: BufWriter<NamedTempFile>, target: PathBuf },
    /// Something that is no regular file, such as a pipe, and so cannot be replaced.
    Through(BufWriter<File>),
}

impl NewFile {
    /// Begins to write the file `target`.
    ///
    /// # Errors
    /// No file can be made in its folder, or something else there has its name.
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

    /// Gives the file its name. Both are on the disk then, and survive a loss of power. What is no regular file is only
    /// handed all that was written.
    ///
    /// # Errors
    /// The rest could not be written, or the file not be renamed: whatever had the name has it still. Or the folder could
    /// not be synced: the file has its name, but a loss of power may take it away.
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

/// A name is the folder's, and not synced with the file.
#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Elsewhere folders cannot be opened, and a name is kept by the file system's own journal.
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
    fn a_file_has_its_name_when_it_is_whole_and_not_before() {
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
    fn a_file_that_is_not_finished_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let mut file = NewFile::create(&folder.path().join("links.csv")).unwrap();
        file.write_all(b"half").unwrap();
        drop(file);
        assert!(names(folder.path()).is_empty());
    }

    #[test]
    fn a_folder_is_no_file() {
        let folder = tempfile::tempdir().unwrap();
        assert!(NewFile::create(folder.path()).is_err());
        assert!(NewFile::create(&folder.path().join("missing").join("links.csv")).is_err());
    }
}
