//! Signpost's view of DNS: what name servers say about the hostnames that accounts connect (D39, D42).
//!
//! # What is asked, and what counts as an answer
//!
//! Every call asks anew: there is no cache, no file of hosts and no search list, and two calls never share a query. The
//! name servers are those of the operator. Each query goes to the first of them, over UDP; to the next one as well when
//! that fails or stays silent for a moment ([`DnsOptions::patience`]); and the first *definite* answer of any counts.
//!
//! Definite is an answer with records for the name, and one that says that there are none, by a server that may know:
//! one that resolves for others, one that has authority, or one that shows the `SOA` record of the zone. All else is a
//! failure of that server: `SERVFAIL`, `REFUSED` and every other code, silence, what cannot be read, a referral, and
//! records of a name that nobody asked for. If every server fails, nothing is known.
//!
//! # Aliases
//!
//! They are followed here, because a server with authority gives only the alias itself where its target is in another
//! zone. What an answer has of the chain is used; the name at its end is then asked for anew unless its records came
//! along. So a chain ends with "nothing there" only where a server was asked for that very name. Should a name have
//! several aliases, the least in the order of their texts is followed, and an alias goes before other records.
//!
//! # Bounds
//!
//! One call takes [`DnsOptions::time_limit`] at most, makes nine rounds of queries at most, and holds one answer of at
//! most 64 KiB for each record type that is asked for and each server. A query is spread over ports, ids and the case
//! of letters chosen at random, against forged answers; one that was cut short, cannot be read, or has the wrong case
//! of letters, is asked again over TCP.

mod answer;
mod chain;
mod exchange;
mod failure;
mod follow;
mod options;
mod provider;

pub use options::{DnsOptions, DnsOptionsError, NameServers};
pub use provider::HickoryDns;
