//! Countries of addresses, as a test sets them.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{PoisonError, RwLock};

use signpost_app::ports::CountryLookup;
use signpost_domain::CountryCode;

/// The countries that a test has set; none at first.
#[derive(Debug, Default)]
pub struct FixedCountries(RwLock<HashMap<IpAddr, CountryCode>>);

impl FixedCountries {
    /// Puts `address` in `country`.
    pub fn put(&self, address: IpAddr, country: CountryCode) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(address, country);
    }
}

impl CountryLookup for FixedCountries {
    fn country(&self, address: IpAddr) -> Option<CountryCode> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(&address).copied()
    }
}
