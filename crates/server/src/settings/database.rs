//! The setting of the database.

use std::fmt;

use signpost_sqlite::DatabaseFile;

/// The place of the data.
#[derive(Debug, Clone)]
pub(crate) enum Database {
    /// In a file, by the embedded store.
    File(DatabaseFile),
    /// On a PostgreSQL server.
    Server(ServerUrl),
}

impl Database {
    /// Whether it is in a file that does not exist yet.
    pub(crate) fn is_missing_file(&self) -> bool {
        match self {
            Self::File(file) => !file.path().exists(),
            Self::Server(_) => false,
        }
    }
}

/// The URL of a database on a PostgreSQL server. It may hold a password, so it is never shown whole.
#[derive(Clone)]
pub(crate) struct ServerUrl(String);

impl ServerUrl {
    pub(super) const fn new(url: String) -> Self {
        Self(url)
    }

    /// The whole URL with its secrets, to connect with.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

/// Shows only the hosts and the name of the database, because other parts may be secret.
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
