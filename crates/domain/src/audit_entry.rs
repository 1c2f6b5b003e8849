//! Who did what, for owners and operators (D78).

use std::time::Duration;

use crate::id::{AccountId, ApiKeyId, AuditEntryId, UserId};
use crate::timestamp::Timestamp;
use crate::user::ClientNetwork;

/// How long entries are kept.
pub const AUDIT_KEPT: Duration = Duration::from_hours(400 * 24);

/// One thing that was done. Entries are never changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditEntry {
    /// Its id.
    pub id: AuditEntryId,
    /// The account that it was done to; `None` for the installation or a user as such.
    pub account_id: Option<AccountId>,
    /// Who did it.
    pub actor: AuditActor,
    /// What was done.
    pub action: AuditAction,
    /// To what: ids and names, in one line. Never a secret.
    pub object: String,
    /// The network of whoever did it; `None` for commands.
    pub network: Option<ClientNetwork>,
    /// When.
    pub at: Timestamp,
}

/// Who did something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AuditActor {
    /// A signed-in person.
    User(UserId),
    /// A program with a key.
    Key(ApiKeyId),
    /// Somebody with a shell on the machine of the service.
    Command,
}

macro_rules! actions {
    ($($(#[$doc:meta])+ $action:ident $name:literal;)+) => {
        /// What was done.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum AuditAction {
            $($(#[$doc])+ $action,)+
        }

        impl AuditAction {
            /// Every action.
            pub const ALL: &[Self] = &[$(Self::$action),+];

            /// The name in stores and exports.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$action => $name,)+
                }
            }
        }
    };
}

actions! {
    /// A user signed in.
    SignedIn "signed_in";
    /// A user was created.
    UserCreated "user_created";
    /// A user became an operator.
    OperatorMade "operator_made";
    /// A user was disabled.
    UserDisabled "user_disabled";
    /// A disabled user may sign in again.
    UserEnabled "user_enabled";
    /// A user's password was changed or reset.
    PasswordChanged "password_changed";
    /// A user set up a second factor, or a new one.
    SecondFactorSetUp "second_factor_set_up";
    /// A user's second factor was removed.
    SecondFactorRemoved "second_factor_removed";
    /// A user signed in or confirmed with a recovery code instead of the app.
    RecoveryCodeUsed "recovery_code_used";
    /// A user got new recovery codes.
    RecoveryCodesReplaced "recovery_codes_replaced";
    /// A user's e-mail address was changed.
    EmailChanged "email_changed";
    /// A user was bound to an identity of a provider.
    IdentityBound "identity_bound";
    /// A user's identity of a provider was unbound.
    IdentityUnbound "identity_unbound";
    /// Sessions of a user were ended.
    SessionsEnded "sessions_ended";
    /// A link to join or to reset a password was made.
    TicketMade "ticket_made";
    /// An invitation was withdrawn.
    InvitationWithdrawn "invitation_withdrawn";
    /// Failed sign-ins were forgotten, so that the next attempt is allowed at once.
    FailuresForgotten "failures_forgotten";
    /// A user joined an account.
    MemberJoined "member_joined";
    /// A member got another role in an account.
    RoleChanged "role_changed";
    /// A member was removed from an account.
    MemberRemoved "member_removed";
    /// A member left an account.
    MemberLeft "member_left";
    /// A key was issued.
    KeyIssued "key_issued";
    /// A key was revoked.
    KeyRevoked "key_revoked";
    /// Links were deleted, one or several at once.
    LinksDeleted "links_deleted";
    /// A group was deleted.
    GroupDeleted "group_deleted";
    /// A pixel was deleted.
    PixelDeleted "pixel_deleted";
    /// A tag was renamed, or merged with another one.
    TagRenamed "tag_renamed";
    /// A tag was deleted.
    TagDeleted "tag_deleted";
    /// An account connected a custom domain, anew or again.
    DomainConnected "domain_connected";
    /// The settings of a custom domain changed.
    DomainChanged "domain_changed";
    /// A check that somebody asked for changed the status of a custom domain.
    DomainChecked "domain_checked";
    /// A custom domain was deleted.
    DomainDeleted "domain_deleted";
    /// An account was created.
    AccountCreated "account_created";
    /// An account got another name or contact address.
    AccountChanged "account_changed";
    /// An account requires a second factor of its members.
    SecondFactorRequired "second_factor_required";
    /// An account does not require a second factor any more.
    SecondFactorOptional "second_factor_optional";
    /// An account got another plan.
    PlanChanged "plan_changed";
    /// An account was suspended.
    AccountSuspended "account_suspended";
    /// A suspended account was resumed.
    AccountResumed "account_resumed";
    /// An account was deleted with all its data.
    AccountDeleted "account_deleted";
}

impl AuditAction {
    /// The action of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|action| action.as_str() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d78_each_action_has_its_own_name() {
        for action in AuditAction::ALL {
            assert_eq!(AuditAction::from_name(action.as_str()), Some(*action));
        }
    }
}
