//! One database as it was read, and the country in a record of it.

use std::net::IpAddr;

use maxminddb::{LookupResult, MaxMindDbError, PathElement, Reader, WithinOptions};
use signpost_domain::CountryCode;

/// How many networks are looked at to find out whether a database knows countries. The first few know one in every
/// database of countries or cities; one of something else knows none.
const NETWORKS_TRIED: usize = 10_000;

/// The members of a record in which a country is looked for, in this order.
const MEMBERS: [&str; 2] = [
    "country",
    // Where the location is unknown, the country that the network is registered in is the best guess (ADR 40).
    "registered_country",
];

/// A database, whole in memory.
pub(crate) struct Countries(Reader<Vec<u8>>);

impl Countries {
    /// Reads `file`. `None` if it is a database without countries.
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

    /// The country of `address`. A code that is not assigned, such as `XK`, can be in no list of blocked countries and
    /// counts as unknown.
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
