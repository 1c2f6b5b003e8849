//! The database in use, and its replacement.

use std::fmt;
use std::fs;
use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use maxminddb::MaxMindDbError;
use signpost_app::ports::CountryLookup;
use signpost_domain::CountryCode;

use crate::countries::Countries;

/// Counts reloads of the file by `outcome`.
const RELOADS: &str = "signpost_country_database_reloads_total";

/// The build time of the database in use.
const BUILT: &str = "signpost_country_database_built_timestamp_seconds";

/// The countries of addresses, from the operator's file (D55, D61).
///
/// The file is read into memory and not mapped. An operator may overwrite or truncate it at any time, and
/// truncating a mapped file kills the process.
pub struct GeoDatabase {
    path: PathBuf,
    countries: RwLock<Arc<Countries>>,
}

/// Why a database cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum GeoDatabaseError {
    /// The file cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// It is not a database in MaxMind's format, or it is damaged.
    #[error("{} is not a database in MaxMind's format: {error}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        error: MaxMindDbError,
    },
    /// It is a database without countries.
    #[error(
        "{} has no countries: a database of countries or cities is needed, such as GeoLite2-Country.mmdb",
        path.display()
    )]
    WithoutCountries {
        /// The file.
        path: PathBuf,
    },
}

impl GeoDatabase {
    /// Reads the file.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is not a database of countries.
    pub fn open(path: PathBuf) -> Result<Self, GeoDatabaseError> {
        let countries = RwLock::new(Arc::new(read(&path)?));
        Ok(Self { path, countries })
    }

    /// The path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The build time of the database in use, in seconds since 1970.
    #[must_use]
    pub fn built_at(&self) -> u64 {
        self.current().built_at()
    }

    /// Reads the file again. If that fails, the database in use stays, and the log and a metric report it.
    pub fn reload(&self) {
        let outcome = match read(&self.path) {
            Ok(countries) => {
                *self.countries.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(countries);
                tracing::info!(built_at = self.built_at(), "the country database was read again");
                "read"
            }
            Err(error) => {
                tracing::warn!(%error, "the country database is broken; the last good one stays");
                "broken"
            }
        };
        metrics::counter!(RELOADS, "outcome" => outcome).increment(1);
        self.report_age();
    }

    /// Describes the metrics of the database and reports their first values.
    pub fn describe_metrics(&self) {
        metrics::describe_counter!(RELOADS, "Reloads of the changed country database, by outcome.");
        metrics::describe_gauge!(BUILT, "Build time of the country database in use, in seconds since 1970.");
        for outcome in ["read", "broken"] {
            metrics::counter!(RELOADS, "outcome" => outcome).increment(0);
        }
        self.report_age();
    }

    fn report_age(&self) {
        // A double holds seconds exactly for 285 million years.
        #[expect(clippy::as_conversions, clippy::cast_precision_loss, reason = "gauges are doubles")]
        metrics::gauge!(BUILT).set(self.built_at() as f64);
    }

    fn current(&self) -> Arc<Countries> {
        Arc::clone(&self.countries.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl fmt::Debug for GeoDatabase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GeoDatabase").field("path", &self.path).finish_non_exhaustive()
    }
}

impl CountryLookup for GeoDatabase {
    fn country(&self, address: IpAddr) -> Option<CountryCode> {
        // A damaged record counts as an unknown country, which blocks no visitor. The error is dropped,
        // because its message could reveal the address.
        self.current().of(address).ok().flatten()
    }
}

fn read(path: &Path) -> Result<Countries, GeoDatabaseError> {
    let owned = || path.to_owned();
    let file = fs::read(path).map_err(|error| GeoDatabaseError::Unreadable { path: owned(), error })?;
    match Countries::read(file) {
        Ok(Some(countries)) => Ok(countries),
        Ok(None) => Err(GeoDatabaseError::WithoutCountries { path: owned() }),
        Err(error) => Err(GeoDatabaseError::Malformed { path: owned(), error }),
    }
}
