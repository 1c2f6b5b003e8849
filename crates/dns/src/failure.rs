//! Why a server gave no answer that counts.

use std::fmt;
use std::io;

use hickory_resolver::net::NetError;
use hickory_resolver::proto::op::ResponseCode;

/// Why one server gave no definite answer to one query. Its text has nothing of what the server sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failure {
    /// It said nothing that fits the query.
    Silent,
    /// It could not be reached, or closed the connection.
    Unreachable(io::ErrorKind),
    /// Its answer cannot be read.
    Unreadable,
    /// Its answer was cut short, over TCP too.
    Truncated,
    /// Its answer is not one to this query.
    Unfitting,
    /// It sends us to other servers, or says "no" without being one that may know.
    Lame,
    /// It gave this code.
    Code(ResponseCode),
    /// The query could not be sent, for a reason on this side.
    NotSent,
}

impl Failure {
    /// What the transport says. Its own text may quote what was received, so it goes to the log for developers alone.
    pub(crate) fn of_transport(error: &NetError) -> Self {
        tracing::debug!(%error, "a name server gave no answer");
        match error {
            NetError::Timeout => Self::Silent,
            NetError::Io(error) => Self::Unreachable(error.kind()),
            NetError::Proto(_) | NetError::QueryCaseMismatch => Self::Unreadable,
            // The transport has many more, of protocols that are not built in here.
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
            Self::Unfitting => f.write_str("an answer that does not fit the question"),
            Self::Lame => f.write_str("an answer of a server that knows nothing of the name"),
            Self::Code(code) => write!(f, "the code {} ({code})", u16::from(*code)),
            Self::NotSent => f.write_str("the question could not be sent"),
        }
    }
}
