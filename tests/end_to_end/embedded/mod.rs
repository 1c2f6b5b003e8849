//! Tests of the embedded store's file, which run on that store only.

mod replaced_files;
mod secrets_key;
mod starts;
mod store_failures;
mod upgrades;
