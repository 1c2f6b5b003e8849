//! Which hostnames may be connected as custom domains (D37).

use std::collections::BTreeSet;
use std::fmt;
use std::net::Ipv4Addr;

use crate::hostname::Hostname;
use crate::public_address::SystemDomain;
use crate::public_suffix::is_public_suffix;
use crate::refusal::{Refusal, Rejection};
use crate::violation::{FieldError, ViolationCode, Violations};

/// A top-level name that public DNS does not serve, or serves only for machines. No hostname under it can be
/// connected (D37).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SpecialUseName {
    /// `localhost`: the machine itself.
    Localhost,
    /// `.local`: multicast DNS.
    Local,
    /// `.internal`: private networks.
    Internal,
    /// `.test`: testing.
    Test,
    /// `.invalid`: never a valid name.
    Invalid,
    /// `.example`: documentation.
    Example,
    /// `.onion`: Tor.
    Onion,
    /// `.arpa`: the infrastructure of the Internet.
    Arpa,
}

impl SpecialUseName {
    /// All of them, in the order of D37.
    pub const ALL: [Self; 8] = [
        Self::Localhost,
        Self::Local,
        Self::Internal,
        Self::Test,
        Self::Invalid,
        Self::Example,
        Self::Onion,
        Self::Arpa,
    ];

    /// The name: one label in lower case, without a dot.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Localhost => "localhost",
            Self::Local => "local",
            Self::Internal => "internal",
            Self::Test => "test",
            Self::Invalid => "invalid",
            Self::Example => "example",
            Self::Onion => "onion",
            Self::Arpa => "arpa",
        }
    }

    /// Reads an entry of the setting `allow-special-use`: the name in any case, with or without a leading
    /// dot.
    ///
    /// ```
    /// # use signpost_domain::SpecialUseName;
    /// assert_eq!(SpecialUseName::parse(".test"), Ok(SpecialUseName::Test));
    /// assert_eq!(SpecialUseName::parse("Example"), Ok(SpecialUseName::Example));
    /// assert!(SpecialUseName::parse("com").is_err());
    /// ```
    ///
    /// # Errors
    /// `invalid_value` for any other text.
    pub fn parse(text: &str) -> Result<Self, FieldError> {
        let name = text.trim();
        let name = name.strip_prefix('.').unwrap_or(name);
        Self::ALL.into_iter().find(|known| known.as_str().eq_ignore_ascii_case(name)).ok_or_else(|| {
            let names = Self::ALL.map(Self::as_str).join(", ");
            FieldError::new(ViolationCode::InvalidValue, format!("must be one of {names}"))
        })
    }

    /// The special-use name that `hostname` is or is under. All these names are single labels, so the last
    /// label decides.
    #[must_use]
    pub fn of(hostname: &Hostname) -> Option<Self> {
        let last = hostname.as_str().rsplit('.').next()?;
        Self::ALL.into_iter().find(|known| known.as_str() == last)
    }
}

impl fmt::Display for SpecialUseName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The rules of an installation for the hostnames that accounts connect (D37).
///
/// ```
/// use std::collections::BTreeSet;
/// use signpost_domain::{ErrorCode, Hostname, HostnameRules, SystemDomain};
///
/// let system = SystemDomain::new("https://signpost.example", vec![]).unwrap();
/// let rules = HostnameRules::new(system, Hostname::parse("edge.signpost.example").ok(), BTreeSet::new());
/// assert_eq!(rules.check(" Go.Shop.COM. ").unwrap().as_str(), "go.shop.com");
/// assert_eq!(rules.check("a.signpost.example").unwrap_err().code(), ErrorCode::HostnameIsSystemDomain);
/// assert_eq!(rules.check("co.uk").unwrap_err().code(), ErrorCode::InvalidRequest);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostnameRules {
    /// The system domain, with its hostname and aliases.
    pub system: SystemDomain,
    /// The name that custom domains point at (setting `edge-hostname`), if it has one.
    pub edge_hostname: Option<Hostname>,
    /// The special-use names that the operator allows for development (setting `allow-special-use`). Empty in
    /// production.
    pub allowed_special_use: BTreeSet<SpecialUseName>,
    /// Further names of the installation, such as that of the dashboard.
    further_names: Vec<Hostname>,
}

impl HostnameRules {
    /// The rules of an installation with these names.
    #[must_use]
    pub const fn new(
        system: SystemDomain,
        edge_hostname: Option<Hostname>,
        allowed_special_use: BTreeSet<SpecialUseName>,
    ) -> Self {
        Self { system, edge_hostname, allowed_special_use, further_names: Vec::new() }
    }

    /// The same rules with one more name of the installation.
    ///
    /// ```
    /// # use std::collections::BTreeSet;
    /// # use signpost_domain::{ErrorCode, Hostname, HostnameRules, SystemDomain};
    /// let system = SystemDomain::new("https://go.signpost.example", vec![]).unwrap();
    /// let rules = HostnameRules::new(system, None, BTreeSet::new());
    /// let rules = rules.with_own_name(Hostname::parse("dash.shop.com").unwrap());
    /// assert_eq!(rules.check("a.dash.shop.com").unwrap_err().code(), ErrorCode::HostnameIsSystemDomain);
    /// ```
    #[must_use]
    pub fn with_own_name(mut self, name: Hostname) -> Self {
        self.further_names.push(name);
        self
    }

    /// Normalises `text`, and checks whether the hostname may be connected. Whether an account holds it is
    /// for the store to decide. It does not ask DNS.
    ///
    /// A name of up to 253 characters passes, although names of more than 243 cannot have a verification
    /// record; see [`VerificationRecord::name`](crate::VerificationRecord::name).
    ///
    /// # Errors
    /// The first that applies:
    /// - a violation of `hostname` for a text that is not a host: `too_short`, `too_long` above 253
    ///   characters, `invalid_format` (syntax, characters outside ASCII, ports, underscores, numbers that
    ///   only some programs read as an address);
    /// - [`Refusal::HostnameIsSystemDomain`] for the installation's own names and all names under them, even
    ///   if they also break a later rule, as `localhost` would;
    /// - `invalid_format` for IP addresses and single labels;
    /// - `invalid_value` for well-formed names that cannot be connected: names with a label that begins with
    ///   `xn--`, special-use names that are not allowed, and public suffixes.
    pub fn check(&self, text: &str) -> Result<Hostname, Rejection> {
        let invalid = |error: FieldError| Rejection::Invalid(Violations::from(error.at("hostname")));
        let hostname = match Hostname::parse(text) {
            Ok(hostname) => hostname,
            Err(_) if Hostname::parse_any_form(text).is_some_and(|hostname| self.is_ours(&hostname)) => {
                return Err(Refusal::HostnameIsSystemDomain.into());
            }
            Err(error) => return Err(invalid(naming_ascii(error, text))),
        };
        if self.is_ours(&hostname) {
            return Err(Refusal::HostnameIsSystemDomain.into());
        }
        self.check_name(&hostname).map_err(invalid)?;
        Ok(hostname)
    }

    /// The installation's own names: those of the system domain, the one that custom domains point at, and further ones.
    pub fn own_names(&self) -> impl Iterator<Item = &Hostname> {
        let others = self.edge_hostname.iter().chain(&self.further_names);
        self.system.hostnames().chain(others.filter(|name| !self.system.answers_to(name)))
    }

    /// Whether the hostname is one of the installation's own names or under one.
    fn is_ours(&self, hostname: &Hostname) -> bool {
        std::iter::successors(Some(hostname.as_str()), |name| Some(name.split_once('.')?.1))
            .filter_map(|name| Hostname::parse(name).ok())
            .any(|name| self.own_names().any(|own| *own == name))
    }

    fn check_name(&self, hostname: &Hostname) -> Result<(), FieldError> {
        let error = |code, message| Err(FieldError::new(code, message));
        let name = hostname.as_str();
        if name.starts_with('[') || name.parse::<Ipv4Addr>().is_ok() {
            return error(ViolationCode::InvalidFormat, "must be a hostname, not an IP address".into());
        }
        if !name.contains('.') {
            let message = "must have at least two labels, such as go.example.com";
            return error(ViolationCode::InvalidFormat, message.into());
        }
        if name.split('.').any(|label| label.starts_with("xn--")) {
            let message =
                "must not have labels that begin with xn--: internationalised names are not accepted";
            return error(ViolationCode::InvalidValue, message.into());
        }
        if let Some(special) =
            SpecialUseName::of(hostname).filter(|name| !self.allowed_special_use.contains(name))
        {
            let message = format!("must not be under `{special}`, which the public DNS does not serve");
            return error(ViolationCode::InvalidValue, message);
        }
        if is_public_suffix(hostname) {
            let message = "must not be a public suffix, under which everybody can have names";
            return error(ViolationCode::InvalidValue, message.into());
        }
        Ok(())
    }
}

/// Whether public DNS could have an address for this host: it has at least two labels and is not a
/// special-use name.
///
/// ```
/// # use signpost_domain::{Hostname, can_be_in_public_dns};
/// let can_be = |host| can_be_in_public_dns(&Hostname::parse(host).unwrap());
/// assert!(can_be("go.example.com"));
/// assert!(!can_be("localhost") && !can_be("192.0.2.1") && !can_be("go.internal") && !can_be("intranet"));
/// ```
#[must_use]
pub fn can_be_in_public_dns(hostname: &Hostname) -> bool {
    let name = hostname.as_str();
    let is_address = name.starts_with('[') || name.parse::<Ipv4Addr>().is_ok();
    !is_address && name.contains('.') && SpecialUseName::of(hostname).is_none()
}

/// The error, with a message about characters outside ASCII if that is the cause.
fn naming_ascii(error: FieldError, text: &str) -> FieldError {
    if error.code() == ViolationCode::InvalidFormat && !text.is_ascii() {
        let message = "must be in ASCII: internationalised names are not accepted";
        return FieldError::new(ViolationCode::InvalidFormat, message);
    }
    error
}

#[cfg(test)]
mod tests;
