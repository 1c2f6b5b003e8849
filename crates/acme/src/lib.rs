//! Signpost's client of certificate authorities that speak ACME (RFC 8555), such as Let's Encrypt.
//!
//! # What goes over the wire
//!
//! `instant-acme` speaks the protocol, over `signpost-https-client`. The client connects to `https` only, follows no
//! redirects, reads at most 1 MiB of an answer, and ends each request within [`AcmeOptions::time_limit`]. A call of
//! the port makes a few requests and takes at most three times as long. Connections are not kept: an order needs about ten
//! requests, and days may pass until the next one.
//!
//! The authority is first asked when a call needs it, so an unreachable authority does not keep the program from starting. The
//! directory of the authority is kept for an hour.
//!
//! # Which answers mean what
//!
//! | answer | error |
//! | --- | --- |
//! | `badNonce`, after several attempts with new nonces | `Transient` |
//! | 429, or `rateLimited` | `Wait` with calls of the same kind, for `Retry-After` or an hour |
//! | 503 with `Retry-After` | `Wait` with all calls |
//! | silence, a broken connection, any other 5xx, an answer that is too long or not of the protocol | `Unavailable` |
//! | `alreadyReplaced` | `AlreadyReplaced` |
//! | an unknown account, an unknown order | `NoSuchAccount`, `NoSuchOrder` |
//! | any other refusal | `Refused`, with the reason for the owner of the hostname |

mod authority;
mod certificate;
mod clock_comparison;
mod directory;
mod failure;
mod options;
mod progress;
mod retry_after;
mod transport;

pub use authority::AcmeAuthority;
pub use clock_comparison::ClockDifference;
pub use options::{AcmeOptions, AcmeOptionsError, ExternalAccount, LETS_ENCRYPT};
