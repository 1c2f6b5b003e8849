//! Private Redis servers: one alone, or a cluster of three.

mod cluster;
mod resp;
mod server;

/// Whether Redis is installed; for tests beside others that need none.
#[must_use]
pub fn is_installed() -> bool {
    crate::absence::find_program("redis-server", &[]).is_some()
}

pub use cluster::RedisCluster;
pub use server::{RedisServer, Setup, Tls};
