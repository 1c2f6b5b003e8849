//! The rules about certificates that an authority issues for hostnames (D180 to D199).
//!
//! Nothing here talks to an authority or reads a clock: counts, instants and random numbers are arguments.

mod budget;
mod caa;
mod failure;
mod renewal;
mod retry;
mod status;
mod validation;

pub use budget::{BudgetDecision, OrderBudget, OrderKind, OrderUse, Spent};
pub use caa::{CaaIssuer, CaaRecord, CaaVerdict, caa_names, caa_verdict};
pub use failure::{AuthorityMessage, CertificateFailure, CertificateFailureReason};
pub use renewal::{RENEWAL_WINDOW_ASKED_EVERY, RenewalWindow, Validity, ask_window_again_at};
pub use retry::RetryPlan;
pub use status::CertificateStatus;
pub use validation::ValidationMethod;

#[cfg(feature = "public-suffix")]
pub use budget::registered_domain;
