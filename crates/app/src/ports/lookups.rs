//! Look-ups outside the stores: DNS, the countries and the programs of visitors, which visits are bots', and the operator's list of
//! hosts.

use std::net::IpAddr;
use std::sync::Arc;

use async_trait::async_trait;
use signpost_domain::routing::Device;
use signpost_domain::{CaaRecord, CountryCode, HostBlocklist, HostResolution, Hostname, TextResolution};

/// No name server gave an answer: none was reachable, none answered in time, or all failed (`SERVFAIL`, `REFUSED`, an
/// unreadable answer). This says nothing about the records: "could not ask" is never "no" (D42).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the name servers gave no answer: {reason}")]
pub struct DnsUnavailable {
    /// For the log.
    pub reason: String,
}

/// The domain name system. Each call asks the name servers again, so that no cache hides a record that was just added.
/// Each call ends within a time limit and uses bounded memory, with any answer. If a name or a record does not exist, the
/// answer is empty.
#[async_trait]
pub trait DnsProvider: Send + Sync {
    /// The `TXT` records at `name`. The strings of a record are joined, and bytes that are not UTF-8 are replaced by U+FFFD.
    /// Aliases (`CNAME`) are followed as for [`resolution`](Self::resolution).
    async fn txt_records(&self, name: &str) -> Result<TextResolution, DnsUnavailable>;

    /// Where `hostname` leads: its chain of aliases, and the addresses of both families at its end. If the look-up of either
    /// family fails, the call fails.
    async fn resolution(&self, hostname: &Hostname) -> Result<HostResolution, DnsUnavailable>;

    /// The `CAA` records at `name` itself, in any order; those of the names above it are not included (D189). Aliases are followed
    /// as for [`resolution`](Self::resolution).
    async fn caa_records(&self, name: &str) -> Result<Vec<CaaRecord>, DnsUnavailable>;
}

/// Looks up the countries of addresses (D55). Visitors wait for it, so it answers from memory.
pub trait CountryLookup: Send + Sync {
    /// The country of `address`. `None` if it is unknown, which blocks no visitor.
    fn country(&self, address: IpAddr) -> Option<CountryCode>;
}

/// Knows no countries, for an installation without a database of addresses.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoCountries;

impl CountryLookup for NoCountries {
    fn country(&self, _: IpAddr) -> Option<CountryCode> {
        None
    }
}

/// Tells the visits of bots from those of people (D48), by the rule of the click recorder. Visitors wait for it, so it answers
/// from memory, in a small part of a millisecond for any bytes.
pub trait BotDetector: Send + Sync {
    /// Whether a visit with this `User-Agent` and this `Sec-Purpose` is recorded as a bot's. Both are empty if they are not
    /// sent.
    fn is_bot(&self, user_agent: &[u8], purpose: &[u8]) -> bool;
}

/// Knows no bots, for a program without visitors.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoBots;

impl BotDetector for NoBots {
    fn is_bot(&self, _: &[u8], _: &[u8]) -> bool {
        false
    }
}

/// What a `User-Agent` names, as the dimensions of analytics have it (D47). A name is empty if it is unknown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentFacts {
    /// The kind of device.
    pub device: Option<Device>,
    /// The family of the operating system, such as `iOS`.
    pub os: String,
    /// The family of the browser, such as `Mobile Safari`.
    pub browser: String,
}

/// Names the devices, systems and browsers of visitors (D133), by the rules of the click recorder. It works in memory.
pub trait AgentReader: Send + Sync {
    /// Whether [`facts`](Self::facts) answers at once. Shortly after a start it may wait until its rules are compiled, so no visit may
    /// call it on a thread that answers others.
    fn is_ready(&self) -> bool;

    /// What a `User-Agent` of any bytes names. Once ready, it takes a small part of a millisecond.
    fn facts(&self, user_agent: &[u8]) -> AgentFacts;
}

/// Knows no agents, for a program without visitors.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoAgents;

impl AgentReader for NoAgents {
    fn is_ready(&self) -> bool {
        true
    }

    fn facts(&self, _: &[u8]) -> AgentFacts {
        AgentFacts::default()
    }
}

/// Gives the operator's current list of hosts that may never be targets (D24). The list may change while the program runs.
pub trait TargetBlocklist: Send + Sync {
    /// The newest list; the last good one if the newest is broken.
    fn current(&self) -> Arc<HostBlocklist>;

    /// A number that differs after each change of the list. It changes only after [`current`](Self::current) gives the new
    /// list. Every visit reads it, so it must be cheap.
    fn version(&self) -> u64;
}
