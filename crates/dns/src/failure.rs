//! Why a server gave no definite answer.

use std::fmt;
use std::io;

use hickory_resolver::net::NetError;
use hickory_resolver::proto::op::ResponseCode;

/// Why a server gave no definite answer to a query. Its text contains nothing that the server sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The server sent nothing that matches the query.
    Silent,
    /// The server cannot be reached, or closed the connection.
    Unreachable(io::ErrorKind),
    /// The answer is malformed.
    Unreadable,
    /// The answer is truncated, even over TCP.
    Truncated,
    /// The answer does not match the query.
    Mismatched,
    /// The server refers to other servers, or denies the name without authority.
    Lame,
    /// The server returned this code.
    Code(ResponseCode),
    /// The query could not be sent, for a local reason.
    NotSent,
}

impl Failure {
    /// Converts an error of the transport. Its own text may quote received data, so it only goes to the debug
    /// log.
    pub(crate) fn of_transport(error: &NetError) -> Self {
        tracing::debug!(%error, "a name server gave no answer");
        match error {
            NetError::Timeout => Self::Silent,
            NetError::Io(error) => Self::Unreachable(error.kind()),
            NetError::Proto(_) | NetError::QueryCaseMismatch => Self::Unreadable,
            // The transport has many more errors, of protocols that are not built in.
            _ => Self::NotSent,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Silent => f.write_str("no answer in time"),
            Self::Unreachable(kind) => write!(f, "not reached ({kind})"),
            Self::Unreadable => f.write_str("an answer that cannot be read"),
            Self::Truncated => f.write_str("an answer that is cut short"),
            Self::Mismatched => f.write_str("an answer that does not fit the question"),
            Self::Lame => f.write_str("an answer from a server without authority for the name"),
            Self::Code(code) => write!(f, "the code {} ({code})", u16::from(*code)),
            Self::NotSent => f.write_str("the question could not be sent"),
        }
    }
}
