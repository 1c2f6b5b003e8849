//! Content security policies: what a page may load, and nothing beside it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

/// The source expression that lets in one style sheet or script by what it consists of.
pub(crate) fn hash_source(text: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text.as_bytes())))
}

/// A policy that lets in nothing but these sources.
pub(crate) fn only(directives: &[(&str, String)]) -> String {
    let mut policy = "default-src 'none'".to_owned();
    for (name, sources) in directives.iter().filter(|(_, sources)| !sources.is_empty()) {
        policy.push_str("; ");
        policy.push_str(name);
        policy.push(' ');
        policy.push_str(sources);
    }
    policy.push_str("; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
    policy
}
