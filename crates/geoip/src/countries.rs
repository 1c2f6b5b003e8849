//! A database in memory, and the country in its records.

use std::net::IpAddr;

use maxminddb::{LookupResult, MaxMindDbError, PathElement, Reader, WithinOptions};
use signpost_domain::CountryCode;

/// How many networks are tried to find out whether a database has countries. In a database of countries or
/// cities, one of the first few has a country; in any other database no network has.
const NETWORKS_TRIED: usize = 10_000;

/// The members of a record that may hold the country, in order of preference.
const MEMBERS: [&str; 2] = [
    "country",
    // If the location is unknown, the country in which the network is registered is the best guess (ADR 40).
    "registered_country",
];

/// A database, entirely in memory.
pub(crate) struct Countries(Reader<Vec<u8>>);

impl Countries {
    /// Reads `file`. `None` if the database has no countries.
    pub(crate) fn read(file: Vec<u8>) -> Result<Option<Self>, MaxMindDbError> {
        let countries = Self(Reader::from_source(file)?);
        Ok(if countries.know_any()? { Some(countries) } else { None })
    }

    fn know_any(&self) -> Result<bool, MaxMindDbError> {
        for network in self.0.networks(WithinOptions::default())?.take(NETWORKS_TRIED) {
            if code_in(&network?)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The country of `address`. An unassigned code can be in no block list and counts as unknown.
    pub(crate) fn of(&self, address: IpAddr) -> Result<Option<CountryCode>, MaxMindDbError> {
        let found = self.0.lookup(address.to_canonical())?;
        Ok(code_in(&found)?.and_then(|code| CountryCode::parse(code).ok()))
    }

    /// When the database was built, in seconds since 1970.
    pub(crate) fn built_at(&self) -> u64 {
        self.0.metadata().build_epoch
    }
}

fn code_in<'a>(found: &LookupResult<'a, Vec<u8>>) -> Result<Option<&'a str>, MaxMindDbError> {
    for member in MEMBERS {
        let code = found.decode_path(&[PathElement::Key(member), PathElement::Key("iso_code")])?;
        if code.is_some() {
            return Ok(code);
        }
    }
    Ok(None)
}
