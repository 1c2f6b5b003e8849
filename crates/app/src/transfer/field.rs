//! The fields of records.

/// A field of a record. It has the API's name if the API has the field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Field {
    /// `object`: `group`, `redirect` or `landing`; an absent one means `redirect`.
    Object,
    /// `id`
    Id,
    /// `domain`: a hostname. Null is the system domain of the importing installation, as in the API's creations (D28), so
    /// that an account can move to another installation.
    Domain,
    /// `slug`: null is the root of a custom domain (D21).
    Slug,
    /// `is_lost`: whether the link has no address because its domain was removed (D22).
    IsLost,
    /// `name` of a group or a redirect.
    Name,
    /// `title` of a landing page.
    Title,
    /// `target_url`
    TargetUrl,
    /// `note`
    Note,
    /// `group_id`
    GroupId,
    /// `group`: the name of the group, which is created if it does not exist. Exports name groups by their ids.
    Group,
    /// `is_active`
    IsActive,
    /// `antibot_enabled`
    AntibotEnabled,
    /// `geo_blocklists`
    GeoBlocklists,
    /// `analytics_enabled`
    AnalyticsEnabled,
    /// `created_at`
    CreatedAt,
    /// `updated_at`
    UpdatedAt,
}

impl Field {
    /// Every field, in the order of the columns.
    pub const ALL: [Self; 17] = [
        Self::Object,
        Self::Id,
        Self::Domain,
        Self::Slug,
        Self::IsLost,
        Self::Name,
        Self::Title,
        Self::TargetUrl,
        Self::Note,
        Self::GroupId,
        Self::Group,
        Self::IsActive,
        Self::AntibotEnabled,
        Self::GeoBlocklists,
        Self::AnalyticsEnabled,
        Self::CreatedAt,
        Self::UpdatedAt,
    ];

    /// The fields of exports, in order.
    pub fn exported() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|field| *field != Self::Group)
    }

    /// The field's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Object => "object",
            Self::Id => "id",
            Self::Domain => "domain",
            Self::Slug => "slug",
            Self::IsLost => "is_lost",
            Self::Name => "name",
            Self::Title => "title",
            Self::TargetUrl => "target_url",
            Self::Note => "note",
            Self::GroupId => "group_id",
            Self::Group => "group",
            Self::IsActive => "is_active",
            Self::AntibotEnabled => "antibot_enabled",
            Self::GeoBlocklists => "geo_blocklists",
            Self::AnalyticsEnabled => "analytics_enabled",
            Self::CreatedAt => "created_at",
            Self::UpdatedAt => "updated_at",
        }
    }

    /// The field of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|field| field.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_is_found_by_its_name() {
        for field in Field::ALL {
            assert_eq!(Field::named(field.name()), Some(field));
        }
        assert_eq!(Field::named("Slug"), None);
    }

    /// Several groups may have the same name.
    #[test]
    fn exports_name_groups_by_id_only() {
        let left_out: Vec<_> =
            Field::ALL.into_iter().filter(|field| !Field::exported().any(|one| one == *field)).collect();
        assert_eq!(left_out, [Field::Group]);
    }
}
