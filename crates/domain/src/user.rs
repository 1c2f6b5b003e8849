//! People who sign in to the dashboard, and their memberships (D68).

use std::fmt;
use std::net::IpAddr;

use ipnet::{IpNet, Ipv4Net, Ipv6Net};

use crate::analytics::TimeZone;
use crate::email::Email;
use crate::id::{AccountId, UserId};
use crate::page_appearance::Theme;
use crate::role::Role;
use crate::second_factor::SecondFactor;
use crate::stored::{self, MalformedStored};
use crate::text::Name;
use crate::timestamp::Timestamp;

/// A person with a sign-in. Accounts are joined by a [`Membership`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// Its id.
    pub id: UserId,
    /// The e-mail address, unique without regard to case.
    pub email: Email,
    /// The name.
    pub name: Option<Name>,
    /// The stored hash of the password; `None` if the user cannot sign in with one.
    pub password: Option<PasswordHash>,
    /// What the user gives beside the password; `None` if the password suffices.
    pub second_factor: Option<SecondFactor>,
    /// Whether the user administers the installation.
    pub is_operator: bool,
    /// When the user was disabled; `None` if it may sign in.
    pub disabled_at: Option<Timestamp>,
    /// How pages look for the user.
    pub preferences: Preferences,
    /// When the user was created.
    pub created_at: Timestamp,
}

impl User {
    /// Whether a password alone lets the user in. It does not if there is a second factor, and not if there is no password:
    /// whoever signs such a user in then decides on further factors.
    #[must_use]
    pub const fn signs_in_by_password_alone(&self) -> bool {
        self.password.is_some() && self.second_factor.is_none()
    }

    /// The name, or the e-mail address of a user without one.
    #[must_use]
    pub fn label(&self) -> &str {
        self.name.as_ref().map_or(self.email.as_str(), Name::as_str)
    }
}

/// How pages look for a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preferences {
    /// The zone of dates and times.
    pub time_zone: TimeZone,
    /// Light, dark, or as the device is set.
    pub theme: Theme,
    /// The language of dates.
    pub date_language: DateLanguage,
    /// Whether single keys are shortcuts.
    pub has_shortcuts: bool,
}

impl Preferences {
    /// The preferences of a new user in this zone.
    #[must_use]
    pub const fn in_zone(time_zone: TimeZone) -> Self {
        Self { time_zone, theme: Theme::Auto, date_language: DateLanguage::English, has_shortcuts: true }
    }
}

/// The language of dates.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum DateLanguage {
    /// `en`
    #[default]
    English,
    /// `de`
    German,
    /// `es`
    Spanish,
    /// `fr`
    French,
    /// `pt`
    Portuguese,
    /// `ru`
    Russian,
}

impl DateLanguage {
    /// Every language.
    pub const ALL: [Self; 6] =
        [Self::English, Self::German, Self::Spanish, Self::French, Self::Portuguese, Self::Russian];

    /// The tag of the language, as in `lang`.
    #[must_use]
    pub const fn tag(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::German => "de",
            Self::Spanish => "es",
            Self::French => "fr",
            Self::Portuguese => "pt",
            Self::Russian => "ru",
        }
    }

    /// The language with this tag.
    #[must_use]
    pub fn from_tag(tag: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|language| language.tag() == tag)
    }
}

/// A user in an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Membership {
    /// The user.
    pub user_id: UserId,
    /// The account.
    pub account_id: AccountId,
    /// What the user may do there.
    pub role: Role,
    /// When the user joined.
    pub created_at: Timestamp,
}

/// The hash of a password with its parameters, as a line of text (PHC). Its `Debug` output hides it.
#[derive(Clone, PartialEq, Eq)]
pub struct PasswordHash(String);

impl PasswordHash {
    /// The hash that a hasher made.
    #[must_use]
    pub const fn new(text: String) -> Self {
        Self(text)
    }

    /// Reads a stored hash: one line.
    pub fn from_stored(text: String) -> Result<Self, MalformedStored> {
        stored::some_line(text).map(Self)
    }

    /// The text to store.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for PasswordHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PasswordHash(…)")
    }
}

/// The network of an address: a /24 of IPv4 or a /48 of IPv6. It tells a person where a session comes from, and no more.
///
/// ```
/// # use signpost_domain::ClientNetwork;
/// assert_eq!(ClientNetwork::of("192.0.2.77".parse().unwrap()).to_string(), "192.0.2.0/24");
/// assert_eq!(ClientNetwork::of("2001:db8:1:2::3".parse().unwrap()).to_string(), "2001:db8:1::/48");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ClientNetwork(IpNet);

impl ClientNetwork {
    /// The network of `address`.
    #[must_use]
    pub fn of(address: IpAddr) -> Self {
        let network = match address.to_canonical() {
            IpAddr::V4(address) => IpNet::from(Ipv4Net::new(address, 24).unwrap_or_default()),
            IpAddr::V6(address) => IpNet::from(Ipv6Net::new(address, 48).unwrap_or_default()),
        };
        Self(network.trunc())
    }

    /// Reads a stored network.
    pub fn from_stored(text: &str) -> Result<Self, MalformedStored> {
        text.parse().map(Self).map_err(|_| MalformedStored("is not a network"))
    }
}

impl fmt::Display for ClientNetwork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d68_languages_and_networks_read_back() {
        for language in DateLanguage::ALL {
            assert_eq!(DateLanguage::from_tag(language.tag()), Some(language));
        }
        for address in ["203.0.113.9", "::ffff:203.0.113.9", "2001:db8::1", "::1"] {
            let network = ClientNetwork::of(address.parse().unwrap());
            assert_eq!(ClientNetwork::from_stored(&network.to_string()), Ok(network));
        }
    }

    #[test]
    fn d71_debug_output_hides_the_hash() {
        let printed = format!("{:?}", PasswordHash::new("$argon2id$v=19$secret".to_owned()));
        assert!(!printed.contains("secret"), "{printed}");
    }
}
