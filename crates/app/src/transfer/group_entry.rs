//! A parsed record of a group.

use signpost_domain::{FieldError, Group, GroupId, Name, Timestamp, ViolationCode, Violations};

use super::field_reader::{Instants, RowFieldReader};
use super::fields::Field;

/// A group as a record describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GroupEntry {
    /// The key that links use. Several groups may have the same name.
    pub(super) id: GroupId,
    name: Name,
    instants: Instants,
}

impl GroupEntry {
    pub(super) fn read(mut fields: RowFieldReader, now: Timestamp) -> Result<Self, Violations> {
        let id = fields.required(Field::Id, |text| {
            text.parse().map_err(|_| {
                FieldError::new(ViolationCode::InvalidFormat, "must be the id of a group (`grp_…`)")
            })
        });
        let name = fields.required(Field::Name, Name::parse);
        let instants = fields.instants(now);
        let violations = fields.finish();
        match (id, name) {
            (Some(id), Some(name)) => violations.into_result(Self { id, name, instants }),
            (None, _) | (_, None) => Err(violations),
        }
    }

    /// The fields in which a stored group differs. The dates are not compared, because callers cannot set them.
    pub(super) fn differences(&self, group: &Group) -> Vec<Field> {
        let Self { id: _, name, instants: _ } = self;
        if *name == group.name { vec![] } else { vec![Field::Name] }
    }

    pub(super) fn create(&self, now: Timestamp) -> Group {
        let Self { id, name, instants } = self.clone();
        let (created_at, updated_at) = instants.or_now(now);
        Group { created_at, updated_at, ..Group::create(id, name, now) }
    }
}
