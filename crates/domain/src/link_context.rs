//! The input of the rules of links, apart from the link and the request.

use std::collections::BTreeSet;

use crate::host_blocklist::HostBlocklist;
use crate::id::{PixelId, WidgetId};
use crate::placement::NamedDomains;
use crate::plan::FeatureSet;
use crate::public_address::SystemDomain;
use crate::timestamp::Timestamp;

/// The input of the rules of links, apart from the link and the request.
#[derive(Clone, Copy)]
pub struct LinkContext<'a> {
    /// The installation's system domain.
    pub system: &'a SystemDomain,
    /// The current features of the caller's plan.
    pub features: FeatureSet,
    /// The hosts that the operator allows no link to point at.
    pub blocklist: &'a HostBlocklist,
    /// The states of the custom domains on which the request would place links.
    pub named_domains: &'a NamedDomains,
    /// The caller's pixels among those that the request names.
    pub known_pixels: &'a BTreeSet<PixelId>,
    /// The source of ids for new widgets of landing pages (D34).
    pub widget_ids: &'a dyn WidgetIds,
    /// The current time.
    pub now: Timestamp,
}

/// A source of ids for new widgets.
pub trait WidgetIds: Sync {
    /// An id that no other widget has.
    fn next_widget_id(&self) -> WidgetId;
}
