//! The sentences about requests that succeeded, in English.

use super::SaidTexts;

pub(super) static SAID: SaidTexts = SaidTexts {
    group_created: "Group created.",
    group_deleted: "Group deleted. Its links stay.",
    group_renamed: "Group renamed.",
    invitation_withdrawn: "Invitation withdrawn. Its link no longer works.",
    key_revoked: "Key revoked. Programs that use it now get 401.",
    left: "You have left the account.",
    link_deleted: "Link deleted.",
    member_removed: "Member removed.",
    none_selected: "Select at least one link first.",
    password_changed: "Password changed. All other sessions are ended.",
    pixel_created: "Pixel added.",
    pixel_deleted: "Pixel deleted.",
    role_changed: "Role changed.",
    saved: "Saved.",
    session_ended: "Session ended.",
    sessions_ended: "All other sessions are ended.",
    signed_out: "You are signed out.",
};
