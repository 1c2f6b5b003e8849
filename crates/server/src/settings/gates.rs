//! The settings that determine the countries of visitors (D55).

use std::sync::Arc;

use actix_http::header::HeaderName;

use super::catalog;
use super::error::SettingsError;
use super::sources::Sources;
use super::values;
use crate::country_database_file::CountryDatabaseFile;

/// The sources of visitors' countries.
#[derive(Debug)]
pub(crate) struct GateSettings {
    /// The database of countries, already read.
    pub(crate) country_database: Option<Arc<CountryDatabaseFile>>,
    /// The header in which trusted proxies name the country.
    pub(crate) country_header: Option<HeaderName>,
}

impl GateSettings {
    /// Reads the settings.
    ///
    /// # Errors
    /// One of them is invalid, or the database cannot be read.
    pub(super) fn read(sources: &Sources) -> Result<Self, SettingsError> {
        Ok(Self {
            country_database: sources.optional(&catalog::GEOIP_DATABASE)?,
            country_header: sources.optional(&catalog::COUNTRY_HEADER)?,
        })
    }

    /// Whether the country of any visitor can be known.
    pub(crate) const fn know_countries(&self) -> bool {
        self.country_database.is_some() || self.country_header.is_some()
    }
}

/// Opens a database of the countries of addresses.
pub(super) fn country_database(text: &str) -> Result<Arc<CountryDatabaseFile>, String> {
    let path = values::file(text)?;
    CountryDatabaseFile::open(path).map(Arc::new).map_err(|error| error.to_string())
}

/// Headers that any client may send with another meaning.
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

/// Whether browsers, or proxies for another purpose, send this header, so that it cannot name a person.
pub(super) fn is_sent_by_browsers(name: &HeaderName) -> bool {
    let name = name.as_str();
    let of_proxies = ["x-forwarded-for", "x-forwarded-host", "x-forwarded-port", "x-forwarded-proto"];
    OTHER_HEADERS.contains(&name)
        || of_proxies.contains(&name)
        || name == "origin"
        || name.starts_with("sec-")
}

/// The name of the header that names a visitor's country.
pub(super) fn country_header(text: &str) -> Result<HeaderName, String> {
    let name = HeaderName::try_from(text)
        .map_err(|_| format!("must be the name of a header, such as CF-IPCountry, not {text:?}"))?;
    if OTHER_HEADERS.contains(&name.as_str()) || name.as_str().starts_with("x-forwarded-") {
        return Err(format!("must be a header that names a country, such as CF-IPCountry, not {text:?}"));
    }
    Ok(name)
}
