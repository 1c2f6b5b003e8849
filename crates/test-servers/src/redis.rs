//! Private Redis servers: one alone, or a cluster of three.

mod cluster;
mod resp;
mod server;

pub use cluster::RedisCluster;
pub use server::{RedisServer, Setup, Tls};
