//! What a PATCH of a redirect asks for (contract "PATCH /v1/redirects/{id}").

use crate::change::Change;
use crate::geo_blocklist::GeoBlocklist;
use crate::id::{GroupKind, PixelKind};
use crate::reference::{HostReference, IdReference};
use crate::slug::Slug;
use crate::target_url::TargetUrl;
use crate::text::{Name, Note};

/// What a PATCH asks for; only the fields present are changed. The default changes nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RedirectPatch {
    /// `name`
    pub name: Option<Name>,
    /// `target_url`
    pub target_url: Option<TargetUrl>,
    /// `slug`; null is the root of the custom domain.
    pub slug: Change<Slug>,
    /// `note`
    pub note: Change<Note>,
    /// `domain`; null is the system domain.
    pub domain: Change<HostReference>,
    /// `group_id`; null ungroups the link.
    pub group: Change<IdReference<GroupKind>>,
    /// `is_active`
    pub is_active: Option<bool>,
    /// `antibot_enabled`
    pub antibot_enabled: Option<bool>,
    /// `geo_blocklists`; null lifts all blocks.
    pub geo_blocklist: Change<GeoBlocklist>,
    /// `pixel_ids`; null removes all.
    pub pixels: Change<Vec<IdReference<PixelKind>>>,
}
