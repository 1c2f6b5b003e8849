//! A program that speaks HTTPS itself (D180 to D198): with certificates that it obtains from Pebble, from an authority that
//! misbehaves, or from files.
//!
//! On servers there are two nodes, and each test holds for both. Without Pebble the tests that need it are skipped with a notice.

mod memory;
mod names;
mod one_port;
mod own_certificate;
mod proxy_protocol;
mod secrets;
mod service;
