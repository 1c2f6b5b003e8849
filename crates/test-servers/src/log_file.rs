//! The log of a server, which grows while the server runs.

use std::fs::{self, File};
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

/// The file `log` in a server's folder. It may not exist yet.
#[derive(Debug)]
pub(crate) struct LogFile(PathBuf);

impl LogFile {
    pub(crate) fn in_folder(folder: &Path) -> Self {
        Self(folder.join("log"))
    }

    /// Opens the file for the output of a server.
    pub(crate) fn append(&self) -> File {
        File::options().create(true).append(true).open(&self.0).unwrap()
    }

    /// Its length in bytes.
    pub(crate) fn length(&self) -> u64 {
        fs::metadata(&self.0).map_or(0, |file| file.len())
    }

    /// The text from this byte to the end. Bytes are decoded after the cut, because the place of a cut in decoded text
    /// depends on every invalid byte before it.
    pub(crate) fn since(&self, begin: u64) -> String {
        let mut bytes = Vec::new();
        if let Ok(mut file) = File::open(&self.0) {
            file.seek(SeekFrom::Start(begin)).unwrap();
            file.read_to_end(&mut bytes).unwrap();
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }
}
