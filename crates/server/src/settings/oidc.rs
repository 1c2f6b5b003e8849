//! The settings of sign-in at an identity provider (D77).

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use signpost_dashboard::{DashboardOrigin, PROVIDER_CALLBACK};
use signpost_domain::{EmailDomain, Issuer};
use signpost_https_client::TrustRoots;
use signpost_oidc::{ClientSecret, OidcOptions};

use super::error::SettingsError;
use super::https::invalid;
use super::sources::Sources;
use super::values::{self, DashboardListen};
use super::{About, catalog, oidc_catalog};

/// The time limit of one request to the provider.
const TIME_LIMIT: Duration = Duration::from_secs(10);

/// What the group and all others may do.
const RIGHTS_OF_OTHERS: u32 = 0o077;

/// The maximum length of a file with a secret, in bytes.
const MAX_SECRET: u64 = 4096;

/// How people sign in at an identity provider.
#[derive(Debug)]
pub(crate) struct OidcSettings {
    /// The provider, and who this program is there.
    pub(crate) options: OidcOptions,
}

impl OidcSettings {
    /// Reads the settings; `None` without a provider.
    ///
    /// # Errors
    /// One of them is invalid, misses another one, or contradicts it.
    pub(super) fn read(sources: &Sources) -> Result<Option<Self>, SettingsError> {
        let issuer = sources.optional(&oidc_catalog::OIDC_ISSUER)?;
        let client_id = sources.optional(&oidc_catalog::OIDC_CLIENT_ID)?;
        let secret = sources.optional(&oidc_catalog::OIDC_CLIENT_SECRET_FILE)?;
        let roots = sources.optional(&oidc_catalog::OIDC_ROOTS)?;
        let domains = sources.optional(&oidc_catalog::OIDC_DOMAINS)?;
        let given = [
            (&oidc_catalog::OIDC_ISSUER.about, issuer.is_some()),
            (&oidc_catalog::OIDC_CLIENT_ID.about, client_id.is_some()),
            (&oidc_catalog::OIDC_CLIENT_SECRET_FILE.about, secret.is_some()),
            (&oidc_catalog::OIDC_DOMAINS.about, domains.is_some()),
            (&oidc_catalog::OIDC_ROOTS.about, roots.is_some()),
        ];
        let (Some(issuer), Some(client_id), Some(client_secret)) = (issuer, client_id, secret) else {
            return match given.into_iter().find(|(_, is_given)| *is_given) {
                Some((about, _)) => Err(incomplete(sources, about, &given)),
                None => Ok(None),
            };
        };
        let origin = origin(sources)?;
        Ok(Some(Self {
            options: OidcOptions {
                issuer,
                client_id,
                client_secret,
                redirect_uri: format!("{}{PROVIDER_CALLBACK}", origin.as_str()),
                roots: roots.map_or(TrustRoots::System, TrustRoots::PemFile),
                time_limit: TIME_LIMIT,
            },
        }))
    }
}

fn incomplete(sources: &Sources, about: &'static About, given: &[(&About, bool)]) -> SettingsError {
    // The last two are optional.
    let missing = given.iter().take(3).find(|(_, is_given)| !is_given);
    let missing = missing.map_or("oidc-issuer", |(about, _)| about.key);
    invalid(sources, about, format!("needs `{missing}` too"))
}

/// The origin to which the provider sends browsers back.
fn origin(sources: &Sources) -> Result<DashboardOrigin, SettingsError> {
    let refused = |problem: &str| invalid(sources, &oidc_catalog::OIDC_ISSUER.about, problem.to_owned());
    if sources.optional(&catalog::SIGN_IN_HEADER)?.is_some() {
        return Err(refused("cannot be beside `sign-in-header`: one of them signs people in"));
    }
    if sources.required(&catalog::DASHBOARD_LISTEN)? == DashboardListen::Off {
        return Err(refused("needs the dashboard, but `dashboard-listen` is off"));
    }
    let Some(origin) = sources.optional(&catalog::DASHBOARD_URL)? else {
        return Err(refused("needs `dashboard-url` too, to which the provider sends browsers back"));
    };
    if origin.is_secure() || origin.is_loopback() {
        return Ok(origin);
    }
    Err(invalid(
        sources,
        &catalog::DASHBOARD_URL.about,
        format!(
            "must begin with https:// beside `oidc-issuer`, not {:?}: otherwise codes of the provider travel in clear text",
            origin.as_str()
        ),
    ))
}

pub(super) fn issuer(text: &str) -> Result<Issuer, String> {
    Issuer::parse(text).map_err(|error| format!("{}, not {text:?}", error.message()))
}

/// The id is a parameter of addresses, so any text goes that a person can copy.
pub(super) fn client_id(text: &str) -> Result<String, String> {
    let is_id =
        !text.is_empty() && text.len() <= 255 && text.chars().all(|c| c.is_ascii_graphic() || c == ' ');
    if is_id { Ok(text.to_owned()) } else { Err(format!("must be 1 to 255 ASCII characters, not {text:?}")) }
}

pub(super) fn email_domains(text: &str) -> Result<Vec<EmailDomain>, String> {
    let domain =
        |item: &str| EmailDomain::parse(item).map_err(|error| format!("{}, not {item:?}", error.message()));
    values::items(text).map(domain).collect()
}

/// Reads the file of a secret. No message has any of it.
pub(super) fn client_secret(text: &str) -> Result<ClientSecret, String> {
    let file = values::file(text)?;
    let path = file.display();
    let found = fs::metadata(&file).map_err(|error| format!("cannot read {path}: {error}"))?;
    // Asked before it is opened, because opening a pipe waits for a writer.
    if !found.is_file() || found.len() > MAX_SECRET {
        return Err(format!("{path} must be a file of at most {MAX_SECRET} bytes"));
    }
    let mode = found.permissions().mode() & 0o777;
    if mode & RIGHTS_OF_OTHERS != 0 {
        return Err(format!(
            "{path} has mode {mode:04o}, so others than its owner may use it: run `chmod 600 {path}`"
        ));
    }
    let content = fs::read_to_string(&file).map_err(|error| format!("cannot read {path}: {error}"))?;
    let secret = content.trim_end_matches(['\r', '\n']);
    if secret.is_empty() || secret.contains(char::is_control) {
        return Err(format!("{path} must have the secret in one line"));
    }
    Ok(ClientSecret::new(secret.to_owned()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs::Permissions;

    use super::*;

    struct Given {
        folder: tempfile::TempDir,
        flags: BTreeMap<&'static str, String>,
    }

    impl Given {
        /// A complete provider.
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let given = Self { folder, flags: BTreeMap::new() };
            let secret = given.secret("hush\n", 0o600);
            given
                .with("oidc-issuer", "https://login.example.com/realm")
                .with("oidc-client-id", "signpost")
                .with("oidc-client-secret-file", &secret)
                .with("dashboard-url", "https://dash.example.com")
        }

        fn secret(&self, content: &str, mode: u32) -> String {
            let path = self.folder.path().join("secret");
            fs::write(&path, content).unwrap();
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            path.to_str().unwrap().to_owned()
        }

        fn with(mut self, key: &'static str, value: &str) -> Self {
            self.flags.insert(key, value.to_owned());
            self
        }

        fn without(mut self, key: &str) -> Self {
            self.flags.retain(|given, _| *given != key);
            self
        }

        fn read(&self) -> Result<Option<OidcSettings>, String> {
            let file = self.folder.path().join("signpost.toml");
            fs::write(&file, "").unwrap();
            let sources = Sources::gather(self.flags.clone(), std::iter::empty(), Some(file)).unwrap();
            OidcSettings::read(&sources).map_err(|error| error.to_string())
        }

        fn assert_refused(&self, expected: &str) {
            let message = self.read().map(drop).unwrap_err();
            assert!(message.contains(expected), "{message}");
            assert!(!message.contains("hush"), "{message}");
        }
    }

    #[test]
    fn d77_the_provider_sends_browsers_back_to_the_dashboard() {
        let read = Given::new().read().unwrap().unwrap().options;
        assert_eq!(read.redirect_uri, "https://dash.example.com/sign-in/provider/callback");
        assert_eq!(read.client_secret, ClientSecret::new("hush".to_owned()));
        assert_eq!((read.client_id.as_str(), read.roots), ("signpost", TrustRoots::System));
        let local = Given::new().with("dashboard-url", "http://localhost:8082").read().unwrap().unwrap();
        assert_eq!(local.options.redirect_uri, "http://localhost:8082/sign-in/provider/callback");
        let roots = Given::new().with("oidc-roots", "/etc/roots.pem").read().unwrap().unwrap().options.roots;
        assert_eq!(roots, TrustRoots::PemFile("/etc/roots.pem".into()));
        assert!(Given { flags: BTreeMap::new(), ..Given::new() }.read().unwrap().is_none());
    }

    #[test]
    fn d77_a_part_of_the_settings_is_refused() {
        for key in ["oidc-issuer", "oidc-client-id", "oidc-client-secret-file"] {
            Given::new().without(key).assert_refused(&format!("needs `{key}` too"));
        }
        for (key, value) in [("oidc-domains", "example.com"), ("oidc-roots", "/etc/roots.pem")] {
            let alone = Given { flags: BTreeMap::new(), ..Given::new() }.with(key, value);
            alone.assert_refused(&format!("--{key}: needs `oidc-issuer` too"));
        }
    }

    #[test]
    fn d77_settings_that_contradict_the_provider_are_refused() {
        let given = Given::new();
        given.with("sign-in-header", "Remote-Email").assert_refused("cannot be beside `sign-in-header`");
        Given::new().with("dashboard-listen", "off").assert_refused("`dashboard-listen` is off");
        Given::new().without("dashboard-url").assert_refused("needs `dashboard-url` too");
        let plain = Given::new().with("dashboard-url", "http://dash.example.com");
        plain.assert_refused("--dashboard-url: must begin with https:// beside `oidc-issuer`");
        for issuer in ["login.example.com", "http://login.example.com", "https://login.example.com?x"] {
            Given::new().with("oidc-issuer", issuer).assert_refused("--oidc-issuer: must be an https:// URL");
        }
        Given::new().with("oidc-domains", "example.com,@x").assert_refused("must be the domain of e-mail");
        Given::new()
            .with("oidc-client-id", "sign\u{e9}post")
            .assert_refused("must be 1 to 255 ASCII characters");
    }

    #[test]
    fn d77_the_secret_is_in_a_private_file() {
        for (content, mode, expected) in [
            ("hush", 0o640, "chmod 600"),
            ("hush", 0o604, "chmod 600"),
            ("", 0o600, "in one line"),
            ("\n", 0o600, "in one line"),
            ("hush\nhush", 0o600, "in one line"),
            (&"hush".repeat(2000), 0o600, "at most 4096 bytes"),
        ] {
            let given = Given::new();
            given.secret(content, mode);
            given.assert_refused(expected);
        }
        Given::new().with("oidc-client-secret-file", "/nowhere/secret").assert_refused("cannot read");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_str().unwrap();
        Given::new().with("oidc-client-secret-file", path).assert_refused("must be a file");
    }
}
