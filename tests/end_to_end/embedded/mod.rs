//! Tests of the embedded store's file, which run on that store only.

mod domain_handovers;
mod starts;
mod store_failures;
