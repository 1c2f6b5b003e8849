//! A group: a flat set of links, shown only with counts (contract "Group").

use crate::id::{GroupId, GroupKind};
use crate::reference::IdReference;
use crate::refusal::Refusal;
use crate::revision::Revision;
use crate::text::Name;
use crate::timestamp::Timestamp;

/// A group of links. A link is in at most one group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// Its id.
    pub id: GroupId,
    /// Its name.
    pub name: Name,
    /// The number of landing pages in the group.
    pub landings_count: u64,
    /// The number of redirects in the group.
    pub redirects_count: u64,
    /// When it was created.
    pub created_at: Timestamp,
    /// When its name last changed. Moving links does not change it (D33).
    pub updated_at: Timestamp,
    /// The number of this version, which grows with each new name (D120).
    pub revision: Revision,
}

impl Group {
    /// A new, empty group.
    #[must_use]
    pub const fn create(id: GroupId, name: Name, now: Timestamp) -> Self {
        Self {
            id,
            name,
            landings_count: 0,
            redirects_count: 0,
            created_at: now,
            updated_at: now,
            revision: Revision::FIRST,
        }
    }

    /// The group with another name. With the same name it is unchanged, including `updated_at` and the revision (D33).
    ///
    /// ```
    /// # use signpost_domain::{Group, Id, Name, Timestamp};
    /// let at = |millis| Timestamp::from_unix_millis(millis).unwrap();
    /// let group = Group::create(Id::from_bytes([1; 16]), Name::parse("Spring").unwrap(), at(0));
    /// assert_eq!(group.renamed(Name::parse("Spring").unwrap(), at(5)), group);
    /// let renamed = group.renamed(Name::parse("Summer").unwrap(), at(5));
    /// assert_eq!((renamed.updated_at, renamed.revision), (at(5), group.revision.next()));
    /// ```
    #[must_use]
    pub fn renamed(&self, name: Name, now: Timestamp) -> Self {
        if name == self.name {
            return self.clone();
        }
        let (updated_at, revision) = (now.max(self.updated_at), self.revision.next());
        Self { name, updated_at, revision, ..self.clone() }
    }
}

/// The group that a request wants for a link. A store decides last whether the group exists: a malformed id
/// is answered like an unknown one (D2).
pub(crate) fn named_group(reference: IdReference<GroupKind>) -> Result<GroupId, Refusal> {
    reference.id().ok_or(Refusal::GroupNotFound)
}
