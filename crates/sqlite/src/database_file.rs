//! The location of the database file.

use std::fs::OpenOptions;
use std::io;
use std::path::{Path, PathBuf};

use crate::open_error::OpenError;

/// The file of the database, existing or not. While it is in use, SQLite keeps two more files beside it,
/// named with `-wal` and `-shm`. A copy of the first alone is no backup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatabaseFile {
    path: PathBuf,
    text: String,
    contents: Contents,
}

/// The contents of a file. Each kind has its own tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Contents {
    /// Everything but clicks.
    Links,
    /// Clicks (ADR 47).
    Clicks,
}

/// What the name of the file of clicks adds to that of the database.
pub(crate) const CLICKS: &str = "-clicks";

impl DatabaseFile {
    /// The file that the setting `database-url` names (D61): `sqlite://` and a literal path without escapes and options. A
    /// relative path is resolved against the working directory.
    ///
    /// ```
    /// # use signpost_sqlite::DatabaseFile;
    /// let file = DatabaseFile::from_url("sqlite:///var/lib/signpost.db").unwrap();
    /// assert_eq!(file.path().to_str(), Some("/var/lib/signpost.db"));
    /// assert!(DatabaseFile::from_url("sqlite://:memory:").is_err());
    /// ```
    pub fn from_url(url: &str) -> Result<Self, OpenError> {
        let refused = |reason| OpenError::NotAPath { url: url.to_owned(), reason };
        let path =
            url.strip_prefix("sqlite://").ok_or_else(|| refused("it does not begin with `sqlite://`"))?;
        if path.contains('?') {
            return Err(refused("options after a `?` are not supported"));
        }
        if path == ":memory:" {
            return Err(refused("an in-memory database is not supported, because several threads share it"));
        }
        Self::at(path)
    }

    /// The file at a path.
    pub fn at(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        let path = path.as_ref();
        let refused = |reason| OpenError::NotAPath { url: path.display().to_string(), reason };
        // An absolute path is never one of the names that SQLite interprets, such as `file:x`.
        let path = std::path::absolute(path).map_err(|_| refused("the path is empty"))?;
        let text = path.to_str().ok_or_else(|| refused("the path is not valid UTF-8"))?.to_owned();
        Ok(Self { path, text, contents: Contents::Links })
    }

    /// The file beside this one that stores the clicks: `signpost-clicks.db` beside `signpost.db`.
    #[must_use]
    pub fn of_clicks(&self) -> Self {
        self.beside(CLICKS).holding(Contents::Clicks)
    }

    /// The file whose name has this addition before the extension.
    pub(crate) fn beside(&self, addition: &str) -> Self {
        let (stem, extension) = self.stem_and_extension();
        let text = format!("{stem}{addition}{extension}");
        Self { path: PathBuf::from(&text), text, contents: self.contents }
    }

    pub(crate) fn holding(self, contents: Contents) -> Self {
        Self { contents, ..self }
    }

    /// The folder of the file.
    pub(crate) fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("/"))
    }

    /// The file in which SQLite collects changes.
    pub(crate) fn write_ahead_log(&self) -> PathBuf {
        format!("{}-wal", self.text).into()
    }

    /// The file beside this one for the secret that is not in the database: `signpost-secrets.key` beside `signpost.db`.
    /// It is no part of a backup, because a backup with it would suffice to compute visitors' hashes (ADR 64).
    #[must_use]
    pub fn secrets_key(&self) -> PathBuf {
        let (stem, _) = self.stem_and_extension();
        format!("{stem}-secrets.key").into()
    }

    pub(crate) fn stem_and_extension(&self) -> (&str, &str) {
        // Only the part after the last dot of the name is an extension; folder names may contain dots too.
        let name_begins = self.text.rfind(std::path::MAIN_SEPARATOR).map_or(0, |place| place + 1);
        let name = self.text.get(name_begins..).unwrap_or_default();
        match name.rfind('.') {
            Some(dot) if dot > 0 => self.text.split_at(name_begins + dot),
            _ => (&self.text, ""),
        }
    }

    pub(crate) const fn contents(&self) -> Contents {
        self.contents
    }

    /// The absolute path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path in the form for SQLite.
    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether the file exists and is not empty. SQLite leaves an empty file if nothing was ever written.
    pub(crate) fn holds_something(&self) -> bool {
        self.path.metadata().is_ok_and(|metadata| metadata.len() > 0)
    }

    /// Rejects a missing or empty file, because opening it would create a database.
    pub(crate) fn must_hold_a_database(&self) -> Result<(), OpenError> {
        match self.path.metadata() {
            Ok(metadata) if metadata.len() > 0 => Ok(()),
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                Err(OpenError::NoFile { path: self.path.clone(), source })
            }
            Ok(_) | Err(_) => Err(self.is_no_database()),
        }
    }

    /// The error for a file without a database.
    pub(crate) fn is_no_database(&self) -> OpenError {
        OpenError::NoDatabase { path: self.path.clone() }
    }

    /// Creates an empty file if it is missing. Rejects a file that cannot be written, because the program would start and
    /// could only read. The file contains key hashes and private notes, so only its owner may read it; SQLite gives its
    /// other two files the same permissions.
    pub(crate) fn create_if_missing(&self) -> Result<(), OpenError> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let refused = |source| OpenError::NoFile { path: self.path.clone(), source };
        match options.open(&self.path) {
            Ok(_) => Ok(()),
            // Read from its metadata, not opened: closing a second handle would drop the locks of a connection of this
            // process.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                if self.path.metadata().map_err(refused)?.permissions().readonly() {
                    return Err(refused(io::ErrorKind::PermissionDenied.into()));
                }
                Ok(())
            }
            Err(source) => Err(refused(source)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn click_file_is_named_after_the_database() {
        let clicks = |path: &str| DatabaseFile::at(path).unwrap().of_clicks().text;
        assert_eq!(clicks("/var/lib/signpost.db"), "/var/lib/signpost-clicks.db");
        assert_eq!(clicks("/var/lib.d/signpost"), "/var/lib.d/signpost-clicks");
        assert_eq!(clicks("/var/lib.d/.hidden"), "/var/lib.d/.hidden-clicks");
        assert_eq!(clicks("/a.b.sqlite3"), "/a.b-clicks.sqlite3");
    }

    #[test]
    fn secrets_key_is_named_after_the_database() {
        let key = |path: &str| DatabaseFile::at(path).unwrap().secrets_key();
        assert_eq!(key("/var/lib/signpost.db"), Path::new("/var/lib/signpost-secrets.key"));
        assert_eq!(key("/var/lib.d/signpost"), Path::new("/var/lib.d/signpost-secrets.key"));
    }
}
