//! Declares the settings of sign-in at an identity provider (D77).

use std::path::PathBuf;

use signpost_domain::{EmailDomain, Issuer};
use signpost_https_client::TrustRoots;
use signpost_oidc::ClientSecret;

use super::error::SettingsError;
use super::logged::{hidden, list, path, text};
use super::oidc::{client_id, client_secret, email_domains, issuer};
use super::setting::{About, Scope, Setting, settings};
use super::sources::Sources;
use super::{CommonSettings, ServeSettings, values};

settings! {
    list: OIDC, plain: PlainOidcSettings, log: log_oidc, message: "sign-in at an identity provider";

    OIDC_ISSUER: Issuer = issuer {
        key: "oidc-issuer", value_name: "URL", default: None,
        help: "Identity provider that speaks OpenID Connect, at which people may sign in, such as https://login.example.com. It must \
           be exactly the issuer that the provider names. It needs `oidc-client-id`, `oidc-client-secret-file` and `dashboard-url`",
        group: "Sign-in", scope: Scope::Serve,
        log: |_, serve| serve.oidc.as_ref().and_then(|oidc| text(&oidc.options.issuer)),
    }

    OIDC_CLIENT_ID: String = client_id {
        key: "oidc-client-id", value_name: "ID", default: None,
        help: "Name that Signpost has at the identity provider",
        group: "Sign-in", scope: Scope::Serve,
        log: |_, serve| serve.oidc.as_ref().and_then(|oidc| text(&oidc.options.client_id)),
    }

    OIDC_CLIENT_SECRET_FILE: ClientSecret = client_secret {
        key: "oidc-client-secret-file", value_name: "FILE", default: None,
        help: "File with the secret of `oidc-client-id` in one line. Only its owner may have rights to it",
        group: "Sign-in", scope: Scope::Serve,
        log: hidden,
    }

    OIDC_DOMAINS: Vec<EmailDomain> = email_domains {
        key: "oidc-domains", value_name: "DOMAIN,...", default: None,
        help: "Domains of e-mail addresses, such as example.com. Somebody whose address the provider has verified needs no invitation \
           to get a user, which belongs to no account yet",
        group: "Sign-in", scope: Scope::Serve,
        log: |_, serve| list(serve.plain_oidc.oidc_domains.iter().flatten().map(EmailDomain::as_str)),
        optional: oidc_domains,
    }

    OIDC_ROOTS: PathBuf = values::file {
        key: "oidc-roots", value_name: "FILE", default: None,
        help: "PEM file of the root certificates of the provider's server, for a private authority [default: those of the system]",
        group: "Sign-in", scope: Scope::Serve,
        log: |_, serve| serve.oidc.as_ref().and_then(|oidc| match &oidc.options.roots {
            TrustRoots::PemFile(file) => path(file),
            TrustRoots::System => None,
        }),
    }
}
