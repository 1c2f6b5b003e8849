//! The log lines of the start: warnings about what does not work with the settings.

use signpost_app::{Application, domains};
use signpost_listener::PassedSockets;

use crate::advice::Advice;

/// Logs advice about the settings.
pub(super) fn settings(advice: &[Advice]) {
    for advice in advice {
        match advice {
            Advice::Warning(text) => tracing::warn!("{text}"),
            Advice::Note(text) => tracing::info!("{text}"),
        }
    }
}

/// Warns of sockets of the service manager that no listener uses: the service manager holds them open, so their clients wait
/// in vain.
pub(super) fn unclaimed_sockets(passed: &PassedSockets) {
    for address in passed.unclaimed() {
        tracing::warn!(
            %address,
            "the service manager passes a socket that no listener takes: clients that connect there get no answer; set a listener, \
             such as `link-listen`, to this address, or stop the socket's unit"
        );
    }
}

/// Warns of accounts that conflict with the settings. The node serves even if the store cannot answer.
pub(super) async fn accounts(app: &Application) {
    warn_of_own_names(app).await;
    warn_of_unknown_plans(app).await;
}

/// Warns of each name of the installation that an account has as its custom domain.
async fn warn_of_own_names(app: &Application) {
    match domains::own_names_held(app).await {
        Ok(held) => {
            for hostname in held {
                tracing::warn!(
                    %hostname,
                    "a name of this installation is the custom domain of an account, so the domain gets no certificate and may \
                     serve no links: change `system-url`, `system-aliases` or `edge-hostname`, or have the account delete the domain"
                );
            }
        }
        Err(error) => {
            tracing::warn!(%error, "cannot check whether accounts have names of this installation");
        }
    }
}

/// Warns of each plan that accounts have but the settings do not define.
async fn warn_of_unknown_plans(app: &Application) {
    match signpost_app::accounts::unknown_plans(app).await {
        Ok(unknown) => {
            for (plan, accounts) in unknown {
                tracing::warn!(
                    %plan,
                    accounts,
                    "accounts have a plan that this node does not know, so their requests are refused: define the plan in the file of the setting `plans`, or move the accounts with `signpost account set-plan`"
                );
            }
        }
        Err(error) => tracing::warn!(%error, "cannot check the plans of accounts"),
    }
}
