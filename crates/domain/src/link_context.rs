//! The input of the rules of links, apart from the link and the request.

use std::collections::BTreeSet;

use crate::host_blocklist::HostBlocklist;
use crate::id::{PixelId, RuleId, WidgetId};
use crate::placement::NamedDomains;
use crate::plan::FeatureSet;
use crate::public_address::SystemDomain;
use crate::routing::SplitKey;
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
    /// The source of what new parts of links are told apart by.
    pub part_ids: &'a dyn PartIds,
    /// The current time.
    pub now: Timestamp,
}

/// A source of what new parts of links are told apart by.
pub trait PartIds: Sync {
    /// An id that no other widget has (D34).
    fn next_widget_id(&self) -> WidgetId;

    /// An id that no other rule has (D133).
    fn next_rule_id(&self) -> RuleId;

    /// A key that no other redirect has (D134).
    fn next_split_key(&self) -> SplitKey;
}
