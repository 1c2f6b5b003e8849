//! The implementation of the DNS port.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use async_trait::async_trait;
use hickory_resolver::proto::rr::rdata::{CAA, TXT};
use hickory_resolver::proto::rr::{Name, RData, RecordType};
use signpost_app::ports::{DnsProvider, DnsUnavailable};
use signpost_domain::{CaaRecord, HostResolution, Hostname, TextResolution};
use tokio::time::timeout;

use crate::follow::{ChainRecords, Lookup};
use crate::options::{DnsOptions, DnsOptionsError};

/// Asks name servers on every call, without a cache (D42, R21). Calls need a Tokio runtime with time and
/// network; creating it does not. It opens no socket before a call, and leaves none open afterwards.
#[derive(Debug, Clone)]
pub struct HickoryDns {
    servers: Vec<SocketAddr>,
    patience: Duration,
    time_limit: Duration,
}

impl HickoryDns {
    /// Reads the options, and the system's configuration if they ask for it. It sends no query.
    ///
    /// # Errors
    ///
    /// No server is named, a server has no port, or the system's configuration cannot be read.
    pub fn new(options: &DnsOptions) -> Result<Self, DnsOptionsError> {
        let servers = options.servers.addresses()?;
        Ok(Self { patience: options.patience(servers.len()), servers, time_limit: options.time_limit })
    }

    /// The servers, in order of preference.
    #[must_use]
    pub fn servers(&self) -> &[SocketAddr] {
        &self.servers
    }

    /// Returns the records at the end of `name`'s chain. `None` for a text that cannot be a DNS name, for
    /// example because it is too long: no such record can exist.
    async fn find(&self, name: &str, types: &[RecordType]) -> Result<Option<ChainRecords>, DnsUnavailable> {
        let Some(name) = absolute(name) else { return Ok(None) };
        let lookup = Lookup::new(&self.servers, self.patience, self.time_limit);
        let followed = timeout(self.time_limit, lookup.follow(name, types)).await;
        followed.map_or_else(
            |_| Err(DnsUnavailable { reason: format!("no definite answer within {:?}", self.time_limit) }),
            |found| found.map(Some),
        )
    }
}

#[async_trait]
impl DnsProvider for HickoryDns {
    async fn txt_records(&self, name: &str) -> Result<TextResolution, DnsUnavailable> {
        let found = self.find(name, &[RecordType::TXT]).await?;
        let Some(ChainRecords { chain, records }) = found else { return Ok(TextResolution::default()) };
        let texts = records.iter().filter_map(|record| match record {
            RData::TXT(text) => Some(joined(text)),
            _ => None,
        });
        Ok(TextResolution { texts: texts.collect(), chain: chain.into_texts() })
    }

    async fn resolution(&self, hostname: &Hostname) -> Result<HostResolution, DnsUnavailable> {
        let found = self.find(hostname.as_str(), &[RecordType::A, RecordType::AAAA]).await?;
        let Some(ChainRecords { chain, records }) = found else { return Ok(HostResolution::default()) };
        let addresses = records.iter().filter_map(|record| match record {
            RData::A(address) => Some(IpAddr::V4(address.0)),
            RData::AAAA(address) => Some(IpAddr::V6(address.0)),
            _ => None,
        });
        Ok(HostResolution { addresses: addresses.collect(), chain: chain.into_texts() })
    }

    async fn caa_records(&self, name: &str) -> Result<Vec<CaaRecord>, DnsUnavailable> {
        let found = self.find(name, &[RecordType::CAA]).await?;
        let records = found.map(|ChainRecords { chain: _, records }| records).unwrap_or_default();
        let records = records.into_iter().filter_map(|record| match record {
            RData::CAA(CAA { issuer_critical, tag, value, .. }) => {
                Some(CaaRecord { is_critical: issuer_critical, tag, value })
            }
            _ => None,
        });
        Ok(records.collect())
    }
}

fn absolute(name: &str) -> Option<Name> {
    let mut name = Name::from_ascii(name).ok()?;
    name.set_fqdn(true);
    Some(name)
}

/// The strings of one record, each of at most 255 bytes, joined. A character may span two of them.
fn joined(text: &TXT) -> String {
    let bytes: Vec<u8> = text.txt_data.iter().flat_map(|part| part.iter().copied()).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}
