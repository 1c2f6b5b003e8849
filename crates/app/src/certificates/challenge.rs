//! Answering the challenges of the authority (D188).

use signpost_domain::Hostname;

use crate::application::Application;
use crate::ports::StoreError;

/// Bounds of a token's length: RFC 8555 demands 128 bits, which are 22 characters, and the store keeps no more than this.
const TOKEN_CHARS: std::ops::RangeInclusive<usize> = 22..=256;

/// What `http://<hostname>/.well-known/acme-challenge/<token>` answers; `None` if no order of this hostname is waiting for it. A
/// malformed token costs no read.
///
/// # Errors
/// The store broke.
pub async fn challenge_answer(
    app: &Application,
    hostname: &Hostname,
    token: &str,
) -> Result<Option<String>, StoreError> {
    let is_token = TOKEN_CHARS.contains(&token.len())
        && token.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    if app.issuance.is_none() || !is_token {
        return Ok(None);
    }
    let challenge = app.store.challenge(token, app.clock.now()).await?;
    Ok(challenge
        .filter(|challenge| challenge.hostname == *hostname)
        .map(|challenge| challenge.key_authorization))
}

/// What a handshake at port 443 of a hostname must prove with the hash of; `None` if no order of this hostname is waiting for it.
///
/// # Errors
/// The store broke.
pub async fn handshake_proof(app: &Application, hostname: &Hostname) -> Result<Option<String>, StoreError> {
    if app.issuance.is_none() {
        return Ok(None);
    }
    let challenge = app.store.challenge_of(hostname, app.clock.now()).await?;
    Ok(challenge.map(|challenge| challenge.key_authorization))
}
