//! Finds the countries of addresses in a database in MaxMind's format (D55).
//!
//! [`GeoDatabase`] holds a file like GeoLite2-Country in memory and answers from there. It does not watch the
//! file: the program does, and calls [`GeoDatabase::reload`].

mod countries;
mod database;

pub use database::{GeoDatabase, GeoDatabaseError};
