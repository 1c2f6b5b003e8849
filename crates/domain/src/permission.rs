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
}

impl Permission {
    /// All permissions.
    pub const ALL: [Self; 4] = [Self::Read, Self::WriteLinks, Self::WriteDomains, Self::ReadAnalytics];

    /// The name of the scope that contains it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::WriteLinks => "links",
            Self::WriteDomains => "domains",
            Self::ReadAnalytics => "analytics",
        }
    }

    const fn bit(self) -> u8 {
        match self {
            Self::Read => 1,
            Self::WriteLinks => 1 << 1,
            Self::WriteDomains => 1 << 2,
            Self::ReadAnalytics => 1 << 3,
        }
    }
}

/// A set of permissions. None contains another: whoever may write may not thereby read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PermissionSet(u8);

impl PermissionSet {
    /// Every permission.
    pub const ALL: Self = {
        let [read, links, domains, analytics] = Permission::ALL;
        Self(read.bit() | links.bit() | domains.bit() | analytics.bit())
    };

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
}
