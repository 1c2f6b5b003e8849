//! A folder of dated backups that keeps only the newest ones (`signpost backup --keep`).

use std::cmp::Ordering;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use signpost_domain::Timestamp;
use signpost_sqlite::DatabaseFile;

/// The form of a date in a name. `0` stands for any digit; every other character for itself. Names of one form sort by date.
const DATE_FORM: &str = "0000-00-00T00-00-00Z";

/// A folder of backups of one database. A backup is named after the database and the date in UTC:
/// `signpost-2026-11-26T03-15-00Z.db` for `signpost.db`.
#[derive(Debug, Clone)]
pub(crate) struct BackupFolder {
    folder: PathBuf,
    /// What the names of its backups begin and end with.
    before_date: String,
    behind_date: String,
}

/// What becomes of the backups of a folder that are not among the newest ones.
#[derive(Debug)]
pub(crate) struct Rotation {
    /// Those to delete, the oldest first.
    pub(crate) to_delete: Vec<PathBuf>,
    /// Those that stay, the oldest first for each reason.
    pub(crate) left_alone: Vec<(LeftAlone, PathBuf)>,
}

/// Why an old backup is not deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum LeftAlone {
    /// A program has it open as its database, so that deleting it would lose what that program writes.
    InUse,
    /// It has clicks, and the new one has none: the file of the clicks may have been lost.
    WithClicks,
    /// It has a later date than the new one. The clock was ahead when it was made, or is behind now. It does not count:
    /// otherwise it would push out others for as long as its date lies ahead.
    DatedLater,
}

impl LeftAlone {
    /// All reasons.
    pub(crate) const ALL: [Self; 3] = [Self::InUse, Self::WithClicks, Self::DatedLater];

    /// The reason for programs.
    pub(crate) const fn code(self) -> &'static str {
        match self {
            Self::InUse => "in_use",
            Self::WithClicks => "with_clicks",
            Self::DatedLater => "dated_later",
        }
    }

    /// The reason for people, behind "because".
    pub(crate) const fn sentence(self) -> &'static str {
        match self {
            Self::InUse => "a program has it open",
            Self::WithClicks => "it has clicks and the new backup has none",
            Self::DatedLater => "it is dated later than the new backup",
        }
    }
}

/// The file of a backup's clicks, which need not exist.
fn clicks_of(backup: &Path) -> Option<PathBuf> {
    DatabaseFile::at(backup).map(|file| file.of_clicks().path().to_path_buf()).ok()
}

fn has_clicks(backup: &Path) -> bool {
    clicks_of(backup).is_some_and(|clicks| clicks.is_file())
}

/// Whether SQLite's files of an open database are beside a backup or its clicks. A backup itself has none.
fn is_in_use(backup: &Path) -> bool {
    [Some(backup.to_path_buf()), clicks_of(backup)].into_iter().flatten().any(|file| {
        ["-wal", "-shm", "-journal"].iter().any(|ending| {
            let mut companion = file.clone().into_os_string();
            companion.push(ending);
            Path::new(&companion).symlink_metadata().is_ok()
        })
    })
}

impl BackupFolder {
    /// The backups of the database at `database` in `folder`.
    pub(crate) fn new(folder: PathBuf, database: &Path) -> Self {
        let text = |part: Option<&OsStr>| part.map(OsStr::to_string_lossy).unwrap_or_default().into_owned();
        let extension = database.extension().map(|extension| format!(".{}", extension.to_string_lossy()));
        Self {
            folder,
            before_date: format!("{}-", text(database.file_stem())),
            behind_date: extension.unwrap_or_default(),
        }
    }

    /// The file of a backup that is made at `now`.
    pub(crate) fn file(&self, now: Timestamp) -> PathBuf {
        let date: String = now.to_string().replace(':', "-").chars().take(DATE_FORM.len() - 1).collect();
        self.folder.join(format!("{}{date}Z{}", self.before_date, self.behind_date))
    }

    /// What to delete of the folder so that the newest `keep` backups are left. `made` is the backup that was just made.
    ///
    /// Only regular files whose whole name is that of a backup of this database are listed.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub(crate) fn rotation(&self, keep: NonZeroUsize, made: &Path) -> io::Result<Rotation> {
        let (mut to_delete, mut left_alone) = (vec![], vec![]);
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            let is_backup = entry.file_name().to_str().is_some_and(|name| self.is_name(name));
            if !is_backup || !entry.file_type()?.is_file() {
                continue;
            }
            let backup = entry.path();
            match backup.file_name().cmp(&made.file_name()) {
                Ordering::Less if is_in_use(&backup) => left_alone.push((LeftAlone::InUse, backup)),
                Ordering::Less => to_delete.push(backup),
                Ordering::Equal => {}
                Ordering::Greater => left_alone.push((LeftAlone::DatedLater, backup)),
            }
        }
        to_delete.sort_unstable();
        to_delete.truncate(to_delete.len().saturating_sub(keep.get() - 1));
        if !has_clicks(made) {
            let with_clicks = to_delete.extract_if(.., |backup| has_clicks(backup));
            left_alone.extend(with_clicks.map(|backup| (LeftAlone::WithClicks, backup)));
        }
        left_alone.sort_unstable();
        Ok(Rotation { to_delete, left_alone })
    }

    fn is_name(&self, name: &str) -> bool {
        let date =
            name.strip_prefix(&*self.before_date).and_then(|rest| rest.strip_suffix(&*self.behind_date));
        date.is_some_and(|date| {
            date.len() == DATE_FORM.len()
                && date
                    .bytes()
                    .zip(DATE_FORM.bytes())
                    .all(|(byte, form)| if form == b'0' { byte.is_ascii_digit() } else { byte == form })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn backups(folder: &Path) -> BackupFolder {
        BackupFolder::new(folder.to_path_buf(), Path::new("/var/lib/signpost/signpost.db"))
    }

    #[test]
    fn d60_a_backup_is_named_after_the_database_and_the_date() {
        let now = Timestamp::from_unix_millis(1_769_850_307_042).unwrap();
        let folder = Path::new("/backups");
        assert_eq!(backups(folder).file(now), folder.join("signpost-2026-01-31T09-05-07Z.db"));
        let bare = BackupFolder::new(folder.to_path_buf(), Path::new("/var/lib/links"));
        assert_eq!(bare.file(now), folder.join("links-2026-01-31T09-05-07Z"));
        assert!(backups(folder).is_name("signpost-2026-01-31T09-05-07Z.db"));
    }

    #[test]
    fn d60_only_older_backups_of_the_same_database_are_listed() {
        let folder = tempfile::tempdir().unwrap();
        let name = |day: u32| format!("signpost-2026-01-{day:02}T09-05-07Z.db");
        let others = [
            "signpost-2025-01-01T09-05-07Z-clicks.db",
            "signpost-2026-01-01T09-05-07Z.db.gz",
            "signpost-2026-01-01.db",
            "signpost-monday.db",
            "signpost-2026-01-01T09-05-07z.db",
            "signpost-2026-01-0xT09-05-07Z.db",
            "other-2026-01-01T09-05-07Z.db",
            "my-signpost-2026-01-01T09-05-07Z.db",
            "signpost.db",
        ];
        for file in others.map(str::to_owned).into_iter().chain((1..=5).map(name)) {
            fs::write(folder.path().join(file), "").unwrap();
        }
        fs::create_dir(folder.path().join(name(6))).unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink("signpost.db", folder.path().join(name(7))).unwrap();
        let names = |paths: Vec<PathBuf>| {
            let name = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().to_owned();
            paths.iter().map(name).collect::<Vec<_>>()
        };
        let rotation = |keep, made: u32| {
            let keep = NonZeroUsize::new(keep).unwrap();
            backups(folder.path()).rotation(keep, &folder.path().join(name(made))).unwrap()
        };
        let left = |rotation: &Rotation, reason| {
            names(
                rotation
                    .left_alone
                    .iter()
                    .filter(|(of, _)| *of == reason)
                    .map(|(_, path)| path.clone())
                    .collect(),
            )
        };
        let older = |keep, made| {
            let rotation = rotation(keep, made);
            assert!(left(&rotation, LeftAlone::WithClicks).is_empty(), "{rotation:?}");
            let [in_use, later] =
                [LeftAlone::InUse, LeftAlone::DatedLater].map(|reason| left(&rotation, reason));
            (names(rotation.to_delete), in_use, later)
        };
        assert_eq!(older(2, 5), (vec![name(1), name(2), name(3)], vec![], vec![]));
        assert_eq!(older(1, 5).0, [name(1), name(2), name(3), name(4)]);
        assert!(older(5, 5).0.is_empty() && older(9, 5).0.is_empty());
        assert_eq!(older(2, 3), (vec![name(1)], vec![], vec![name(4), name(5)]), "the clock was set back");
        let companions = [
            format!("{}-shm", name(1)),
            name(3).replace(".db", "-clicks.db-wal"),
            format!("{}-journal", name(4)),
        ];
        for companion in companions {
            fs::write(folder.path().join(companion), "").unwrap();
        }
        let in_use = vec![name(1), name(3), name(4)];
        assert_eq!(older(2, 5), (vec![], in_use.clone(), vec![]), "those in use do not count");
        assert_eq!(older(1, 5), (vec![name(2)], in_use, vec![]));
        fs::write(folder.path().join(name(2).replace(".db", "-clicks.db")), "").unwrap();
        let without_clicks = rotation(1, 5);
        assert!(without_clicks.to_delete.is_empty());
        assert_eq!(left(&without_clicks, LeftAlone::WithClicks), [name(2)]);
        fs::write(folder.path().join(name(5).replace(".db", "-clicks.db")), "").unwrap();
        assert_eq!(older(1, 5).0, [name(2)]);
    }
}
