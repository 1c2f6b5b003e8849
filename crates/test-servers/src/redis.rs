//! Private Redis servers: one alone, or a cluster of three, that can be stopped, killed, held and started again.

mod cluster;
mod resp;
mod server;

pub use cluster::RedisCluster;
pub use server::{RedisServer, Setup, Tls, program};
