//! Failures of calls, and their mapping to the errors of the port.

use std::time::Duration;

use redis::RedisError;
use signpost_app::ports::StoreError;

#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error(transparent)]
    Redis(#[from] RedisError),
    #[error("Redis did not answer within the time limit of {} ms", .0.as_millis())]
    TimeLimit(Duration),
}

impl Failure {
    /// Whether the data under the key is wrong, rather than the server or the connection.
    pub(crate) fn is_about_the_key(&self) -> bool {
        match self {
            Self::Redis(error) => matches!(error.code(), Some("WRONGTYPE" | "SIGNPOSTCORRUPT")),
            Self::TimeLimit(_) => false,
        }
    }

    /// The port's error for a call about this key.
    pub(crate) fn about(self, key: &str) -> StoreError {
        if self.is_about_the_key() { corrupt(key, self.to_string()) } else { StoreError::unavailable(self) }
    }
}

pub(crate) fn corrupt(key: &str, reason: String) -> StoreError {
    StoreError::Corrupt { table: "signpost:quota", column: "count", row: key.to_owned(), reason }
}
