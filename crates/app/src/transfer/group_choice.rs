//! Which group a record puts its link into.

use signpost_domain::id::GroupKind;
use signpost_domain::{Change, GroupId, IdReference, Name, ViolationCode};

use super::field::Field;
use super::field_reader::FieldReader;

/// Which group a record puts its link into.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum GroupChoice {
    /// The record says nothing of groups.
    Unsaid,
    /// None.
    None,
    /// The one with this id.
    Id(IdReference<GroupKind>),
    /// The one of this name, and its id once the name has been looked up.
    Named { name: Name, id: Option<GroupId> },
}

impl GroupChoice {
    /// Reads `group_id` and `group`. A table that has both columns may fill either in each row. `None` if they are invalid.
    pub(super) fn read(fields: &mut FieldReader) -> Option<Self> {
        let by_id = fields.nullable(Field::GroupId, |text| Ok(IdReference::parse(text)));
        let by_name = fields.nullable(Field::Group, Name::parse);
        match (by_id?, by_name?) {
            (Change::Set(_), Change::Set(_)) => {
                let message = "must be empty where `group_id` names the group";
                fields.refuse(Field::Group, ViolationCode::InvalidValue, message)
            }
            (Change::Set(id), Change::Keep | Change::Clear) => Some(Self::Id(id)),
            (Change::Keep | Change::Clear, Change::Set(name)) => Some(Self::Named { name, id: None }),
            (Change::Keep, Change::Keep) => Some(Self::Unsaid),
            (Change::Clear, Change::Keep | Change::Clear) | (Change::Keep, Change::Clear) => Some(Self::None),
        }
    }

    /// The group that a new link is to be in.
    pub(super) fn reference(&self) -> Option<IdReference<GroupKind>> {
        match self {
            Self::Unsaid | Self::None => None,
            Self::Id(id) => Some(*id),
            Self::Named { name: _, id } => Some(id.map_or(IdReference::Malformed, IdReference::Id)),
        }
    }

    /// The field that names the group, and whether a link in the group `kept` is as it says.
    pub(super) fn compared(&self, kept: Option<GroupId>) -> (Field, bool) {
        match self {
            Self::Unsaid => (Field::GroupId, true),
            Self::None => (Field::GroupId, kept.is_none()),
            Self::Id(reference) => (Field::GroupId, kept.is_some() && reference.id() == kept),
            Self::Named { name: _, id } => (Field::Group, kept.is_some() && *id == kept),
        }
    }
}
