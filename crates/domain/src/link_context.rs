//! What the rules of links need to know beside the link and the request.

use std::collections::BTreeSet;

use crate::host_blocklist::HostBlocklist;
use crate::id::{PixelId, WidgetId};
use crate::placement::NamedDomains;
use crate::plan::FeatureSet;
use crate::public_address::SystemDomain;
use crate::timestamp::Timestamp;

/// What the rules need to know beside the link and the request.
#[derive(Clone, Copy)]
pub struct LinkContext<'a> {
    /// The installation's system domain.
    pub system: &'a SystemDomain,
    /// The features of the caller's plan, as they are now.
    pub features: FeatureSet,
    /// The hosts that the operator allows no link to point at.
    pub blocklist: &'a HostBlocklist,
    /// What is known of the custom domains on which the request would place links.
    pub named_domains: &'a NamedDomains,
    /// Which of the pixels that the request names are the caller's.
    pub known_pixels: &'a BTreeSet<PixelId>,
    /// Where new widgets of landing pages get their ids (D34).
    pub widget_ids: &'a dyn WidgetIds,
    /// The present.
    pub now: Timestamp,
}

/// A source of ids for new widgets.
pub trait WidgetIds: Sync {
    /// An id that no other widget has.
    fn next_widget_id(&self) -> WidgetId;
}
