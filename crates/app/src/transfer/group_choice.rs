//! The group that a record names for its link.

use signpost_domain::id::GroupKind;
use signpost_domain::{Change, GroupId, IdReference, Name, ViolationCode};

use super::field_reader::RowFieldReader;
use super::fields::Field;

/// The group that a record names for its link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum GroupChoice {
    /// The record has no group field.
    Unspecified,
    /// The link is ungrouped.
    None,
    /// The group with this id.
    Id(IdReference<GroupKind>),
    /// The group with this name, and its id after the name was looked up.
    Named { name: Name, id: Option<GroupId> },
}

impl GroupChoice {
    /// Reads `group_id` and `group`. A table with both columns may fill either in each row. `None` if they are invalid.
    pub(super) fn read(fields: &mut RowFieldReader) -> Option<Self> {
        let by_id = fields.nullable(Field::GroupId, |text| Ok(IdReference::parse(text)));
        let by_name = fields.nullable(Field::Group, Name::parse);
        match (by_id?, by_name?) {
            (Change::Set(_), Change::Set(_)) => {
                let message = "must be empty where `group_id` names the group";
                fields.refuse(Field::Group, ViolationCode::InvalidValue, message)
            }
            (Change::Set(id), Change::Keep | Change::Clear) => Some(Self::Id(id)),
            (Change::Keep | Change::Clear, Change::Set(name)) => Some(Self::Named { name, id: None }),
            (Change::Keep, Change::Keep) => Some(Self::Unspecified),
            (Change::Clear, Change::Keep | Change::Clear) | (Change::Keep, Change::Clear) => Some(Self::None),
        }
    }

    /// Notes which group has the name.
    pub(super) const fn set_id(&mut self, of_name: GroupId) {
        if let Self::Named { name: _, id } = self {
            *id = Some(of_name);
        }
    }

    /// The group of a new link.
    pub(super) fn reference(&self) -> Option<IdReference<GroupKind>> {
        match self {
            Self::Unspecified | Self::None => None,
            Self::Id(id) => Some(*id),
            Self::Named { name: _, id } => Some(id.map_or(IdReference::Malformed, IdReference::Id)),
        }
    }

    /// The field that names the group, and whether it agrees with the stored link's group `kept`.
    pub(super) fn compared(&self, kept: Option<GroupId>) -> (Field, bool) {
        match self {
            Self::Unspecified => (Field::GroupId, true),
            Self::None => (Field::GroupId, kept.is_none()),
            Self::Id(reference) => (Field::GroupId, kept.is_some() && reference.id() == kept),
            Self::Named { name: _, id } => (Field::Group, kept.is_some() && *id == kept),
        }
    }
}
