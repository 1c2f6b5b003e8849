//! Declares the settings of HTTPS, as the [catalog](super::catalog) declares the others (D61, D180).

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use signpost_acme::ExternalAccount;
use signpost_domain::{Email, Hostname};
use signpost_https_client::TrustRoots;

use super::error::SettingsError;
use super::https::{self, BalancedListener, PlainHttpMode};
use super::logged::{hidden, list, number, path, text};
use super::setting::{About, Scope, Setting, settings};
use super::sources::Sources;
use super::values;
use super::{CommonSettings, ServeSettings};

settings! {
    list: HTTPS, plain: PlainHttpsSettings, log: log_https, message: "settings of HTTPS";

    ACME_EMAIL: Email = https::email {
        key: "acme-email", value_name: "EMAIL", default: None,
        help: "Obtains certificates from an ACME authority, such as Let's Encrypt, for the installation's names and for every \
           custom domain that is proven, and renews them. The authority writes to this address. Setting it accepts the \
           authority's terms",
        group: "HTTPS", scope: Scope::Serve,
        log: |_, serve| serve.acme().and_then(|acme| text(acme.email.as_str())),
    }

    ACME_DIRECTORY: String = https::directory {
        key: "acme-directory", value_name: "URL", default: Some("https://acme-v02.api.letsencrypt.org/directory"),
        help: "Directory of the authority",
        group: "HTTPS", scope: Scope::Serve,
        log: |_, serve| serve.acme().and_then(|acme| text(&acme.options.directory)),
    }

    ACME_PROFILE: String = https::profile {
        key: "acme-profile", value_name: "NAME", default: None,
        help: "Profile of certificates at the authority, such as shortlived [default: the authority's choice]",
        group: "HTTPS", scope: Scope::Serve,
        log: |_, serve| serve.acme().and_then(|acme| acme.options.profile.as_ref().and_then(text)),
    }

    ACME_EAB_FILE: ExternalAccount = https::external_account {
        key: "acme-eab-file", value_name: "FILE", default: None,
        help: "File with two lines, for authorities that bind accounts to customers: the id of the key, and the key in base64url",
        group: "HTTPS", scope: Scope::Serve,
        log: hidden,
    }

    ACME_ROOTS: PathBuf = values::file {
        key: "acme-roots", value_name: "FILE", default: None,
        help: "PEM file of the root certificates of the authority's own server, for a private authority [default: those of the \
           system]",
        group: "HTTPS", scope: Scope::Serve,
        log: |_, serve| serve.acme().and_then(|acme| match &acme.options.roots {
            TrustRoots::PemFile(file) => path(file),
            TrustRoots::System => None,
        }),
    }

    TLS_LISTEN: SocketAddr = values::listen_address {
        key: "tls-listen", value_name: "ADDRESS:PORT", default: None,
        help: "Address at which links, the API and the dashboard are served over HTTPS, by host, such as [::]:443. It needs \
           `acme-email` or `tls-certificate`; without either a proxy in front ends TLS [default: [::]:443 with `acme-email`]",
        group: "HTTPS", scope: Scope::Serve,
        log: hidden,
    }

    TLS_CERTIFICATE: PathBuf = values::file {
        key: "tls-certificate", value_name: "FILE", default: None,
        help: "PEM file of a certificate of your own and its chain. It is read again when it changes. Its names get none from the \
           authority",
        group: "HTTPS", scope: Scope::Serve,
        log: |_, serve| serve.own_certificate().and_then(|own| path(own.certificate_path())),
    }

    TLS_KEY: PathBuf = values::file {
        key: "tls-key", value_name: "FILE", default: None,
        help: "PEM file of the private key of `tls-certificate`",
        group: "HTTPS", scope: Scope::Serve,
        log: |_, serve| serve.own_certificate().and_then(|own| path(own.key_path())),
    }

    API_HOSTNAMES: Vec<Hostname> = values::hostnames {
        key: "api-hostnames", value_name: "HOST,...", default: None,
        help: "Hosts at which `tls-listen` serves the API, such as api.example.com. Without TLS they are refused",
        group: "HTTPS", scope: Scope::Serve,
        log: |_, serve| list(&serve.api_hostnames),
    }

    PLAIN_HTTP: PlainHttpMode = https::plain_http {
        key: "plain-http", value_name: "MODE", default: Some("redirect"),
        help: "What the link listener does with hosts that `tls-listen` serves: redirect sends visitors to HTTPS, answer opens \
           links without it",
        group: "HTTPS", scope: Scope::Serve,
        log: |_, serve| text(serve.plain_https.plain_http.as_str()),
        required: plain_http,
    }

    HSTS: u32 = values::count {
        key: "hsts", value_name: "SECONDS", default: None,
        help: "Makes browsers use only HTTPS for so many seconds after each visit (Strict-Transport-Security), such as \
           31536000. Set it only if every host will stay on HTTPS that long",
        group: "HTTPS", scope: Scope::Serve,
        log: |_, serve| serve.plain_https.hsts.and_then(number),
        optional: hsts,
    }

    CERTIFICATES_IN_MEMORY: NonZeroUsize = values::certificates {
        key: "certificates-in-memory", value_name: "NUMBER", default: Some("20000"),
        help: "Maximum number of certificates of the authority in memory, 7 KiB each. With more, those that were not used for \
           longest are read from the database when a visitor comes",
        group: "HTTPS", scope: Scope::Serve,
        log: |_, serve| number(serve.plain_https.certificates_in_memory.get()),
        required: certificates_in_memory,
    }

    PROXY_PROTOCOL: BTreeSet<BalancedListener> = https::balanced_listeners {
        key: "proxy-protocol", value_name: "LISTENER,...", default: None,
        help: "Listeners behind a TCP balancer that sends the PROXY protocol, version 2: links, tls, api or dashboard. They \
           accept connections only from `trusted-proxies`",
        group: "HTTPS", scope: Scope::Serve,
        log: |_, serve| list(serve.balanced_listeners.iter().map(|listener| listener.as_str())),
    }
}
