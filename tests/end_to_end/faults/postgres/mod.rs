//! PostgreSQL fails (D6, D30, D58; R16, R19). No answered change is lost, and no change is partial. Every
//! answer follows the contract and comes in time. Within five seconds service is normal again, without a
//! restart.

mod cold_visits;
mod dated_links;
mod links_in_memory;
mod network;
mod outages;
mod pool;
mod small_pools;
mod writes;

/// The tests that are skipped without the servers, as the notice names them.
const WHO: &str = "failures of PostgreSQL";
