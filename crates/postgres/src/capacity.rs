//! How many connections the server allows.

use crate::connecting::connect_client;
use crate::open_error::OpenError;
use crate::server_address::ServerAddress;

/// What the server allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capacity {
    /// The version of the server, such as `15.18`.
    pub version: String,
    max_connections: i32,
    reserved: i32,
}

impl Capacity {
    /// The connections that all users together may have who are no superusers.
    #[must_use]
    pub fn allowed(&self) -> usize {
        usize::try_from(self.max_connections.saturating_sub(self.reserved)).unwrap_or(0)
    }
}

const CAPACITY: &str = "SELECT split_part(current_setting('server_version'), ' ', 1), \
                        current_setting('max_connections')::int, current_setting('superuser_reserved_connections')::int";

/// Asks the server at `url` how many connections it allows.
///
/// # Errors
/// As those of [`pending_migrations`](crate::pending_migrations).
pub async fn capacity(url: &str) -> Result<Capacity, OpenError> {
    let address = ServerAddress::parse(url)?;
    let client = connect_client(&address).await.map_err(|error| OpenError::NoConnection(error.into()))?;
    let unusable = |error: tokio_postgres::Error| OpenError::Unusable(error.into());
    let row = client.query_one(CAPACITY, &[]).await.map_err(unusable)?;
    Ok(Capacity {
        version: row.try_get(0).map_err(unusable)?,
        max_connections: row.try_get(1).map_err(unusable)?,
        reserved: row.try_get(2).map_err(unusable)?,
    })
}
