//! Telling what ends TLS in front of the service for which names it may get certificates.

use signpost_domain::Hostname;

use crate::application::Application;
use crate::ports::StoreError;

/// Whether a certificate may be obtained for the custom domain `hostname` now: only for one that is proven, so `ssl_pending`
/// or `active` (D39). Not for what is no hostname, nor for the installation's own names, which have certificates by other
/// means, not even if an account had connected one before it became the installation's (see [`own_names_held`](super::own_names_held)).
///
/// # Errors
/// The store broke; that is not the same as "no".
pub async fn may_have_certificate(app: &Application, hostname: &str) -> Result<bool, StoreError> {
    let Ok(hostname) = Hostname::parse(hostname) else { return Ok(false) };
    if app.hostname_rules.own_names().any(|own| *own == hostname) {
        return Ok(false);
    }
    let holder = app.store.holder_of(&hostname).await?;
    Ok(holder.is_some_and(|domain| domain.at(app.clock.now()).status.may_have_certificate()))
}
