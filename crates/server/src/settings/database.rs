//! Where the data is kept.

use std::fmt;

use signpost_sqlite::DatabaseFile;

/// Where the data is kept.
#[derive(Debug, Clone)]
pub(crate) enum Database {
    /// In a file, by the embedded store.
    File(DatabaseFile),
    /// On a PostgreSQL server.
    Server(ServerUrl),
}

/// The URL of a PostgreSQL server and a database on it. It may hold a password, so it is never shown whole.
#[derive(Clone)]
pub(crate) struct ServerUrl(String);

impl ServerUrl {
    pub(super) const fn new(url: String) -> Self {
        Self(url)
    }

    /// The URL with what is secret in it, to connect with.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

/// Hosts and name of the database alone: all else may be secret.
impl fmt::Display for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&signpost_postgres::url_without_secrets(&self.0))
    }
}

impl fmt::Debug for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(file) => file.path().display().fmt(f),
            Self::Server(url) => url.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r28_a_password_is_never_shown() {
        for url in [
            "postgres://user:secret@db.example/signpost",
            "postgresql://user:sec%40ret@db.example/signpost?password=secret",
            "postgres://db.example/signpost?user=u&password=secret#secret",
            "postgres://db.example/signpost?user=u&password=sec@ret",
        ] {
            let url = ServerUrl::new(url.to_owned());
            assert_eq!(url.to_string(), "postgres://db.example:5432/signpost");
            assert_eq!(format!("{url:?}"), url.to_string());
        }
    }
}
