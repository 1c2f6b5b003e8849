//! Telling what ends TLS in front of the service for which names it may get certificates.

use signpost_domain::Hostname;

use crate::application::Application;
use crate::ports::StoreError;

/// The hostname that `text` is, if an account may have a certificate for it at all. Nobody for what is no hostname, nor for
/// the installation's own names, which have certificates by other means, not even if an account had connected one before it
/// became the installation's (see [`own_names_held`](super::own_names_held)).
#[must_use]
pub fn certifiable_hostname(app: &Application, text: &str) -> Option<Hostname> {
    let hostname = Hostname::parse(text).ok()?;
    app.hostname_rules.own_names().all(|own| *own != hostname).then_some(hostname)
}

/// Whether a certificate may be obtained now for a [`certifiable_hostname`]: only if it is proven, so `ssl_pending` or
/// `active` (D39).
///
/// # Errors
/// The store broke; that is not the same as "no".
pub async fn may_have_certificate(app: &Application, hostname: &Hostname) -> Result<bool, StoreError> {
    let holder = app.store.holder_of(hostname).await?;
    Ok(holder.is_some_and(|domain| domain.at(app.clock.now()).status.may_have_certificate()))
}
