//! The outcomes of the rows of an import.

use std::fmt;

use signpost_domain::{
    ErrorCode, GroupId, Link, LinkId, Placement, PlanResource, Refusal, Rejection, Violations,
};

use super::fields::Field;

/// The id of the object that a row describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ObjectId {
    /// The id of a group.
    Group(GroupId),
    /// The id of a link.
    Link(LinkId),
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Group(id) => id.fmt(f),
            Self::Link(id) => id.fmt(f),
        }
    }
}

/// The outcome of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Imported {
    /// The object was created.
    Created,
    /// The object would have been created; this is a rehearsal.
    WouldCreate,
    /// The object exists and equals the row.
    Unchanged,
    /// A different object of the account has the id or the address. Nothing was changed.
    Conflict {
        /// The fields that differ; empty if they are unknown.
        differing: Vec<Field>,
    },
    /// Imports do not read this kind of object: it is one of [`NOT_IMPORTED`](super::NOT_IMPORTED).
    Ignored,
    /// A rule or the store refused it.
    Failed {
        /// The code that the API would have answered.
        code: ErrorCode,
        /// A sentence for people.
        message: String,
    },
}

impl Imported {
    /// The outcome in one word.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::WouldCreate => "would_create",
            Self::Unchanged => "unchanged",
            Self::Conflict { .. } => "conflict",
            Self::Ignored => "ignored",
            Self::Failed { .. } => "failed",
        }
    }

    /// The code that the API would have answered, if it failed.
    #[must_use]
    pub const fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Failed { code, .. } => Some(*code),
            Self::Created | Self::WouldCreate | Self::Unchanged | Self::Conflict { .. } | Self::Ignored => {
                None
            }
        }
    }

    /// A sentence for people, if the outcome needs one.
    #[must_use]
    pub fn message(&self) -> Option<String> {
        match self {
            Self::Created | Self::WouldCreate | Self::Unchanged | Self::Ignored => None,
            Self::Conflict { differing } if differing.is_empty() => {
                Some("An earlier row has its id or its address, and other values.".to_owned())
            }
            Self::Conflict { differing } => {
                let names: Vec<_> = differing.iter().map(|field| format!("`{}`", field.name())).collect();
                Some(format!("It is there already, with other values of {}.", names.join(", ")))
            }
            Self::Failed { code: _, message } => Some(message.clone()),
        }
    }

    /// The outcome for an existing object that differs in these fields.
    pub(super) fn compared(differing: Vec<Field>) -> Self {
        if differing.is_empty() { Self::Unchanged } else { Self::Conflict { differing } }
    }

    /// The outcome for an invalid row.
    pub(super) fn unreadable(message: impl Into<String>) -> Self {
        Self::Failed { code: ErrorCode::InvalidRequest, message: message.into() }
    }

    /// The outcome for a row that needs one more group than the plan allows.
    pub(super) fn groups_limit_reached(limit: u64) -> Self {
        Refusal::PlanLimitReached { resource: PlanResource::Groups, limit }.into()
    }

    /// The outcome for a row with the id of a link that the account does not have. The row of a lost link needs an id.
    pub(super) fn link_id_taken(link: &Link) -> Self {
        let advice = match link.placement {
            Placement::System { .. } | Placement::Custom { .. } => {
                "Leave the id out, and the link gets a new one."
            }
            Placement::Lost { .. } => "Leave the row out, because a link without an address needs its id.",
        };
        Self::unreadable(format!("`id` {} is that of another link. {advice}", link.id()))
    }

    /// The outcome for a row with the id of a group that the account does not have. A group's row needs an id, but a group that only
    /// links name gets a new one.
    pub(super) fn group_id_taken(id: GroupId) -> Self {
        Self::unreadable(format!(
            "`id` {id} is that of another group. Leave the row out, and name the group in `group` of its links instead of `group_id`."
        ))
    }

    /// The outcome for a row that made the store fail while it stored others.
    pub(super) fn not_storable() -> Self {
        let message = "The store failed to store this row, but stored others. Import the file again; existing rows are not changed.";
        Self::Failed { code: ErrorCode::InternalError, message: message.to_owned() }
    }
}

impl From<Violations> for Imported {
    fn from(violations: Violations) -> Self {
        let sentences: Vec<_> =
            violations.iter().map(|each| format!("`{}` {}.", each.field(), each.message())).collect();
        Self::unreadable(sentences.join(" "))
    }
}

impl From<Refusal> for Imported {
    fn from(refusal: Refusal) -> Self {
        Self::Failed { code: refusal.code(), message: refusal.to_string() }
    }
}

impl From<Rejection> for Imported {
    fn from(rejection: Rejection) -> Self {
        match rejection {
            Rejection::Invalid(violations) => violations.into(),
            Rejection::Refused(refusal) => refusal.into(),
        }
    }
}

/// A row of an import, with its outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedRow {
    /// The line at which the row begins.
    pub line: u64,
    /// The outcome.
    pub outcome: Imported,
    /// The id of the created or existing object.
    pub id: Option<ObjectId>,
    /// The public address of the created or existing link.
    pub url: Option<String>,
}

/// The number of rows by outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ImportCounts {
    /// Created; in a rehearsal, to be created.
    pub created: u64,
    /// Existing, and equal to the row.
    pub unchanged: u64,
    /// Existing, with other values.
    pub conflicts: u64,
    /// Of a kind that imports do not read.
    pub ignored: u64,
    /// Not imported.
    pub failed: u64,
}

impl ImportCounts {
    /// Counts one more row.
    pub const fn count(&mut self, outcome: &Imported) {
        match outcome {
            Imported::Created | Imported::WouldCreate => self.created += 1,
            Imported::Unchanged => self.unchanged += 1,
            Imported::Conflict { .. } => self.conflicts += 1,
            Imported::Ignored => self.ignored += 1,
            Imported::Failed { .. } => self.failed += 1,
        }
    }

    /// The number of all rows.
    #[must_use]
    pub const fn rows(&self) -> u64 {
        let Self { created, unchanged, conflicts, ignored, failed } = self;
        *created + *unchanged + *conflicts + *ignored + *failed
    }

    /// The number of rows whose values the account does not have after the import.
    #[must_use]
    pub const fn not_imported(&self) -> u64 {
        self.conflicts + self.failed
    }
}
