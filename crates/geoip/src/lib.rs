//! Where addresses are, from a database in MaxMind's format (D55).
//!
//! [`GeoDatabase`] holds a file of the shape of GeoLite2-Country in memory and answers from there. It does
//! not watch the file: the program does, and calls [`GeoDatabase::reload`].

mod countries;
mod database;

pub use database::{GeoDatabase, GeoDatabaseError};
