//! What people and programs did, in English.

use signpost_domain::AuditAction;

pub(super) const fn action(action: AuditAction) -> &'static str {
    match action {
        AuditAction::SignedIn => "Signed in",
        AuditAction::UserCreated => "Created a user",
        AuditAction::OperatorMade => "Made a user an operator",
        AuditAction::UserDisabled => "Disabled a user",
        AuditAction::UserEnabled => "Enabled a user",
        AuditAction::PasswordChanged => "Changed a password",
        AuditAction::SecondFactorSetUp => "Set up a second factor",
        AuditAction::SecondFactorRemoved => "Removed a second factor",
        AuditAction::RecoveryCodeUsed => "Used a recovery code",
        AuditAction::RecoveryCodesReplaced => "Made new recovery codes",
        AuditAction::EmailChanged => "Changed an e-mail address",
        AuditAction::IdentityBound => "Connected a sign-in elsewhere",
        AuditAction::IdentityUnbound => "Disconnected a sign-in elsewhere",
        AuditAction::SessionsEnded => "Ended sessions",
        AuditAction::TicketMade => "Made an invitation or a reset link",
        AuditAction::MemberJoined => "Joined the account",
        AuditAction::RoleChanged => "Changed the role of a member",
        AuditAction::MemberRemoved => "Removed a member",
        AuditAction::MemberLeft => "Left the account",
        AuditAction::KeyIssued => "Issued a key",
        AuditAction::KeyRevoked => "Revoked a key",
        AuditAction::LinksDeleted => "Deleted links",
        AuditAction::GroupDeleted => "Deleted a group",
        AuditAction::PixelDeleted => "Deleted a pixel",
        AuditAction::DomainConnected => "Connected a domain",
        AuditAction::DomainChecked => "Checked a domain",
        AuditAction::DomainDeleted => "Deleted a domain",
        AuditAction::AccountCreated => "Created the account",
        AuditAction::AccountChanged => "Changed the account",
        AuditAction::SecondFactorRequired => "Required a second factor",
        AuditAction::SecondFactorOptional => "Made the second factor optional",
        AuditAction::PlanChanged => "Changed the plan",
        AuditAction::AccountSuspended => "Suspended the account",
        AuditAction::AccountResumed => "Resumed the account",
        AuditAction::AccountDeleted => "Deleted the account",
    }
}
