//! What is about the file of the embedded store: these tests are in the run on that store alone.

mod domain_handovers;
mod first_start;
mod migrations;
mod store_failures;
mod unknown_plans;
