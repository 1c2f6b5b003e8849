//! What the members of an account may do (D69).

use crate::permission::{Permission, PermissionSet};

/// The role of a member of an account. A greater role has more permissions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Reads everything but secrets.
    Viewer,
    /// Also writes links, groups, pixels and domains.
    Editor,
    /// Also keys, members and the account itself.
    Owner,
}

impl Role {
    /// Every role, each with more permissions than the one before.
    pub const ALL: [Self; 3] = [Self::Viewer, Self::Editor, Self::Owner];

    /// The name in commands, forms and stores.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Editor => "editor",
            Self::Owner => "owner",
        }
    }

    /// The role of this name.
    ///
    /// ```
    /// # use signpost_domain::Role;
    /// assert_eq!(Role::from_name("editor"), Some(Role::Editor));
    /// assert_eq!(Role::from_name("admin"), None);
    /// ```
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.as_str() == name)
    }

    /// The permissions of the role.
    #[must_use]
    pub fn permissions(self) -> PermissionSet {
        let reader = [Permission::Read, Permission::ReadAnalytics];
        let editor = [Permission::WriteLinks, Permission::WriteDomains];
        let owner = [
            Permission::ManageKeys,
            Permission::ManageMembers,
            Permission::ManageAccount,
            Permission::ReadAudit,
        ];
        match self {
            Self::Viewer => reader.into_iter().collect(),
            Self::Editor => reader.into_iter().chain(editor).collect(),
            Self::Owner => reader.into_iter().chain(editor).chain(owner).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d69_each_role_has_all_permissions_of_the_one_below() {
        for [below, above] in [[Role::Viewer, Role::Editor], [Role::Editor, Role::Owner]] {
            let (below, above) = (below.permissions(), above.permissions());
            assert_eq!(below.intersection(above), below);
            assert_ne!(below, above);
        }
        assert_eq!(Role::Owner.permissions(), PermissionSet::ALL);
    }

    #[test]
    fn d69_only_owners_manage_keys_and_members_and_viewers_write_nothing() {
        for role in Role::ALL {
            for owners in [
                Permission::ManageKeys,
                Permission::ManageMembers,
                Permission::ManageAccount,
                Permission::ReadAudit,
            ] {
                assert_eq!(role.permissions().contains(owners), role == Role::Owner);
            }
            assert_eq!(role.permissions().contains(Permission::WriteLinks), role != Role::Viewer);
            assert_eq!(role.permissions().contains(Permission::WriteDomains), role != Role::Viewer);
            assert_eq!(Role::from_name(role.as_str()), Some(role));
        }
    }
}
