//! Signpost's client of identity providers that speak `OpenID` Connect (D77): the code flow with PKCE.
//!
//! # What goes over the wire
//!
//! Requests go through `signpost-https-client`, which follows no redirects, reads at most 256 KiB of an answer, and ends each
//! request within [`OidcOptions::time_limit`]. Only a provider on this machine may speak plain `http`.
//!
//! The provider's configuration and its keys are fetched when a call needs them, so an unreachable provider does not keep the
//! program from starting. Both are kept for an hour. While they cannot be fetched again, the old ones serve for a day. Calls that
//! come together share one fetch, and a failed one is repeated after three seconds at the earliest. A key id that is unknown
//! fetches the keys again, at most once a minute.
//!
//! # What a token must be
//!
//! Signed with RS256, PS256, ES256 or `EdDSA` by a key of the provider that is made for this algorithm, from the issuer of the
//! settings, for this client, not expired, not from the future, and with the nonce of the request. 60 seconds of difference
//! between the clocks are tolerated.

mod cache;
mod configuration;
mod exchange;
mod keys;
mod options;
mod provider;
mod token;

pub use options::{ClientSecret, OidcOptions, OidcOptionsError};
pub use provider::OidcProvider;
