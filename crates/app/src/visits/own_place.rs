//! Targets that are, or may be, on one of our own addresses (D24).

use std::net::Ipv4Addr;

use signpost_domain::public_address::{PublicPart, path_addressed_on};
use signpost_domain::{Address, Hostname, Site, SystemDomain, TargetUrl, WidgetId};

/// The place at which a target continues on our own addresses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnPlace {
    /// The address of a link.
    pub address: Address,
    /// The widget of the landing page there, if the target is that widget's address.
    pub widget: Option<WidgetId>,
}

impl OwnPlace {
    /// The place of ours that `target` is, or may be according to its form.
    #[must_use]
    pub fn of(system: &SystemDomain, target: &TargetUrl) -> Option<Self> {
        let (site, path) = if let Some(path) = system.own_path_of(target) {
            (Site::System, path)
        } else {
            let hostname = Hostname::parse(target.host()).ok()?;
            if system.answers_to(&hostname) || !may_be_custom_domain(&hostname) {
                return None;
            }
            let path = path_addressed_on(target, &hostname)?;
            (Site::Custom(hostname), path)
        };
        let widget = match path.part {
            PublicPart::Link if site == Site::System && path.slug.is_none() => return None,
            PublicPart::Link => None,
            PublicPart::Widget(id) => Some(id),
            PublicPart::QrCode => return None,
        };
        Some(Self { address: Address { site, slug: path.slug }, widget })
    }
}

/// Whether a custom domain can have this name in any configuration: not an IP address, not a single label, and without
/// internationalised labels (D37).
fn may_be_custom_domain(hostname: &Hostname) -> bool {
    let name = hostname.as_str();
    let is_address = name.starts_with('[') || name.parse::<Ipv4Addr>().is_ok();
    !is_address && name.contains('.') && !name.split('.').any(|label| label.starts_with("xn--"))
}

#[cfg(test)]
mod tests {
    use signpost_port_contracts::samples;

    use super::*;

    #[test]
    fn d24_only_targets_that_look_like_our_addresses_are_looked_up() {
        let system =
            SystemDomain::new("https://go.example.com", vec![samples::hostname("old.example.com")]).unwrap();
        let place = |target: &str| OwnPlace::of(&system, &samples::target(target));
        let own = |target: &str| place(target).map(|OwnPlace { address, widget }| (address, widget));
        let link = |address: Option<Address>| Some((address?, None));
        let custom = |host, slug| samples::on_custom(host, slug).address();
        assert_eq!(own("http://OLD.example.com/a/"), link(samples::on_system("a").address()));
        assert_eq!(own("https://Shop.Example.net./%61/?x"), link(custom("shop.example.net", Some("a"))));
        assert_eq!(own("http://shop.example.net:80"), link(custom("shop.example.net", None)));
        let id = "wgt_00000000000000000000000000000001";
        for (url, address) in [
            ("https://go.example.com/a/w", samples::on_system("a").address()),
            ("https://shop.example.net/a/w", custom("shop.example.net", Some("a"))),
            ("https://shop.example.net/w", custom("shop.example.net", None)),
        ] {
            let expected = address.map(|address| (address, Some(id.parse().unwrap())));
            assert_eq!(own(&format!("{url}/{id}")), expected, "{url}");
        }
        for target in [
            "https://shop.example.net:8443/a",
            "http://shop.example.net:443/a",
            "https://shop.example.net/a/b",
            "https://shop.example.net/a.html",
            "https://bücher.example/a",
            "https://shop/a",
            "https://localhost",
            "https://192.0.2.1/a",
            "https://[2001:db8::1]/a",
            // The system domain has no root, and its names are not custom domains.
            "https://go.example.com/",
            "https://go.example.com:8443/a",
            // A picture leads no further.
            "https://go.example.com/a/qr.svg",
            "https://shop.example.net/qr.png",
        ] {
            assert_eq!(own(target), None, "{target}");
        }
    }
}
