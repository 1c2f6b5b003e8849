//! Parsed records, before they are compared with the account's data.

use std::collections::HashSet;

use signpost_domain::{
    AccountId, Address, Change, FieldError, LinkContext, LinkKind, Slug, ViolationCode, Violations,
};

use super::field_reader::RowFieldReader;
use super::fields::Field;
use super::fingerprint::Fingerprint;
use super::group_entry::GroupEntry;
use super::link_entry::LinkEntry;
use super::outcome::{Imported, ObjectId};
use super::record::{ImportRow, Record};
use super::results::Results;

/// What a record describes.
pub(super) enum Entry {
    Group(GroupEntry),
    Link(Box<LinkEntry>, Fingerprint),
}

impl Entry {
    pub(super) fn read(record: Record, context: &LinkContext<'_>) -> Result<Self, Violations> {
        let fingerprint = Fingerprint::of(&record);
        let mut fields = RowFieldReader::new(record);
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
            // The kind decides which fields are allowed, so the other fields cannot be checked.
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

/// Successive rows that name different ids.
#[derive(Default)]
pub(super) struct Run {
    ids: HashSet<ObjectId>,
    pub(super) groups: Vec<(usize, GroupEntry)>,
    pub(super) links: Vec<LinkToCreate>,
    /// The outcomes so far.
    pub(super) results: Results,
}

impl Run {
    /// Splits rows into as few runs as possible. Within a run, no row may depend on an object that another creates.
    pub(super) fn of_rows(
        rows: Vec<ImportRow>,
        account: AccountId,
        context: &LinkContext<'_>,
    ) -> impl Iterator<Item = Self> {
        let mut runs = vec![];
        let mut run = Self::default();
        for ImportRow { line, record } in rows {
            let entry = match record {
                Ok(record) if record.is_not_imported() => Err(Imported::Ignored),
                Ok(record) => Entry::read(record, context).map_err(Imported::from),
                Err(message) => Err(Imported::unreadable(message)),
            };
            if let Ok(entry) = &entry
                && let Some(id) = entry.id()
                && !run.ids.insert(id)
            {
                runs.push(std::mem::take(&mut run));
                run.ids.insert(id);
            }
            let index = run.results.add(line);
            match entry {
                Ok(Entry::Group(group)) => run.groups.push((index, group)),
                Ok(Entry::Link(link, fingerprint)) => {
                    run.links.push(LinkToCreate::new(index, link, fingerprint, account, context));
                }
                Err(outcome) => run.results.refuse(index, outcome),
            }
        }
        runs.push(run);
        runs.into_iter()
    }
}

/// A link as a row describes it.
pub(super) struct LinkToCreate {
    /// The index of the row in its run.
    pub(super) index: usize,
    pub(super) link: Box<LinkEntry>,
    pub(super) fingerprint: Fingerprint,
    /// The address that it names, or that of its first derived slug.
    pub(super) address: Option<Address>,
}

impl LinkToCreate {
    fn new(
        index: usize,
        link: Box<LinkEntry>,
        fingerprint: Fingerprint,
        account: AccountId,
        context: &LinkContext<'_>,
    ) -> Self {
        let mut new = Self { index, link, fingerprint, address: None };
        new.address = new.link.address(new.first_slug(account), context);
        new
    }

    /// The slug that it names, or the first derived one.
    pub(super) fn first_slug(&self, account: AccountId) -> Option<Slug> {
        if self.link.needs_slug() {
            Some(self.fingerprint.slug(account, 0))
        } else {
            self.link.named_slug().cloned()
        }
    }
}

/// A row that a rule or the store refused. It still succeeds if the link that it describes is at its address.
pub(super) struct Refused {
    pub(super) entry: LinkToCreate,
    pub(super) address: Option<Address>,
    pub(super) outcome: Imported,
}
