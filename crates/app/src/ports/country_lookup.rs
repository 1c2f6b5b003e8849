//! The countries of visitors' addresses.

use std::net::IpAddr;

use signpost_domain::CountryCode;

/// Knows where addresses are (D55).
///
/// It is asked while a visitor waits, so it answers from memory.
pub trait CountryLookup: Send + Sync {
    /// The country of `address`; `None` where it is not known, which blocks nobody.
    fn country(&self, address: IpAddr) -> Option<CountryCode>;
}

/// Knows no country: an installation without a database of addresses.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoCountries;

impl CountryLookup for NoCountries {
    fn country(&self, _: IpAddr) -> Option<CountryCode> {
        None
    }
}
