//! Private Redis servers, single or a cluster of three, which tests can stop, kill, pause and restart.

mod cluster;
mod resp;
mod server;

pub use cluster::RedisCluster;
pub use server::{RedisServer, Setup, Tls, program};
