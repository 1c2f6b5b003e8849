//! A group or a link in a file: the fields of a record, and their values.

use std::collections::BTreeMap;

use signpost_domain::{AnyContent, Group, HostReference, Link, Note, Placement, RedirectContent};

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

/// The value of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldValue {
    /// Null.
    Null,
    /// True or false.
    Flag(bool),
    /// A text.
    Text(String),
    /// The country codes of `geo_blocklists`.
    Countries(Vec<String>),
    /// A value that no field accepts, such as a number.
    Unfit,
}

impl FieldValue {
    fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    fn or_null(text: Option<impl ToString>) -> Self {
        text.map_or(Self::Null, |text| Self::Text(text.to_string()))
    }
}

/// One group or link, field by field, not validated yet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Record {
    fields: BTreeMap<Field, FieldValue>,
    unknown: Vec<String>,
}

impl Record {
    /// Sets a field.
    pub fn set(&mut self, field: Field, value: FieldValue) {
        self.fields.insert(field, value);
    }

    /// Adds the name of an unknown field. The record cannot be imported then: a misspelt field must not be dropped in
    /// silence (D8).
    pub fn set_unknown(&mut self, name: impl Into<String>) {
        self.unknown.push(name.into());
    }

    /// The value of a field; `None` if it is absent.
    #[must_use]
    pub fn get(&self, field: Field) -> Option<&FieldValue> {
        self.fields.get(&field)
    }

    /// The domain that it names.
    pub(super) fn named_domain(&self) -> Option<HostReference> {
        match self.get(Field::Domain)? {
            FieldValue::Text(domain) => Some(HostReference::parse(domain)),
            FieldValue::Null | FieldValue::Flag(_) | FieldValue::Countries(_) | FieldValue::Unfit => None,
        }
    }

    pub(super) fn into_parts(self) -> (BTreeMap<Field, FieldValue>, Vec<String>) {
        (self.fields, self.unknown)
    }
}

/// A record of a file, and the line at which it begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportRow {
    /// The line number, from 1.
    pub line: u64,
    /// The record, or a sentence for people that says why it is unreadable.
    pub record: Result<Record, String>,
}

impl From<&Group> for Record {
    fn from(group: &Group) -> Self {
        // The counters follow from the links, so records do not have them.
        let Group { id, name, landings_count: _, redirects_count: _, created_at, updated_at } = group;
        let mut record = Self::default();
        record.set(Field::Object, FieldValue::text("group"));
        record.set(Field::Id, FieldValue::text(id.to_string()));
        record.set(Field::Name, FieldValue::text(name.as_str()));
        record.set(Field::CreatedAt, FieldValue::text(created_at.to_string()));
        record.set(Field::UpdatedAt, FieldValue::text(updated_at.to_string()));
        record
    }
}

impl From<&Link> for Record {
    fn from(link: &Link) -> Self {
        let Link {
            id: _,
            name,
            placement,
            is_active,
            note,
            analytics_enabled,
            group_id,
            created_at,
            updated_at,
            content,
        } = link;
        let mut record = Self::default();
        record.set(Field::Id, FieldValue::text(link.id().to_string()));
        record.set_placement(placement);
        record.set(Field::Note, FieldValue::or_null(note.as_ref().map(Note::as_str)));
        record.set(Field::GroupId, FieldValue::or_null(*group_id));
        record.set(Field::IsActive, FieldValue::Flag(*is_active));
        record.set(Field::AnalyticsEnabled, FieldValue::Flag(*analytics_enabled));
        record.set(Field::CreatedAt, FieldValue::text(created_at.to_string()));
        record.set(Field::UpdatedAt, FieldValue::text(updated_at.to_string()));
        match content {
            AnyContent::Landing => {
                record.set(Field::Object, FieldValue::text("landing"));
                record.set(Field::Title, FieldValue::text(name.as_str()));
            }
            AnyContent::Redirect(content) => {
                // Exports omit pixels.
                let RedirectContent { target_url, antibot_enabled, geo_blocklist, pixel_ids: _ } = content;
                let countries = geo_blocklist.countries().iter().map(ToString::to_string).collect();
                record.set(Field::Object, FieldValue::text("redirect"));
                record.set(Field::Name, FieldValue::text(name.as_str()));
                record.set(Field::TargetUrl, FieldValue::text(target_url.as_str()));
                record.set(Field::AntibotEnabled, FieldValue::Flag(*antibot_enabled));
                record.set(Field::GeoBlocklists, FieldValue::Countries(countries));
            }
        }
        record
    }
}

impl Record {
    fn set_placement(&mut self, placement: &Placement) {
        match placement {
            Placement::System { slug } => {
                self.set(Field::Domain, FieldValue::Null);
                self.set(Field::Slug, FieldValue::text(slug.as_str()));
            }
            Placement::Custom { hostname, slug } => {
                self.set(Field::Domain, FieldValue::text(hostname.as_str()));
                self.set(Field::Slug, FieldValue::or_null(slug.as_ref()));
            }
            Placement::Lost { slug } => {
                self.set(Field::IsLost, FieldValue::Flag(true));
                if let Some(slug) = slug {
                    self.set(Field::Slug, FieldValue::text(slug.as_str()));
                }
            }
        }
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
