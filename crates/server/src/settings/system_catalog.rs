//! Declares where the system domain sends visitors for whom no link opens (D127).

use signpost_domain::{Hostname, TargetUrl};

use super::error::SettingsError;
use super::logged::text;
use super::setting::{About, Scope, Setting, settings};
use super::sources::Sources;
use super::{CommonSettings, ServeSettings, https};

settings! {
    list: SYSTEM, plain: PlainSystemSettings, log: log_system, message: "visitors of the system domain";

    SYSTEM_ROOT_URL: TargetUrl = target_url {
        key: "system-root-url", value_name: "URL", default: None,
        help: "Where visitors of the root of the system domain are sent [default: a page that says what the host is for]",
        group: "Links", scope: Scope::Serve,
        log: |_, serve| serve.plain_system.system_root_url.as_ref().and_then(|url| text(url.as_str())),
        optional: system_root_url,
    }

    SYSTEM_NOT_FOUND_URL: TargetUrl = target_url {
        key: "system-not-found-url", value_name: "URL", default: None,
        help: "Where visitors of unknown links on the system domain are sent [default: the 404 page]",
        group: "Links", scope: Scope::Serve,
        log: |_, serve| serve.plain_system.system_not_found_url.as_ref().and_then(|url| text(url.as_str())),
        optional: system_not_found_url,
    }
}

/// A URL of visitors, by the rules of a link's target (D24).
fn target_url(text: &str) -> Result<TargetUrl, String> {
    TargetUrl::parse(text).map_err(|error| format!("{}, unlike {text:?}", error.message()))
}

impl PlainSystemSettings {
    /// Whether one of them is set.
    pub(super) const fn sends_visitors_away(&self) -> bool {
        self.system_root_url.is_some() || self.system_not_found_url.is_some()
    }
}

/// Checks that the system domain does not send visitors back to itself, again and again.
///
/// # Errors
/// One of the URLs is on the system domain.
pub(super) fn check_system_urls(sources: &Sources, serve: &ServeSettings) -> Result<(), SettingsError> {
    let PlainSystemSettings { system_root_url, system_not_found_url } = &serve.plain_system;
    let urls =
        [(&SYSTEM_ROOT_URL.about, system_root_url), (&SYSTEM_NOT_FOUND_URL.about, system_not_found_url)];
    let is_own =
        |url: &TargetUrl| Hostname::parse(url.host()).is_ok_and(|host| serve.system.answers_to(&host));
    match urls.into_iter().find(|(_, url)| url.as_ref().is_some_and(is_own)) {
        Some((about, _)) => {
            let problem = "must not be on the system domain, whose visitors it sends away";
            Err(https::invalid(sources, about, problem.to_owned()))
        }
        None => Ok(()),
    }
}
