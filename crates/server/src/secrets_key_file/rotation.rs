//! Replacing the secrets key while nodes run: first both keys are in the file, and later the new one alone (ADR 70).

use std::fs;
use std::os::unix::fs::{MetadataExt as _, fchown};
use std::path::Path;

use signpost_app::ports::Randomness;

use super::{SecretsKeyError, SecretsKeyFile, SecretsKeys, new_key, partial, sync_folder};

impl SecretsKeyFile {
    /// Puts a new key before the present one, which stays as the previous one. `false` if there is a previous one already, or
    /// no key at all; the file stays as it is then.
    ///
    /// # Errors
    /// The file cannot be replaced.
    pub(crate) fn begin_rotation(&self, randomness: &dyn Randomness) -> Result<bool, SecretsKeyError> {
        let Some(SecretsKeys { current, previous: None }) = self.keys() else { return Ok(false) };
        let keys = SecretsKeys { current: new_key(randomness)?, previous: Some(current.clone()) };
        replace(self.path(), &keys)?;
        Ok(true)
    }

    /// Leaves the new key alone in the file.
    ///
    /// # Errors
    /// The file cannot be replaced.
    pub(crate) fn end_rotation(&self) -> Result<(), SecretsKeyError> {
        let Some(SecretsKeys { current, previous: Some(_) }) = self.keys() else { return Ok(()) };
        replace(self.path(), &SecretsKeys { current: current.clone(), previous: None })
    }
}

/// Replaces the file. A program that starts at the same time finds the old file or the new one. The owner stays, because the
/// command may be run by root and the server by another user.
fn replace(path: &Path, keys: &SecretsKeys) -> Result<(), SecretsKeyError> {
    let not_replaced = |source| SecretsKeyError::NotReplaced { path: path.to_owned(), source };
    // A link stays a link.
    let path = &fs::canonicalize(path).map_err(not_replaced)?;
    let owner = fs::metadata(path).map_err(not_replaced)?;
    let file = partial(path, keys).map_err(not_replaced)?;
    let own = file.as_file().metadata().map_err(not_replaced)?;
    if (own.uid(), own.gid()) != (owner.uid(), owner.gid()) {
        fchown(file.as_file(), Some(owner.uid()), Some(owner.gid())).map_err(not_replaced)?;
    }
    file.persist(path).map_err(|refused| not_replaced(refused.error))?;
    sync_folder(path).map_err(not_replaced)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    use std::path::PathBuf;

    use signpost_memory::SeededRandomness;

    use super::*;

    fn open(path: &Path) -> SecretsKeyFile {
        SecretsKeyFile::open(path.to_owned()).unwrap()
    }

    #[test]
    fn d192_both_keys_are_in_the_file_until_the_rotation_ends() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secrets.key");
        let randomness = SeededRandomness::new(1);
        assert!(!open(&path).begin_rotation(&randomness).unwrap(), "there is no key to replace");
        let old = open(&path).keys_or_new(&randomness, true).unwrap().current;
        // The file may be a link into a folder of secrets.
        let link: PathBuf = folder.path().join("link.key");
        symlink(&path, &link).unwrap();
        assert!(open(&link).begin_rotation(&randomness).unwrap());
        let both = open(&link).keys().unwrap().clone();
        assert_eq!(both.previous, Some(old.clone()));
        assert_ne!(both.current, old);
        assert!(!open(&path).begin_rotation(&randomness).unwrap(), "it has begun already");
        open(&path).end_rotation().unwrap();
        assert_eq!(*open(&path).keys().unwrap(), SecretsKeys { current: both.current, previous: None });
        assert!(link.is_symlink());
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "nothing is left behind");
    }
}
