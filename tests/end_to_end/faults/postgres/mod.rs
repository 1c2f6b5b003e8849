//! PostgreSQL fails (D6, D30, D58; R16, R19): nothing that was answered is lost, nothing is there by half, every answer is
//! one of the contract and comes in time, and service is normal again within five seconds, without a restart.

mod cold_visits;
mod links_in_memory;
mod network;
mod outages;
mod pool;
mod small_pools;
mod writes;

/// Whose tests do not run without servers.
const WHO: &str = "failures of PostgreSQL";
