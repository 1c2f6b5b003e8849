//! What DNS says about the hostnames that accounts connect.

use async_trait::async_trait;
use signpost_domain::{HostResolution, Hostname};

/// No name server gave an answer: none was reached, none answered in time, or all failed (`SERVFAIL`, `REFUSED`, an answer
/// that cannot be read). It says nothing about the records: "could not ask" is never "no" (D42).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the name servers gave no answer: {reason}")]
pub struct DnsUnavailable {
    /// For the log.
    pub reason: String,
}

/// The domain name system, asked anew each time: a record that was added a moment ago must not be hidden by what was
/// remembered. Every call ends within a time limit and with bounded memory, whatever is answered. That a name or a record
/// does not exist is an answer: an empty one.
#[async_trait]
pub trait DnsProvider: Send + Sync {
    /// The values of the `TXT` records at `name`, each with its strings joined, in any order. What is not UTF-8 in them is
    /// replaced by U+FFFD. Aliases (`CNAME`) are followed as for [`resolution`](Self::resolution).
    async fn txt_records(&self, name: &str) -> Result<Vec<String>, DnsUnavailable>;

    /// Where `hostname` leads: its chain of aliases and the addresses at its end, of both families. A failure of either
    /// family is a failure of the whole.
    async fn resolution(&self, hostname: &Hostname) -> Result<HostResolution, DnsUnavailable>;
}
