//! What records describe, read and not yet judged.

use std::collections::HashSet;

use signpost_domain::{
    AccountId, Address, Change, FieldError, LinkContext, LinkKind, Slug, ViolationCode, Violations,
};

use super::draws::Fingerprint;
use super::field::Field;
use super::field_reader::FieldReader;
use super::group_entry::GroupEntry;
use super::link_entry::LinkEntry;
use super::outcome::{Imported, ObjectId};
use super::record::Record;

/// What a record describes.
pub(super) enum Entry {
    Group(GroupEntry),
    Link(Box<LinkEntry>, Fingerprint),
}

impl Entry {
    pub(super) fn read(record: Record, context: &LinkContext<'_>) -> Result<Self, Violations> {
        let fingerprint = Fingerprint::of(&record);
        let mut fields = FieldReader::new(record);
        let kind = fields.nullable(Field::Object, |text| match text {
            "group" => Ok(None),
            "redirect" => Ok(Some(LinkKind::Redirect)),
            "landing" => Ok(Some(LinkKind::Landing)),
            _ => {
                let message = "must be `group`, `redirect` or `landing`";
                Err(FieldError::new(ViolationCode::InvalidValue, message))
            }
        });
        let kind = match kind {
            // Of what kind it is decides which fields it has, so of the others nothing can be said.
            None => return Err(fields.violations()),
            Some(Change::Keep | Change::Clear) => LinkKind::Redirect,
            Some(Change::Set(Some(kind))) => kind,
            Some(Change::Set(None)) => return GroupEntry::read(fields, context.now).map(Self::Group),
        };
        let link = LinkEntry::read(fields, kind, context)?;
        Ok(Self::Link(Box::new(link), fingerprint))
    }

    pub(super) fn id(&self) -> Option<ObjectId> {
        match self {
            Self::Group(group) => Some(ObjectId::Group(group.id)),
            Self::Link(link, _) => link.id.map(ObjectId::Link),
        }
    }
}

/// Rows no two of which name the same id.
#[derive(Default)]
pub(super) struct Run {
    pub(super) ids: HashSet<ObjectId>,
    pub(super) groups: Vec<(usize, GroupEntry)>,
    pub(super) links: Vec<NewLink>,
}

impl Run {
    pub(super) fn add(&mut self, index: usize, entry: Entry) {
        match entry {
            Entry::Group(group) => self.groups.push((index, group)),
            Entry::Link(link, fingerprint) => self.links.push(NewLink { index, link, fingerprint }),
        }
    }
}

/// A link as a row describes it.
pub(super) struct NewLink {
    /// The row's place among those that are imported together.
    pub(super) index: usize,
    pub(super) link: Box<LinkEntry>,
    pub(super) fingerprint: Fingerprint,
}

impl NewLink {
    /// The slug that it names, or the first of those that it leads to.
    pub(super) fn first_slug(&self, account: AccountId) -> Option<Slug> {
        if self.link.wants_a_slug() {
            Some(self.fingerprint.slug(account, 0))
        } else {
            self.link.named_slug().cloned()
        }
    }
}

/// A row that a rule or the store stands against, unless what it describes is at its address.
pub(super) struct Refused {
    pub(super) entry: NewLink,
    pub(super) address: Option<Address>,
    pub(super) outcome: Imported,
}
