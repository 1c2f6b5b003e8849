//! The file of the secret that is not in the store (ADR 64).

use std::fs::{self, File, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use signpost_app::ports::{Randomness, RandomnessUnavailable};
use signpost_click_recorder::SecretsKey;
use signpost_sealing::{SecretsKeySealer, UnusableSecretsKey};
use tempfile::NamedTempFile;

use crate::system::OsRandomness;

mod rotation;

/// The temporary name of an unfinished file. It identifies the leftovers of a killed program.
const PARTIAL_PREFIX: &str = ".signpost-secrets-";

/// Only the owner may read and write it.
const PRIVATE: u32 = 0o600;

/// What the group and all others may do.
const RIGHTS_OF_OTHERS: u32 = 0o077;

/// How an operator makes such a file.
pub(crate) const HOW_TO_MAKE: &str = "`head -c 32 /dev/urandom > FILE; chmod 600 FILE`";

/// Why a file of a secrets key is refused. No message has a byte of it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SecretsKeyError {
    /// There is no file, and this node must not make one.
    #[error(
        "there is no file {path}. All nodes need the same file, so a node on PostgreSQL never makes it: copy it from another \
         node, or make it once with {HOW_TO_MAKE}"
    )]
    Missing { path: PathBuf },
    /// It is a folder, a pipe or a device.
    #[error("{path} is not a file; make one with {HOW_TO_MAKE}")]
    NotAFile { path: PathBuf },
    /// Others than the owner have rights.
    #[error("{path} has mode {mode:04o}, so others than its owner may use it: run `chmod 600 {path}`")]
    NotPrivate { path: PathBuf, mode: u32 },
    /// It has too few or too many bytes.
    #[error(
        "{path} has {found} bytes instead of {} ({} while `signpost secrets rotate` is not finished): restore the original \
         file, or make a new one with {HOW_TO_MAKE}",
        SecretsKey::LENGTH, 2 * SecretsKey::LENGTH
    )]
    Length { path: PathBuf, found: u64 },
    /// The operating system refuses to read it.
    #[error("cannot read {path}: {source}; check that this user may read it")]
    Unreadable { path: PathBuf, source: io::Error },
    /// The operating system refuses to make it.
    #[error(
        "cannot make the secrets key {path}: {source}; check that its folder exists and may be written to, or name another \
         file in `secrets-key`"
    )]
    NotCreated { path: PathBuf, source: io::Error },
    /// The operating system refuses to replace it.
    #[error("cannot replace {path}: {source}; check that this user may write to its folder")]
    NotReplaced { path: PathBuf, source: io::Error },
    /// There are no random bytes for a new file.
    #[error(transparent)]
    Randomness(#[from] RandomnessUnavailable),
}

/// The keys in the file, in this order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SecretsKeys {
    /// The secrets key.
    pub(crate) current: SecretsKey,
    /// The one that it replaces, until nothing needs it any more.
    pub(crate) previous: Option<SecretsKey>,
}

impl SecretsKeys {
    /// Seals with the current key, and opens with both.
    ///
    /// # Errors
    /// Never, because keys have the right length.
    pub(crate) fn sealer(&self) -> Result<SecretsKeySealer, UnusableSecretsKey> {
        let previous = self.previous.as_ref().map(SecretsKey::bytes);
        SecretsKeySealer::new(self.current.bytes(), previous, Arc::new(OsRandomness))
    }

    fn bytes(&self) -> Vec<u8> {
        let keys = [Some(&self.current), self.previous.as_ref()];
        keys.into_iter().flatten().flat_map(SecretsKey::bytes).copied().collect()
    }
}

/// A file of a secrets key. It may still be missing.
#[derive(Debug)]
pub(crate) struct SecretsKeyFile {
    path: PathBuf,
    keys: Option<SecretsKeys>,
}

impl SecretsKeyFile {
    /// Reads the file if it exists.
    ///
    /// # Errors
    /// It exists and is not a private file of the right length.
    pub(crate) fn open(path: PathBuf) -> Result<Self, SecretsKeyError> {
        let keys = read(&path)?;
        Ok(Self { path, keys })
    }

    /// Reads the file, which must exist.
    ///
    /// # Errors
    /// It is missing, or not a private file of the right length.
    pub(crate) fn open_existing(path: PathBuf) -> Result<Self, SecretsKeyError> {
        let file = Self::open(path)?;
        if file.keys.is_none() { Err(SecretsKeyError::Missing { path: file.path }) } else { Ok(file) }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The keys. `None` if the file was missing.
    pub(crate) const fn keys(&self) -> Option<&SecretsKeys> {
        self.keys.as_ref()
    }

    /// The keys. If the file was missing, this makes it. `is_new_database` determines what the log says about that.
    ///
    /// # Errors
    /// The file cannot be made.
    pub(crate) fn keys_or_new(
        &self,
        randomness: &dyn Randomness,
        is_new_database: bool,
    ) -> Result<SecretsKeys, SecretsKeyError> {
        if let Some(keys) = &self.keys {
            return Ok(keys.clone());
        }
        let Some(keys) = create(&self.path, randomness)? else {
            // Another program made it since this one looked.
            let missing = || SecretsKeyError::Missing { path: self.path.clone() };
            return read(&self.path)?.ok_or_else(missing);
        };
        let path = self.path.display();
        if is_new_database {
            tracing::info!(%path, "made the secrets key");
        } else {
            tracing::info!(
                %path,
                "made a new secrets key, because its file was missing: visitors of today may count once more; certificates and second \
                 factors that were stored with the old one cannot be used"
            );
        }
        Ok(keys)
    }
}

/// The keys in a file; `None` if there is no file.
fn read(path: &Path) -> Result<Option<SecretsKeys>, SecretsKeyError> {
    let unreadable = |source| SecretsKeyError::Unreadable { path: path.to_owned(), source };
    let found = match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        found => found.map_err(unreadable)?,
    };
    // Asked before it is opened, because opening a pipe waits for a writer.
    if !found.is_file() {
        return Err(SecretsKeyError::NotAFile { path: path.to_owned() });
    }
    let mode = found.permissions().mode() & 0o777;
    if mode & RIGHTS_OF_OTHERS != 0 {
        return Err(SecretsKeyError::NotPrivate { path: path.to_owned(), mode });
    }
    let wrong_length = |found| SecretsKeyError::Length { path: path.to_owned(), found };
    // A file of any size is not read as a whole.
    if !usize::try_from(found.len()).is_ok_and(|length| length <= 2 * SecretsKey::LENGTH) {
        return Err(wrong_length(found.len()));
    }
    let bytes = fs::read(path).map_err(unreadable)?;
    let keys = match bytes.as_chunks() {
        ([current], []) => SecretsKeys { current: SecretsKey::new(*current), previous: None },
        ([current, previous], []) => {
            SecretsKeys { current: SecretsKey::new(*current), previous: Some(SecretsKey::new(*previous)) }
        }
        _ => return Err(wrong_length(found.len())),
    };
    Ok(Some(keys))
}

fn new_key(randomness: &dyn Randomness) -> Result<SecretsKey, RandomnessUnavailable> {
    let mut bytes = [0; SecretsKey::LENGTH];
    randomness.fill(&mut bytes)?;
    Ok(SecretsKey::new(bytes))
}

/// A new private file with these keys in the folder of `path`, under a temporary name.
fn partial(path: &Path, keys: &SecretsKeys) -> io::Result<NamedTempFile> {
    let mut partial = tempfile::Builder::new().prefix(PARTIAL_PREFIX).tempfile_in(folder(path))?;
    // Whatever the umask.
    partial.as_file().set_permissions(Permissions::from_mode(PRIVATE))?;
    partial.write_all(&keys.bytes())?;
    partial.as_file().sync_all()?;
    Ok(partial)
}

/// The folder of a file. That of a bare name is the working folder.
fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Makes a name in the folder of a file survive a power failure.
fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(folder(path)).and_then(|folder| folder.sync_all())
}

/// Makes the file with a new key. `None` if there is a file already, which is left as it is.
///
/// It is written under a temporary name and then given its own, so another program that starts at the same time finds no
/// file or a whole one.
fn create(path: &Path, randomness: &dyn Randomness) -> Result<Option<SecretsKeys>, SecretsKeyError> {
    let not_created = |source| SecretsKeyError::NotCreated { path: path.to_owned(), source };
    let keys = SecretsKeys { current: new_key(randomness)?, previous: None };
    match partial(path, &keys).map_err(not_created)?.persist_noclobber(path) {
        Ok(_) => {}
        Err(refused) if refused.error.kind() == io::ErrorKind::AlreadyExists => return Ok(None),
        Err(refused) => return Err(not_created(refused.error)),
    }
    // Otherwise the next start would make another key.
    sync_folder(path).map_err(not_created)?;
    Ok(Some(keys))
}

#[cfg(test)]
mod tests {
    use signpost_memory::SeededRandomness;
    use tempfile::TempDir;

    use super::*;

    fn place() -> (TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("signpost-secrets.key");
        (folder, path)
    }

    fn write(path: &Path, bytes: &[u8], mode: u32) {
        fs::write(path, bytes).unwrap();
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    fn make(path: &Path, seed: u64) {
        let file = SecretsKeyFile::open(path.to_owned()).unwrap();
        file.keys_or_new(&SeededRandomness::new(seed), true).unwrap();
    }

    #[test]
    fn d48_new_secrets_key_is_private_and_never_overwritten() {
        let (folder, path) = place();
        make(&path, 1);
        let made = fs::read(&path).unwrap();
        assert_eq!((made.len(), fs::metadata(&path).unwrap().permissions().mode() & 0o777), (32, 0o600));
        make(&path, 2);
        assert_eq!(fs::read(&path).unwrap(), made);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn d48_starts_at_once_agree_on_one_secrets_key() {
        let (folder, path) = place();
        // All have looked before any makes the file.
        let files: Vec<_> = (0..8).map(|_| SecretsKeyFile::open(path.clone()).unwrap()).collect();
        std::thread::scope(|scope| {
            for (seed, file) in files.iter().enumerate() {
                scope.spawn(move || {
                    let randomness = SeededRandomness::new(u64::try_from(seed).unwrap());
                    let keys = file.keys_or_new(&randomness, true).unwrap();
                    assert_eq!(Some(keys), read(file.path()).unwrap());
                });
            }
        });
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn d61_secrets_key_of_another_length_is_refused() {
        let (_folder, path) = place();
        for length in [0, 31, 33, 63, 65, 96] {
            write(&path, &vec![7; length], 0o600);
            let message = SecretsKeyFile::open(path.clone()).unwrap_err().to_string();
            let found = format!("{} has {length} bytes instead of 32", path.display());
            assert!(message.contains(&found), "{message}");
        }
    }

    #[test]
    fn d61_secrets_key_that_others_may_read_is_refused() {
        let (_folder, path) = place();
        for (mode, is_accepted) in
            [(0o600, true), (0o400, true), (0o640, false), (0o604, false), (0o620, false), (0o601, false)]
        {
            write(&path, &[7; 32], mode);
            let opened = SecretsKeyFile::open(path.clone());
            assert_eq!(opened.is_ok(), is_accepted, "{mode:o}");
            if let Err(error) = opened {
                let found = format!("{} has mode {mode:04o}", path.display());
                assert!(error.to_string().contains(&found), "{error}");
            }
            fs::remove_file(&path).unwrap();
        }
    }

    #[test]
    fn d61_only_a_file_can_be_a_secrets_key() {
        let (folder, path) = place();
        for no_file in [folder.path(), Path::new("/dev/zero")] {
            let error = SecretsKeyFile::open(no_file.to_owned()).unwrap_err();
            assert!(matches!(error, SecretsKeyError::NotAFile { .. }), "{error}");
        }
        let error = SecretsKeyFile::open_existing(path.clone()).unwrap_err().to_string();
        assert!(error.contains(path.to_str().unwrap()) && error.contains("head -c 32"), "{error}");
        assert!(!path.exists());
    }

    #[test]
    fn d61_secrets_key_in_a_missing_folder_is_refused() {
        let (folder, _) = place();
        let path = folder.path().join("missing/secrets.key");
        let file = SecretsKeyFile::open(path.clone()).unwrap();
        let message = file.keys_or_new(&SeededRandomness::default(), true).unwrap_err().to_string();
        assert!(message.contains(path.to_str().unwrap()) && message.contains("`secrets-key`"), "{message}");
    }
}
