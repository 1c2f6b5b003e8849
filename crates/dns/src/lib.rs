//! Signpost's DNS client: what name servers say about the hostnames that accounts connect (D39, D42).
//!
//! # Queries and definite answers
//!
//! Every call sends its own queries: there is no cache, no hosts file and no search list, and two calls never share a
//! query. The operator chooses the name servers. Each query goes to the first server over UDP. If that fails, or stays
//! silent for a moment ([`DnsOptions::patience`]), the query also goes to the next one. The first *definite* answer counts.
//!
//! An answer with records for the name is definite. An answer without records is definite if it comes from a recursive
//! server or an authoritative one, or has the `SOA` record of the zone. Everything else is a failure of that server:
//! `SERVFAIL`, `REFUSED` and every other code, silence, a malformed answer, a referral, and records of another name. If
//! every server fails, the result is unknown.
//!
//! # Aliases
//!
//! The client follows aliases, because an authoritative server gives only the alias if its target is in another zone. It
//! uses the part of the chain in the answer. Then it asks for the name at the end, unless the answer has its records. So a
//! chain ends without records only if a server said so about that very name. If a name has several aliases, the client
//! follows the least in the order of their texts. An alias takes precedence over other records.
//!
//! # Limits
//!
//! One call takes at most [`DnsOptions::time_limit`] and nine rounds of queries. It holds one answer of at most 64 KiB for
//! each record type and server. Ports, ids and the case of letters are random in each query, against forged answers. A
//! query is repeated over TCP if its answer is truncated or malformed, or has the wrong case of letters.

mod answer;
mod chain;
mod exchange;
mod failure;
mod follow;
mod options;
mod provider;

pub use options::{DnsOptions, DnsOptionsError, NameServers};
pub use provider::HickoryDns;
