//! What pages say about the request before them.

/// The sentences about requests that succeeded, in one language.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs, reason = "the English text of a field is its description")]
pub struct SaidTexts {
    pub group_created: &'static str,
    pub group_deleted: &'static str,
    pub group_renamed: &'static str,
    pub invitation_withdrawn: &'static str,
    pub key_revoked: &'static str,
    pub left: &'static str,
    pub link_deleted: &'static str,
    pub member_removed: &'static str,
    pub none_selected: &'static str,
    pub password_changed: &'static str,
    pub pixel_created: &'static str,
    pub pixel_deleted: &'static str,
    pub role_changed: &'static str,
    pub saved: &'static str,
    pub session_ended: &'static str,
    pub sessions_ended: &'static str,
    pub signed_out: &'static str,
}
