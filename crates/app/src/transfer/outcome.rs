//! What became of the rows of an import.

use std::fmt;

use signpost_domain::{ErrorCode, GroupId, LinkId, PlanResource, Refusal, Rejection, Violations};

use super::field::Field;

/// The id of what a row describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ObjectId {
    /// A group's.
    Group(GroupId),
    /// A link's.
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

/// What became of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Imported {
    /// It was created.
    Created,
    /// It would have been created, had this not been a rehearsal.
    WouldCreate,
    /// It is there, and is what the row says.
    Unchanged,
    /// Something else of the account has its id or its address. Nothing was changed.
    Conflict {
        /// In which fields the two differ; none if that is not known.
        differing: Vec<Field>,
    },
    /// A rule or the store stands against it.
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
            Self::Failed { .. } => "failed",
        }
    }

    /// The code that the API would have answered, if it failed.
    #[must_use]
    pub const fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Failed { code, .. } => Some(*code),
            Self::Created | Self::WouldCreate | Self::Unchanged | Self::Conflict { .. } => None,
        }
    }

    /// A sentence for people where there is something to say.
    #[must_use]
    pub fn message(&self) -> Option<String> {
        match self {
            Self::Created | Self::WouldCreate | Self::Unchanged => None,
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

    /// What is there, compared with what the row says.
    pub(super) fn compared(differing: Vec<Field>) -> Self {
        if differing.is_empty() { Self::Unchanged } else { Self::Conflict { differing } }
    }

    /// A row that is no record.
    pub(super) fn unreadable(message: impl Into<String>) -> Self {
        Self::Failed { code: ErrorCode::InvalidRequest, message: message.into() }
    }

    /// A row that would need one more group than the plan allows.
    pub(super) fn groups_limit_reached(limit: u64) -> Self {
        Refusal::PlanLimitReached { resource: PlanResource::Groups, limit }.into()
    }

    /// A row that the store broke at, while it took others.
    pub(super) fn untakable() -> Self {
        let message =
            "The store cannot take it. If something of another account has this id, leave the id out.";
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

/// A row of an import, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedRow {
    /// The line at which the row begins.
    pub line: u64,
    /// What became of it.
    pub outcome: Imported,
    /// The id of what was created or found there.
    pub id: Option<ObjectId>,
    /// The public address of the link that was created or found there.
    pub url: Option<String>,
}

/// How many rows came to which end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ImportCounts {
    /// Created, or in a rehearsal: would have been.
    pub created: u64,
    /// There already.
    pub unchanged: u64,
    /// There with other content.
    pub conflicts: u64,
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
            Imported::Failed { .. } => self.failed += 1,
        }
    }

    /// How many rows there were.
    #[must_use]
    pub const fn rows(&self) -> u64 {
        let Self { created, unchanged, conflicts, failed } = self;
        *created + *unchanged + *conflicts + *failed
    }

    /// How many rows say something that the account does not have now.
    #[must_use]
    pub const fn not_imported(&self) -> u64 {
        self.conflicts + self.failed
    }
}
