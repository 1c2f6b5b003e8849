//! The settings by which the countries of visitors are known (D55).

use std::sync::Arc;

use actix_http::header::HeaderName;

use super::catalog::{LINKS, Scope, Setting};
use super::error::SettingsError;
use super::sources::Sources;
use super::{optional, values};
use crate::country_database_file::CountryDatabaseFile;

/// The database of the countries of addresses.
pub(crate) const GEOIP_DATABASE: Setting = Setting {
    key: "geoip-database",
    value_name: "FILE",
    default: None,
    help: "Database in MaxMind's format that knows the countries of visitors' addresses, for links that block countries, \
           such as GeoLite2-Country.mmdb. It is read again when it changes",
    group: LINKS,
    scope: Scope::Serve,
    is_list: false,
};

/// The header that says which country a visitor is in.
pub(crate) const COUNTRY_HEADER: Setting = Setting {
    key: "country-header",
    value_name: "NAME",
    default: None,
    help: "Header in which a proxy of `trusted-proxies` names the visitor's country, such as CF-IPCountry. It wins over \
           `geoip-database`",
    group: LINKS,
    scope: Scope::Serve,
    is_list: false,
};

/// How `serve` knows where visitors are.
#[derive(Debug)]
pub(crate) struct GateSettings {
    /// The database, read.
    pub(crate) country_database: Option<Arc<CountryDatabaseFile>>,
    /// The header that trusted proxies set.
    pub(crate) country_header: Option<HeaderName>,
}

impl GateSettings {
    /// Reads them.
    ///
    /// # Errors
    /// One of them is invalid, or the database cannot be read.
    pub(super) fn read(sources: &Sources) -> Result<Self, SettingsError> {
        Ok(Self {
            country_database: optional(sources, &GEOIP_DATABASE, |text| {
                let path = values::file(text)?;
                CountryDatabaseFile::open(path).map(Arc::new).map_err(|error| error.to_string())
            })?,
            country_header: optional(sources, &COUNTRY_HEADER, country_header)?,
        })
    }

    /// Whether the country of any visitor can be known.
    pub(crate) const fn know_countries(&self) -> bool {
        self.country_database.is_some() || self.country_header.is_some()
    }
}

/// Headers that requests may have of any client, and that mean something else.
const OTHER_HEADERS: [&str; 22] = [
    "accept",
    "accept-encoding",
    "accept-language",
    "authorization",
    "connection",
    "content-length",
    "content-type",
    "cookie",
    "forwarded",
    "host",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "referer",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "user-agent",
    "via",
    "x-real-ip",
];

fn country_header(text: &str) -> Result<HeaderName, String> {
    let name = HeaderName::try_from(text)
        .map_err(|_| format!("must be the name of a header, such as CF-IPCountry, not {text:?}"))?;
    if OTHER_HEADERS.contains(&name.as_str()) || name.as_str().starts_with("x-forwarded-") {
        return Err(format!("must be a header that says a country, such as CF-IPCountry, not {text:?}"));
    }
    Ok(name)
}
