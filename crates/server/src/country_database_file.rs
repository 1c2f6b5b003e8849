//! The operator's database of countries by address, in a file that is followed (D55).

use std::path::{Path, PathBuf};
use std::sync::Arc;

use signpost_app::ports::CountryLookup;
use signpost_geoip::{GeoDatabase, GeoDatabaseError};
use tokio::task::JoinHandle;

use crate::followed_file::{self, FollowedFile};

/// A database that follows its file. If the file is broken or gone, the last good database stays in use.
#[derive(Debug)]
pub(crate) struct CountryDatabaseFile {
    file: FollowedFile,
    database: Arc<GeoDatabase>,
}

impl CountryDatabaseFile {
    /// Reads the database.
    ///
    /// # Errors
    /// The file cannot be read, or is not a database of countries.
    pub(crate) fn open(path: PathBuf) -> Result<Self, GeoDatabaseError> {
        let file = FollowedFile::new(path.clone());
        Ok(Self { file, database: Arc::new(GeoDatabase::open(path)?) })
    }

    /// The path of the file.
    pub(crate) fn path(&self) -> &Path {
        self.file.path()
    }

    /// The port that looks up countries.
    pub(crate) fn lookup(&self) -> Arc<dyn CountryLookup> {
        Arc::<GeoDatabase>::clone(&self.database)
    }

    /// Reads the file again if it has changed.
    fn look(&self) {
        if self.file.must_be_read() {
            self.database.reload();
        }
    }

    /// Follows the file until the task is aborted.
    pub(crate) fn follow(self: &Arc<Self>) -> JoinHandle<()> {
        self.database.describe_metrics();
        followed_file::follow(self, Self::look)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use signpost_test_servers::country_database::{Located, country_database};

    use super::*;

    #[test]
    fn d55_a_changed_database_is_read_and_a_broken_one_is_ignored() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("countries.mmdb");
        let database_of = |country| country_database(&[("192.0.2.0/24", Located::in_country(country))]);
        fs::write(&path, database_of("DE")).unwrap();
        let file = CountryDatabaseFile::open(path.clone()).unwrap();
        let country =
            || file.lookup().country([192, 0, 2, 1].into()).map(signpost_domain::CountryCode::as_str);
        assert_eq!(country(), Some("DE"));
        for (content, expected) in
            [(database_of("AT"), "AT"), (b"broken".to_vec(), "AT"), (database_of("CH"), "CH")]
        {
            fs::write(&path, content).unwrap();
            // The first look sees the change, the second that the file has settled.
            file.look();
            file.look();
            assert_eq!(country(), Some(expected));
        }
    }
}
