//! Files that only their owner may read, and the identity of files.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// Creates a folder whose files only the owner can read, since they have hashes of visitors.
pub(super) fn create_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)?;
    if let Err(error) = restrict(path, 0o700) {
        // The files in it are private nevertheless.
        tracing::warn!(path = %path.display(), %error, "other users may list the folder of the spool");
    }
    Ok(())
}

/// Creates an empty file if it is missing. Only its owner may read it, because clicks are private. The umask does not matter,
/// and a file of an earlier version is corrected. The other two paths are those of SQLite's companions, which it creates
/// with the same permissions.
pub(super) fn create_private([path, wal, shm]: &[PathBuf; 3]) -> io::Result<()> {
    // An existing file is not opened: closing it would drop the locks that SQLite has on it in this process.
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        Ok(_) | Err(_) => {}
    }
    for path in [path, wal, shm] {
        match restrict(path, 0o600) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
    }
    Ok(())
}

/// Sets the permissions, unless they are as they should be.
fn restrict(path: &Path, mode: u32) -> io::Result<()> {
    let found = fs::metadata(path)?.permissions().mode() & 0o777;
    if found == mode { Ok(()) } else { fs::set_permissions(path, fs::Permissions::from_mode(mode)) }
}

/// The identity of a file: its device, and its number on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Identity(u64, u64);

impl Identity {
    pub(super) fn at(path: &Path) -> io::Result<Self> {
        let metadata = fs::metadata(path)?;
        Ok(Self(metadata.dev(), metadata.ino()))
    }
}
