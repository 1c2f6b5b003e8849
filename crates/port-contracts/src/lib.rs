//! One contract suite for each of Signpost's ports, and ready-made values to test with.
//!
//! A suite says what a port means. Every sentence of obligation in a port's documentation has a case here,
//! and every implementation, the in-memory one included, runs all of them.
//!
//! # Running a suite on an adapter
//!
//! The adapter supplies a fixture and a function that makes fresh ones; a macro turns every case into a test
//! of its own, so none can be left out. In the adapter's `tests/contract.rs`:
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
//! // The cases say which time limit (D6) they need.
//! async fn fresh_store(time_limit: Duration) -> Fixture { /* … */ }
//!
//! signpost_port_contracts::store_contract!(fresh_store);
//! ```
//!
//! `crates/memory/tests/contract.rs` is a whole example. Likewise [`quota_contract!`], [`quota_merging_contract!`],
//! [`click_contract!`], [`dns_contract!`], [`id_source_contract!`] and [`randomness_contract!`]. A test is then called `store::addresses::…` after
//! the port, and the file and the function in which its case stands here. It runs in a tokio runtime of its
//! own with several threads; a case that hangs fails after two minutes.
//!
//! # Adding a case
//!
//! 1. Write the sentence of obligation into the documentation of the port.
//! 2. Write an `async fn` into the file of this crate that the sentence belongs to. It gets a
//!    [`store::Fresh`] (or the like), from which it opens stores.
//! 3. Name it in the list of its suite (`store/cases.rs`). A function that is not in the list is dead code,
//!    which the build refuses; a name in the list without a function does not compile.
//! 4. See it fail on an implementation that breaks the rule, then run the tests of every adapter.
//!
//! A case must not wait for one unit of work while it holds another in the same task: stores may admit one at
//! a time.
//!
//! # Ready-made values
//!
//! [`samples`] has accounts, keys, groups, domains, pixels, links and pages to which a test adds only what it is about, and
//! [`logs::Log`] keeps what is logged meanwhile.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    clippy::panic,
    clippy::unwrap_used,
    reason = "everything here runs in tests, which fail by panicking"
)]

pub mod clicks;
mod concurrency;
pub mod dns;
pub mod id_source;
pub mod logs;
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
pub use quota::QuotaFixture;
pub use store::StoreFixture;
