//! Finding out that the settings name a hostname that an account has.

use signpost_domain::Hostname;

use crate::application::Application;
use crate::ports::StoreError;

/// Those of the installation's own names that an account holds as its custom domain. No account can connect them (D37), but
/// the operator can name one in the settings that was connected before. A name of the system domain then opens the system
/// domain's links, and none of them is given a certificate as a custom domain: the account's has become useless.
///
/// # Errors
/// The store broke.
pub async fn own_names_held(app: &Application) -> Result<Vec<&Hostname>, StoreError> {
    let mut held = Vec::new();
    for name in app.hostname_rules.own_names() {
        let holder = app.store.holder_of(name).await?;
        if holder.is_some_and(|domain| domain.at(app.clock.now()).status.holds_hostname()) {
            held.push(name);
        }
    }
    Ok(held)
}
