//! The outcomes of the rows of a run.

use signpost_domain::{GroupId, Link, LinkId};

use super::outcome::{Imported, ImportedRow, ObjectId};
use crate::app_error::AppError;
use crate::application::Application;

/// One result for each row, in order.
#[derive(Default)]
pub(super) struct Results {
    lines: Vec<u64>,
    rows: Vec<Option<ImportedRow>>,
}

impl Results {
    /// Adds a row without an outcome, and returns its index.
    pub(super) fn add(&mut self, line: u64) -> usize {
        self.lines.push(line);
        self.rows.push(None);
        self.rows.len() - 1
    }

    /// The row was refused.
    pub(super) fn refuse(&mut self, index: usize, outcome: Imported) {
        self.settle(index, outcome, None, None);
    }

    /// The row's group was created, or exists.
    pub(super) fn group(&mut self, index: usize, outcome: Imported, id: GroupId) {
        self.settle(index, outcome, Some(ObjectId::Group(id)), None);
    }

    /// The row's link was created, or it or a conflicting link exists.
    pub(super) fn link(&mut self, app: &Application, index: usize, outcome: Imported, link: &Link) {
        self.settle(index, outcome, Some(ObjectId::Link(link.id())), url(app, link));
    }

    /// The expected outcome for the row's link. Its id is known only if the row names it.
    pub(super) fn rehearsed(
        &mut self,
        app: &Application,
        index: usize,
        outcome: Imported,
        named: Option<LinkId>,
        link: &Link,
    ) {
        match outcome {
            Imported::Created | Imported::WouldCreate | Imported::Unchanged => {
                self.settle(index, outcome, named.map(ObjectId::Link), url(app, link));
            }
            Imported::Conflict { .. } | Imported::Ignored | Imported::Failed { .. } => {
                self.refuse(index, outcome);
            }
        }
    }

    /// All results.
    ///
    /// # Errors
    /// A row has no outcome.
    pub(super) fn all(self) -> Result<Vec<ImportedRow>, AppError> {
        self.rows.into_iter().map(|row| row.ok_or(AppError::NoOutcome)).collect()
    }

    fn settle(&mut self, index: usize, outcome: Imported, id: Option<ObjectId>, url: Option<String>) {
        if let (Some(line), Some(row)) = (self.lines.get(index), self.rows.get_mut(index)) {
            *row = Some(ImportedRow { line: *line, outcome, id, url });
        }
    }
}

fn url(app: &Application, link: &Link) -> Option<String> {
    link.placement.url(&app.system, app.custom_domain_scheme)
}
