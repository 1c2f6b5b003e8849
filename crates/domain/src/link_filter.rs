//! Which links of an account a list shows (contract "List filters for links", D32).

use crate::id::GroupId;
use crate::placement::Site;
use crate::search_text::SearchText;

/// The filters of a link list, all of which must hold. The default shows every link.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LinkFilter {
    /// `group_id`
    pub group: GroupFilter,
    /// `domain`: only links that live there.
    pub site: Option<Site>,
    /// `is_active`
    pub is_active: Option<bool>,
    /// `q`: only links whose name or title, slug or target contains this.
    pub search: Option<SearchText>,
}

/// The filter by group.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum GroupFilter {
    /// Links of every group and of none.
    #[default]
    Any,
    /// Links without a group.
    Ungrouped,
    /// Links of this group; none if the account has no such group.
    In(GroupId),
}
