//! The filters of link lists (contract "List filters for links", D32).

use crate::external_id::ExternalId;
use crate::id::GroupId;
use crate::placement::Site;
use crate::search_text::SearchText;
use crate::slug::Slug;

/// The filters of a link list, which must all match. The default shows every link.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LinkFilter {
    /// `group_id`
    pub group: GroupFilter,
    /// `domain`: only links that live there.
    pub site: Option<Site>,
    /// `slug`: only links with exactly this slug, wherever they live, lost ones included.
    pub slug: Option<Slug>,
    /// `is_active`
    pub is_active: Option<bool>,
    /// `external_id`: only the link that has it (D121).
    pub external_id: Option<ExternalId>,
    /// `q`: only links whose name or title, slug or target contains this.
    pub search: Option<SearchText>,
}

impl LinkFilter {
    /// Whether the store may have to scan many links for each match: the filter has a text, or several filters. A single
    /// other filter uses an index, and so does a list without filters. A site with a slug is an address, which at most one
    /// link has, and so has an external id.
    #[must_use]
    pub const fn is_search(&self) -> bool {
        let Self { group, site, slug, is_active, external_id, search } = self;
        if external_id.is_some() || (site.is_some() && slug.is_some()) {
            return false;
        }
        let filters =
            [!matches!(group, GroupFilter::Any), site.is_some() || slug.is_some(), is_active.is_some()];
        search.is_some() || matches!(filters, [true, true, _] | [true, _, true] | [_, true, true])
    }
}

/// The filter by group.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum GroupFilter {
    /// All links, with or without a group.
    #[default]
    Any,
    /// Links without a group.
    Ungrouped,
    /// Links of this group. Matches nothing if the account has no such group.
    In(GroupId),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r46_a_text_or_several_filters_make_a_list_a_search() {
        let filter = |group, site, is_active, search: Option<&str>| LinkFilter {
            group: if group { GroupFilter::Ungrouped } else { GroupFilter::Any },
            site: if site { Some(Site::System) } else { None },
            slug: None,
            is_active: if is_active { Some(true) } else { None },
            external_id: None,
            search: search.map(|text| SearchText::parse(text).unwrap()),
        };
        for (group, site, is_active, several) in [
            (false, false, false, false),
            (true, false, false, false),
            (false, true, false, false),
            (false, false, true, false),
            (true, true, false, true),
            (true, false, true, true),
            (false, true, true, true),
            (true, true, true, true),
        ] {
            assert_eq!(filter(group, site, is_active, None).is_search(), several);
            assert!(filter(group, site, is_active, Some("x")).is_search());
            let slug = Some(Slug::parse("sale").unwrap());
            let by_slug = LinkFilter { slug: slug.clone(), ..filter(group, false, is_active, None) };
            assert_eq!(by_slug.is_search(), group || is_active);
            let external_id = Some(ExternalId::parse("4711").unwrap());
            let by_external_id = LinkFilter { external_id, ..filter(group, site, is_active, Some("x")) };
            assert!(!by_external_id.is_search(), "at most one link has an external id");
            let by_address = LinkFilter { slug, ..filter(group, true, is_active, Some("x")) };
            assert!(!by_address.is_search(), "at most one link has an address");
        }
    }
}
