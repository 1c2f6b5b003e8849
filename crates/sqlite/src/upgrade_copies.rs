//! Copies of the database from before an upgrade (D207).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use diesel::prelude::*;
use diesel::sql_types::Text;
use signpost_click_store::{DiskSpace, FreeSpace};

use crate::backup::{Backup, BackupError, back_up};
use crate::database_file::{CLICKS, Contents, DatabaseFile};
use crate::migrations::{all_versions, pending_migrations};
use crate::open_error::OpenError;

/// What the name of a copy adds to that of the database: `signpost-before-1.2.0.db` beside `signpost.db`.
const BEFORE: &str = "-before-";

/// What SQLite adds to the name of a database for files of its own.
pub(crate) const SQLITES_OWN: [&str; 3] = ["-wal", "-shm", "-journal"];

/// How many upgrades keep their copies.
const KEPT: usize = 2;

/// The copies that one upgrade made: of the database, of its clicks, or of both, depending on which of them it migrated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpgradeCopy {
    /// The version to which the program was upgraded.
    pub version: String,
    /// When the first of the copies was complete.
    pub made: SystemTime,
    pub(crate) links: Option<PathBuf>,
    pub(crate) clicks: Option<PathBuf>,
}

/// Why the database was not copied, and therefore not migrated either.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UpgradeCopyError {
    /// The database cannot be opened.
    #[error(transparent)]
    Open(OpenError),
    /// The database was written by a newer version of the program, before whose upgrade a copy was made.
    #[error(
        "{newer}; or undo the upgrade: stop every program on this database, and run `signpost restore --before {version}` \
         with this version"
    )]
    Newer {
        /// The refusal.
        newer: OpenError,
        /// The version of the upgrade to undo.
        version: String,
    },
    /// The copy could not be made.
    #[error("the database is not upgraded, because it cannot be copied first: {0}; {WITHOUT_COPY}")]
    Backup(#[source] BackupError),
    /// The disk has no room for the copy.
    #[error(
        "the database is not upgraded, because the disk of {} has no room for a copy of it and for the upgrade: {needed} bytes are \
         needed and {free} are free; make room{}, or {WITHOUT_COPY}",
        folder.display(), copies_to_delete(copies)
    )]
    NoRoom {
        /// The folder of the database.
        folder: PathBuf,
        /// The size of the copies, and as much for the migrations.
        needed: u64,
        /// What this process may still use.
        free: u64,
        /// The copies of earlier upgrades.
        copies: Vec<PathBuf>,
    },
    /// The folder of the database cannot be read or changed.
    #[error("cannot look for copies in {}: {source}", folder.display())]
    Folder {
        /// The folder of the database.
        folder: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
}

fn copies_to_delete(copies: &[PathBuf]) -> String {
    match copies.iter().map(|copy| copy.display().to_string()).collect::<Vec<_>>() {
        copies if copies.is_empty() => String::new(),
        copies => format!(", for example by deleting the copies of earlier upgrades ({})", copies.join(", ")),
    }
}

const WITHOUT_COPY: &str =
    "back it up elsewhere and upgrade without a copy: `signpost migrate --without-copy`";

/// Copies what an upgrade to `version` will migrate, so that [`restore_before`](crate::restore_before) can undo it, and deletes
/// the copies of all but the last two upgrades. Returns no copies if nothing is to be migrated, or if the database is new.
///
/// Blocks until the copies are complete; `patience` bounds the wait for locks.
pub fn copy_before_upgrade(
    database: &DatabaseFile,
    version: &str,
    patience: Duration,
) -> Result<Vec<Backup>, UpgradeCopyError> {
    copy_with(database, version, patience, &FreeSpace::of_system())
}

fn copy_with(
    database: &DatabaseFile,
    version: &str,
    patience: Duration,
    space: &FreeSpace,
) -> Result<Vec<Backup>, UpgradeCopyError> {
    let mut sources = Vec::new();
    for file in [database.clone(), database.of_clicks()] {
        if will_be_migrated(&file, patience).map_err(|error| with_way_back(error, database))? {
            sources.push(file);
        }
    }
    if sources.is_empty() {
        return Ok(Vec::new());
    }
    let folder = database.folder();
    let unusable = |source| UpgradeCopyError::Folder { folder: folder.to_path_buf(), source };
    let copies = copies_before_upgrades(database).map_err(unusable)?;
    require_room(&sources, folder, space, &copies)?;
    let mut made = Vec::new();
    for source in sources {
        let target = database.variant(BEFORE, version, source.contents());
        // An earlier attempt to upgrade made it, before which this file has not been migrated. A copy of the other file may be all
        // that is left of its content: that file may have been migrated since.
        remove_if_present(target.path()).map_err(unusable)?;
        let copy = back_up(&source, target.path(), patience).map_err(UpgradeCopyError::Backup)?;
        belong_to_owner_of(source.path(), &copy.path).map_err(unusable)?;
        made.push(copy);
    }
    let mut others = copies_before_upgrades(database).map_err(unusable)?;
    others.retain(|copy| copy.version != version);
    others.truncate(others.len().saturating_sub(KEPT - 1));
    for old in others {
        old.delete().map_err(unusable)?;
    }
    Ok(made)
}

fn remove_if_present(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Gives a copy the owner and the rights of its source. Otherwise the service could not open a database that root has copied and
/// restored.
#[cfg(unix)]
fn belong_to_owner_of(source: &Path, copy: &Path) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt as _, chown};

    let (source, present) = (source.metadata()?, copy.metadata()?);
    if (source.uid(), source.gid()) != (present.uid(), present.gid()) {
        chown(copy, Some(source.uid()), Some(source.gid()))?;
    }
    fs::set_permissions(copy, source.permissions())
}

/// Other systems let a folder decide.
#[cfg(not(unix))]
fn belong_to_owner_of(_: &Path, _: &Path) -> io::Result<()> {
    Ok(())
}

/// Whether the file holds a database that this program has to migrate.
fn will_be_migrated(file: &DatabaseFile, patience: Duration) -> Result<bool, OpenError> {
    if !file.holds_something() {
        return Ok(false);
    }
    let pending = pending_migrations(file, patience)?.len();
    // A file without any migration has nothing to lose.
    Ok(pending > 0 && pending < all_versions(file)?.len())
}

/// Adds to the refusal of a newer database how to return to a database that this program can open.
fn with_way_back(error: OpenError, database: &DatabaseFile) -> UpgradeCopyError {
    if !matches!(error, OpenError::Newer { .. }) {
        return UpgradeCopyError::Open(error);
    }
    match upgrade_to_undo(database) {
        Some(version) => UpgradeCopyError::Newer { newer: error, version },
        None => UpgradeCopyError::Open(error),
    }
}

/// The version of the last upgrade before which this program can open the database; `None` if there is no such copy.
#[must_use]
pub fn upgrade_to_undo(database: &DatabaseFile) -> Option<String> {
    let copies = copies_before_upgrades(database).unwrap_or_default();
    copies.into_iter().rev().find(UpgradeCopy::is_known).map(|copy| copy.version)
}

fn require_room(
    sources: &[DatabaseFile],
    folder: &Path,
    space: &FreeSpace,
    copies: &[UpgradeCopy],
) -> Result<(), UpgradeCopyError> {
    let size = |path: &Path| path.metadata().map_or(0, |metadata| metadata.len());
    let size_of_sources: u64 =
        sources.iter().map(|file| size(file.path()) + size(&file.write_ahead_log())).sum();
    // A migration may write every row again.
    let needed = size_of_sources.saturating_mul(2);
    match space.look(folder) {
        Ok(DiskSpace { free, .. }) if free < needed => Err(UpgradeCopyError::NoRoom {
            folder: folder.to_path_buf(),
            needed,
            free,
            copies: copies.iter().flat_map(UpgradeCopy::files).cloned().collect(),
        }),
        // If the system does not say, copying tells.
        Ok(_) | Err(_) => Ok(()),
    }
}

/// The copies beside a database, in the order of their versions.
pub fn copies_before_upgrades(database: &DatabaseFile) -> io::Result<Vec<UpgradeCopy>> {
    let mut copies: Vec<UpgradeCopy> = Vec::new();
    for entry in fs::read_dir(database.folder())? {
        let path = entry?.path();
        let Some((version, contents)) = database.version_of_copy(&path) else { continue };
        if !path.is_file() {
            continue;
        }
        let made = path.metadata()?.modified()?;
        let position = copies.iter().position(|copy| copy.version == version).unwrap_or_else(|| {
            copies.push(UpgradeCopy { version: version.to_owned(), made, links: None, clicks: None });
            copies.len() - 1
        });
        let Some(copy) = copies.get_mut(position) else { continue };
        copy.made = copy.made.min(made);
        match contents {
            Contents::Links => copy.links = Some(path),
            Contents::Clicks => copy.clicks = Some(path),
        }
    }
    // Not by time: clocks may be wrong, and copying a file changes its time.
    copies.sort_by(|a, b| order(&a.version).cmp(&order(&b.version)));
    Ok(copies)
}

/// What orders versions: `1.10.0` is later than `1.9.0`, and than `1.10.0-rc.1`.
fn order(version: &str) -> (Vec<u64>, bool, &str) {
    let (numbers, preview) = version.split_once('-').unwrap_or((version, ""));
    (numbers.split('.').map(|number| number.parse().unwrap_or(0)).collect(), preview.is_empty(), preview)
}

impl UpgradeCopy {
    /// Its files.
    fn files(&self) -> impl Iterator<Item = &PathBuf> {
        [&self.links, &self.clicks].into_iter().flatten()
    }

    /// The copy of the database or of its clicks, if the upgrade made one.
    pub(crate) fn of(&self, contents: Contents) -> Option<&Path> {
        match contents {
            Contents::Links => self.links.as_deref(),
            Contents::Clicks => self.clicks.as_deref(),
        }
    }

    pub(crate) fn delete(&self) -> io::Result<()> {
        self.files().try_for_each(|path| remove_if_present(path))
    }

    /// Whether this program knows every migration of the copies. Reads them without changing their files.
    fn is_known(&self) -> bool {
        let knows = |path: &Option<PathBuf>, contents| {
            let Some(path) = path else { return Some(true) };
            let known = all_versions(&DatabaseFile::at(path).ok()?.holding(contents)).ok()?;
            Some(versions_in(path)?.iter().all(|version| known.contains(version)))
        };
        knows(&self.links, Contents::Links) == Some(true)
            && knows(&self.clicks, Contents::Clicks) == Some(true)
    }
}

#[derive(QueryableByName)]
struct Applied {
    #[diesel(sql_type = Text)]
    version: String,
}

/// The migrations of a copy. `immutable` lets SQLite read a file without creating others beside it.
fn versions_in(copy: &Path) -> Option<Vec<String>> {
    let path = copy.to_str()?.replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    let mut connection = SqliteConnection::establish(&format!("file:{path}?mode=ro&immutable=1")).ok()?;
    let rows: Vec<Applied> =
        diesel::sql_query("SELECT version FROM __diesel_schema_migrations").load(&mut connection).ok()?;
    Some(rows.into_iter().map(|row| row.version).collect())
}

impl DatabaseFile {
    /// A file beside this one that is named after a version, such as `signpost-before-1.2.0.db`, and the file of its clicks.
    pub(crate) fn variant(&self, infix: &str, version: &str, contents: Contents) -> Self {
        let clicks = match contents {
            Contents::Links => "",
            Contents::Clicks => CLICKS,
        };
        self.beside(&format!("{infix}{version}{clicks}")).holding(contents)
    }

    /// The version that is part of the name of a copy of this database, and what the copy contains.
    fn version_of_copy<'a>(&self, path: &'a Path) -> Option<(&'a str, Contents)> {
        let (stem, extension) = self.stem_and_extension();
        let version = path.to_str()?.strip_prefix(stem)?.strip_prefix(BEFORE)?.strip_suffix(extension)?;
        let (version, contents) = match version.strip_suffix(CLICKS) {
            Some(version) => (version, Contents::Clicks),
            None => (version, Contents::Links),
        };
        // SQLite's own files end with other words if the database has no extension.
        let is_version = version.starts_with(|first: char| first.is_ascii_digit())
            && !SQLITES_OWN.iter().any(|own| version.ends_with(own));
        is_version.then_some((version, contents))
    }
}

#[cfg(test)]
mod tests {
    use diesel::connection::SimpleConnection;

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(10);

    #[test]
    fn d207_full_disk_is_refused_before_the_upgrade() {
        let folder = tempfile::tempdir().unwrap();
        let file = DatabaseFile::at(folder.path().join("test.db")).unwrap();
        crate::migrate(&file, PATIENCE).unwrap();
        SqliteConnection::establish(file.as_str())
            .unwrap()
            .batch_execute("DELETE FROM __diesel_schema_migrations WHERE version = '0030'")
            .unwrap();
        let full = FreeSpace::new(|_| Ok(DiskSpace { total: 1_000_000, free: 1_000 }));
        let refused = copy_with(&file, "2.0.0", PATIENCE, &full).unwrap_err();
        assert!(matches!(refused, UpgradeCopyError::NoRoom { free: 1_000, .. }), "{refused}");
        assert!(refused.to_string().contains("--without-copy"), "{refused}");
        assert!(copies_before_upgrades(&file).unwrap().is_empty());
    }

    #[test]
    fn d207_names_of_copies_are_told_from_other_files() {
        for (database, file, found) in [
            ("/a/signpost.db", "/a/signpost-before-1.2.0.db", Some(("1.2.0", Contents::Links))),
            ("/a/signpost.db", "/a/signpost-before-1.2.0-clicks.db", Some(("1.2.0", Contents::Clicks))),
            ("/a/signpost.db", "/a/signpost-before-1.2.0-rc.1.db", Some(("1.2.0-rc.1", Contents::Links))),
            ("/a/signpost", "/a/signpost-before-1.2.0", Some(("1.2.0", Contents::Links))),
            ("/a/signpost", "/a/signpost-before-1.2.0-wal", None),
            ("/a/signpost", "/a/signpost-before-1.2.0-journal", None),
            ("/a/signpost.db", "/a/signpost-before-1.2.0.db-wal", None),
            ("/a/signpost.db", "/a/signpost-before-monday.db", None),
            ("/a/signpost.db", "/a/signpost-after-1.2.0.db", None),
            ("/a/signpost.db", "/a/signpost.db", None),
        ] {
            let database = DatabaseFile::at(database).unwrap();
            assert_eq!(database.version_of_copy(Path::new(file)), found, "{file}");
        }
    }

    #[test]
    fn d207_versions_are_ordered_by_their_numbers() {
        let sorted = ["0.9.0", "0.10.0-rc.1", "0.10.0", "0.10.1", "1.0.0"];
        assert!(sorted.is_sorted_by_key(|version| order(version)));
    }
}
