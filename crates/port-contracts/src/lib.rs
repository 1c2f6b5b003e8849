//! One contract suite for each of Signpost's ports, and sample values for tests.
//!
//! A suite defines what a port means. Every obligation in a port's documentation has a case here, and every
//! implementation, including the in-memory one, runs all cases.
//!
//! # Running a suite on an adapter
//!
//! The adapter supplies a fixture and a function that makes fresh ones. A macro turns every case into a test, so an
//! adapter cannot leave one out. In the adapter's `tests/contract.rs`:
//!
//! ```text
//! struct Fixture { store: MyStore, folder: TempDir }
//!
//! #[async_trait]
//! impl StoreFixture for Fixture {
//!     fn store(&self) -> Arc<dyn Store> { Arc::new(self.store.clone()) }
//!     async fn reopen(self) -> Self { /* close it, and open the same folder again */ }
//! }
//!
//! // Each case chooses its time limit (D6).
//! async fn fresh_store(time_limit: Duration) -> Fixture { /* … */ }
//!
//! signpost_port_contracts::store_contract!(fresh_store);
//! ```
//!
//! `crates/memory/tests/contract.rs` is a complete example. The other suites work the same way: [`quota_contract!`],
//! [`quota_merging_contract!`], [`click_contract!`], [`click_tables_contract!`], [`node_reports_contract!`], [`dns_contract!`],
//! [`id_source_contract!`] and [`randomness_contract!`]. The name of a test, such as `store::addresses::…`, consists of the port, and the file and
//! function of its case. Each test runs in its own tokio runtime with several threads. A case that hangs fails after ten
//! minutes.
//!
//! # Adding a case
//!
//! 1. State the obligation in the documentation of the port.
//! 2. Write an `async fn` in the file of this crate with the same subject. It gets a [`store::Fresh`] (or the one of its
//!    suite), which opens stores.
//! 3. Add its name to the list of its file (`cases!`), or of its suite where the files have none. A function outside the
//!    list is dead code, which the lints refuse; a name without a function does not compile. A new file is named in
//!    `store/mod.rs` and in the list of `store/cases.rs`.
//! 4. See it fail on an implementation that breaks the rule, then run the tests of every adapter.
//!
//! A case must not wait for one unit of work while it holds another in the same task. A store may admit only
//! one at a time.
//!
//! # Sample values
//!
//! [`samples`] has accounts, keys, users, sessions, groups, domains, pixels, links and pages. A test sets only the fields
//! that it checks. [`logs::Log`] captures log lines. [`click_samples`] has clicks of one link, in batches.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    clippy::panic,
    clippy::unwrap_used,
    reason = "everything here runs in tests, which fail by panicking"
)]

pub mod click_samples;
pub mod click_tables;
pub mod clicks;
pub mod dns;
pub mod id_source;
pub mod logs;
pub mod node_reports;
pub mod one_of_each;
mod pseudorandom;
pub mod quota;
pub mod quota_merging;
pub mod randomness;
mod run;
pub mod samples;
pub mod store;
mod synthetic_clicks;

pub use synthetic_clicks::SyntheticClicks;

pub use clicks::ClickFixture;
pub use dns::DnsFixture;
pub use node_reports::NodeReportsFixture;
pub use quota::QuotaFixture;
pub use store::StoreFixture;
