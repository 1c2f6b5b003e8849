//! A group or a link in a file: the values of its fields.

use std::collections::BTreeMap;

use signpost_domain::{AnyContent, Group, HostReference, Link, Note, Placement};

use super::account_export::NOT_IMPORTED;
use super::fields::{self, Field};

/// The value of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldValue {
    /// Null.
    Null,
    /// True or false.
    Flag(bool),
    /// A whole number.
    Number(i64),
    /// A text.
    Text(String),
    /// The country codes of `geo_blocklists`.
    Countries(Vec<String>),
    /// The names of `tags`.
    Names(Vec<String>),
    /// JSON text.
    Json(String),
    /// A value that no field accepts, such as a number with a fraction.
    Unfit,
}

impl FieldValue {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    pub(super) fn or_null(text: Option<impl ToString>) -> Self {
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
            FieldValue::Null
            | FieldValue::Flag(_)
            | FieldValue::Number(_)
            | FieldValue::Countries(_)
            | FieldValue::Names(_)
            | FieldValue::Json(_)
            | FieldValue::Unfit => None,
        }
    }

    /// Whether it is of a kind that imports do not read, whatever its other fields are.
    pub(super) fn is_not_imported(&self) -> bool {
        matches!(self.get(Field::Object), Some(FieldValue::Text(kind)) if NOT_IMPORTED.contains(&kind.as_str()))
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
        let Group { id, name, landings_count: _, redirects_count: _, created_at, updated_at, revision: _ } =
            group;
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
            // Of its domain, which the installation that reads the file may have in another state.
            is_domain_active: _,
            life,
            has_password,
            note,
            external_id,
            analytics_enabled,
            group_id,
            tags,
            created_at,
            updated_at,
            revision: _,
            content,
        } = link;
        let mut record = Self::default();
        record.set(Field::Id, FieldValue::text(link.id().to_string()));
        record.set_placement(placement);
        record.set(Field::Note, FieldValue::or_null(note.as_ref().map(Note::as_str)));
        record.set(Field::ExternalId, FieldValue::or_null(external_id.as_ref()));
        record.set(Field::GroupId, FieldValue::or_null(*group_id));
        record.set(Field::Tags, FieldValue::Names(tags.iter().map(ToString::to_string).collect()));
        record.set(Field::IsActive, FieldValue::Flag(*is_active));
        fields::write_life(life, &mut record);
        if *has_password {
            record.set(Field::HasPassword, FieldValue::Flag(true));
        }
        record.set(Field::AnalyticsEnabled, FieldValue::Flag(*analytics_enabled));
        record.set(Field::CreatedAt, FieldValue::text(created_at.to_string()));
        record.set(Field::UpdatedAt, FieldValue::text(updated_at.to_string()));
        match content {
            AnyContent::Landing => {
                record.set(Field::Object, FieldValue::text("landing"));
                record.set(Field::Title, FieldValue::text(name.as_str()));
            }
            AnyContent::Redirect(content) => {
                record.set(Field::Object, FieldValue::text("redirect"));
                record.set(Field::Name, FieldValue::text(name.as_str()));
                fields::write_redirect(content, &mut record);
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
