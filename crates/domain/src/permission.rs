//! What somebody who acts for an account may do.

/// One thing that use cases ask for before they begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Permission {
    /// Reading all but reports and clicks.
    Read,
    /// Changing all but custom domains.
    WriteLinks,
    /// Changing custom domains.
    WriteDomains,
    /// Reading reports and clicks.
    ReadAnalytics,
    /// Issuing and revoking keys. No key has it, so keys cannot issue keys.
    ManageKeys,
    /// Inviting and removing members, and changing their roles. No key has it.
    ManageMembers,
    /// Changing and deleting the account itself. No key has it.
    ManageAccount,
    /// Reading the audit of the account (D78). No key has it.
    ReadAudit,
}

impl Permission {
    /// All permissions.
    pub const ALL: [Self; 8] = [
        Self::Read,
        Self::WriteLinks,
        Self::WriteDomains,
        Self::ReadAnalytics,
        Self::ManageKeys,
        Self::ManageMembers,
        Self::ManageAccount,
        Self::ReadAudit,
    ];

    /// The permissions that a key can have: its scopes (D80).
    pub const SCOPES: [Self; 4] = [Self::Read, Self::WriteLinks, Self::WriteDomains, Self::ReadAnalytics];

    /// The name in messages, which is the name of the scope if keys can have it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::WriteLinks => "links",
            Self::WriteDomains => "domains",
            Self::ReadAnalytics => "analytics",
            Self::ManageKeys => "keys",
            Self::ManageMembers => "members",
            Self::ManageAccount => "account",
            Self::ReadAudit => "audit",
        }
    }

    /// The scope of this name.
    #[must_use]
    pub fn scope(name: &str) -> Option<Self> {
        Self::SCOPES.into_iter().find(|scope| scope.as_str() == name)
    }

    /// Whether it is for changing something. A suspended account has no such permission (D76).
    #[must_use]
    pub const fn is_for_changes(self) -> bool {
        match self {
            Self::Read | Self::ReadAnalytics | Self::ReadAudit => false,
            Self::WriteLinks
            | Self::WriteDomains
            | Self::ManageKeys
            | Self::ManageMembers
            | Self::ManageAccount => true,
        }
    }

    const fn bit(self) -> u8 {
        match self {
            Self::Read => 1,
            Self::WriteLinks => 1 << 1,
            Self::WriteDomains => 1 << 2,
            Self::ReadAnalytics => 1 << 3,
            Self::ManageKeys => 1 << 4,
            Self::ManageMembers => 1 << 5,
            Self::ReadAudit => 1 << 6,
            Self::ManageAccount => 1 << 7,
        }
    }
}

/// A set of permissions. None contains another: whoever may write may not thereby read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PermissionSet(u8);

impl PermissionSet {
    /// Every permission.
    pub const ALL: Self = {
        let [read, links, domains, analytics, keys, members, account, audit] = Permission::ALL;
        let scopes = read.bit() | links.bit() | domains.bit() | analytics.bit();
        Self(scopes | keys.bit() | members.bit() | account.bit() | audit.bit())
    };

    /// Every permission that a key can have (D80).
    pub const SCOPES: Self = {
        let [read, links, domains, analytics] = Permission::SCOPES;
        Self(read.bit() | links.bit() | domains.bit() | analytics.bit())
    };

    /// The stored scopes of a key. Bits that are no scopes are dropped.
    #[must_use]
    pub const fn from_stored_scopes(bits: u8) -> Self {
        Self(bits).intersection(Self::SCOPES)
    }

    /// The bits to store: 1 `read`, 2 `links`, 4 `domains`, 8 `analytics`.
    #[must_use]
    pub const fn to_bits(self) -> u8 {
        self.0
    }

    /// The permissions of the set.
    pub fn iter(self) -> impl Iterator<Item = Permission> {
        Permission::ALL.into_iter().filter(move |permission| self.contains(*permission))
    }

    /// Whether the set has this permission.
    #[must_use]
    pub const fn contains(self, permission: Permission) -> bool {
        self.0 & permission.bit() != 0
    }

    /// The permissions that are in both sets.
    #[must_use]
    pub const fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl FromIterator<Permission> for PermissionSet {
    fn from_iter<I: IntoIterator<Item = Permission>>(permissions: I) -> Self {
        Self(permissions.into_iter().fold(0, |bits, permission| bits | permission.bit()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_permission_includes_no_other() {
        assert_eq!(Permission::ALL.into_iter().collect::<PermissionSet>(), PermissionSet::ALL);
        for one in Permission::ALL {
            let only = PermissionSet::from_iter([one]);
            for other in Permission::ALL {
                assert_eq!(only.contains(other), one == other, "{one:?} {other:?}");
            }
            assert_eq!(PermissionSet::ALL.intersection(only), only);
            assert!(PermissionSet::ALL.contains(one) && !PermissionSet::default().contains(one));
        }
    }

    #[test]
    fn d80_scopes_read_back_from_their_names_and_bits() {
        for scope in Permission::SCOPES {
            assert_eq!(Permission::scope(scope.as_str()), Some(scope));
            let only = PermissionSet::from_iter([scope]);
            assert_eq!(PermissionSet::from_stored_scopes(only.to_bits()), only);
        }
        assert_eq!(Permission::scope("keys"), None);
        assert_eq!(PermissionSet::from_stored_scopes(u8::MAX), PermissionSet::SCOPES);
        assert_eq!(PermissionSet::SCOPES.iter().collect::<Vec<_>>(), Permission::SCOPES);
    }
}
