//! The settings of sign-in at a proxy (D77).

use actix_http::header::HeaderName;
use signpost_app::admission::ProxySignIn;
use signpost_domain::TrustedProxies;

use super::error::SettingsError;
use super::https::invalid;
use super::sources::Sources;
use super::{BalancedListener, CommonSettings, ServeSettings, catalog, gates, https_catalog, values};

/// Sign-in at a proxy that names people in a header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SignInSettings {
    /// The name of the header, as it was given.
    pub(crate) header: String,
    /// The peers that are the proxy.
    pub(crate) proxies: TrustedProxies,
}

impl SignInSettings {
    /// Reads the settings; `None` if people sign in with passwords.
    ///
    /// # Errors
    /// One of them is invalid, or misses the other one.
    pub(super) fn read(sources: &Sources) -> Result<Option<Self>, SettingsError> {
        let header = sources.optional(&catalog::SIGN_IN_HEADER)?;
        match (header, sources.optional(&catalog::SIGN_IN_PROXIES)?) {
            (Some(header), Some(proxies)) => Ok(Some(Self { header, proxies })),
            (Some(_), None) => Err(invalid(
                sources,
                &catalog::SIGN_IN_HEADER.about,
                "needs `sign-in-proxies` too: without the networks of the proxy, anybody could send the header".to_owned(),
            )),
            (None, Some(_)) => Err(invalid(
                sources,
                &catalog::SIGN_IN_PROXIES.about,
                "needs `sign-in-header` too".to_owned(),
            )),
            (None, None) => Ok(None),
        }
    }

    /// The part of the application that believes the header.
    pub(crate) fn proxy_sign_in(&self) -> ProxySignIn {
        ProxySignIn::new(self.header.clone(), self.proxies.clone())
    }
}

/// Checks that the peers of the dashboard's connections are known. Behind the PROXY protocol, they are what a balancer says.
///
/// # Errors
/// Connections to the dashboard begin with the header of a balancer.
pub(super) fn check_listeners(sources: &Sources, serve: &ServeSettings) -> Result<(), SettingsError> {
    let of_dashboard = [BalancedListener::Dashboard, BalancedListener::Tls];
    let balanced = of_dashboard.into_iter().find(|listener| serve.balanced_listeners.contains(listener));
    match (balanced, SignInSettings::read(sources)?) {
        (Some(listener), Some(_)) => Err(invalid(
            sources,
            &https_catalog::PROXY_PROTOCOL.about,
            format!(
                "cannot have {} beside `sign-in-header`: the dashboard could not see which peers belong to `sign-in-proxies`",
                listener.as_str()
            ),
        )),
        _ => Ok(()),
    }
}

/// The name of the header that names a person.
pub(super) fn sign_in_header(text: &str) -> Result<String, String> {
    let name = HeaderName::try_from(text)
        .map_err(|_| format!("must be the name of a header, such as Remote-Email, not {text:?}"))?;
    if gates::is_sent_by_browsers(&name) {
        return Err(format!(
            "must be a header that only the proxy sends, such as Remote-Email, not {text:?}"
        ));
    }
    Ok(text.to_owned())
}

/// The networks of the proxy. None may contain all addresses: anybody could name anybody then.
pub(super) fn sign_in_proxies(text: &str) -> Result<TrustedProxies, String> {
    let proxies = values::trusted_proxies(text)?;
    if proxies.networks().next().is_none() {
        return Err("must have the network of the proxy at least, such as 10.0.0.5".to_owned());
    }
    if let Some(network) = proxies.networks().find(|network| network.prefix_len() == 0) {
        return Err(format!("must not contain all addresses, as {network} does"));
    }
    Ok(proxies)
}

/// The networks in `sign-in-proxies` that `trusted-proxies` does not contain.
pub(crate) fn untrusted_networks(common: &CommonSettings, serve: &ServeSettings) -> Vec<String> {
    let trusted = &serve.plain.trusted_proxies;
    let networks = common.sign_in.iter().flat_map(|sign_in| sign_in.proxies.networks());
    let is_trusted = |network: &ipnet::IpNet| trusted.networks().any(|other| other.contains(network));
    networks.filter(|network| !is_trusted(network)).map(ToString::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d77_the_header_is_one_that_browsers_do_not_send() {
        for name in ["Remote-Email", "X-Forwarded-Email", "x-auth-request-email"] {
            assert_eq!(sign_in_header(name).unwrap(), name);
        }
        for wrong in ["", "two words", "Cookie", "user-agent", "X-Forwarded-For", "Origin", "Sec-Fetch-Site"]
        {
            assert!(sign_in_header(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn d77_the_proxies_are_some_networks_and_not_all() {
        assert!(sign_in_proxies("10.0.0.5, fd00::/8").is_ok());
        for wrong in ["", " ", "0.0.0.0/0", "10.0.0.5,::/0", "proxy"] {
            assert!(sign_in_proxies(wrong).is_err(), "{wrong}");
        }
    }
}
