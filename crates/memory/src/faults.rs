//! Faults that tests inject into the store.

use std::collections::{HashSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use signpost_app::ports::StoreError;

/// A kind of call to a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Step {
    /// Any call that reads outside a unit of work, the health check included.
    Read,
    /// Beginning a unit of work, for the first time or again.
    Begin,
    /// Beginning a unit of work again.
    BeginAgain,
    /// Any call to a unit of work except its commit.
    Write,
    /// Committing. A failed commit changes nothing.
    Commit,
    /// Any call to the change log.
    Log,
    /// Any call about leases.
    Lease,
    /// Any call about the reports of nodes.
    Report,
}

/// How a call fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fault {
    /// With [`StoreError::Unavailable`].
    Unavailable,
    /// With [`StoreError::Unwritable`].
    Unwritable,
    /// With [`StoreError::Contended`].
    Contended,
    /// With [`StoreError::Corrupt`].
    Corrupt,
}

impl Fault {
    fn error(self) -> StoreError {
        match self {
            Self::Unavailable => StoreError::unavailable("switched off"),
            Self::Unwritable => StoreError::unwritable("the disk is full"),
            Self::Contended => StoreError::Contended,
            Self::Corrupt => StoreError::Corrupt {
                table: "links",
                column: "name",
                row: "1".to_owned(),
                reason: "broken on request".to_owned(),
            },
        }
    }
}

/// The calls to a store that fail.
#[derive(Debug, Default)]
pub struct Faults(Mutex<Plan>);

#[derive(Debug, Default)]
struct Plan {
    is_unavailable: bool,
    is_unwritable: bool,
    /// `None` lets a call pass.
    next: VecDeque<(Step, Option<Fault>)>,
    unreadable: HashSet<[u8; 16]>,
    refused_addresses: usize,
}

impl Faults {
    /// Makes the next `times` calls of this kind fail, after earlier requested faults.
    pub fn fail_next(&self, step: Step, fault: Fault, times: usize) {
        self.plan().next.extend(std::iter::repeat_n((step, Some(fault)), times));
    }

    /// Lets the next `times` calls of this kind pass, after earlier requested faults. Faults that are requested later come after them.
    pub fn pass_next(&self, step: Step, times: usize) {
        self.plan().next.extend(std::iter::repeat_n((step, None), times));
    }

    /// Makes every call fail with [`StoreError::Unavailable`], or work again.
    pub fn set_unavailable(&self, is_unavailable: bool) {
        self.plan().is_unavailable = is_unavailable;
    }

    /// Makes every unit of work fail to begin with [`StoreError::Unwritable`], or work again. Reads continue to work.
    pub fn set_unwritable(&self, is_unwritable: bool) {
        self.plan().is_unwritable = is_unwritable;
    }

    /// Makes the link or group with this id unreadable: lists leave it out, and calls that name it fail with
    /// [`StoreError::Corrupt`].
    pub fn spoil(&self, id: [u8; 16]) {
        self.plan().unreadable.insert(id);
    }

    /// Makes the next `times` calls that insert or update links report all addresses as taken, as if the links there were
    /// deleted right after that.
    pub fn refuse_addresses(&self, times: usize) {
        self.plan().refused_addresses = times;
    }

    pub(crate) fn refuses_addresses(&self) -> bool {
        let mut plan = self.plan();
        let refuses = plan.refused_addresses > 0;
        plan.refused_addresses = plan.refused_addresses.saturating_sub(1);
        refuses
    }

    pub(crate) fn is_readable(&self, id: [u8; 16]) -> bool {
        !self.plan().unreadable.contains(&id)
    }

    /// The found value, if it is readable.
    pub(crate) fn judge<T>(
        &self,
        found: Option<T>,
        id_of: impl Fn(&T) -> [u8; 16],
    ) -> Result<Option<T>, StoreError> {
        match found {
            Some(found) if !self.is_readable(id_of(&found)) => Err(Fault::Corrupt.error()),
            found => Ok(found),
        }
    }

    /// How many of the requested faults have not happened yet.
    #[must_use]
    pub fn outstanding(&self) -> usize {
        self.plan().next.iter().filter(|(_, fault)| fault.is_some()).count()
    }

    pub(crate) fn before(&self, step: Step) -> Result<(), StoreError> {
        let mut plan = self.plan();
        if plan.is_unavailable {
            return Err(Fault::Unavailable.error());
        }
        if plan.is_unwritable && matches!(step, Step::Begin | Step::BeginAgain) {
            return Err(Fault::Unwritable.error());
        }
        match plan.next.iter().position(|(planned, _)| *planned == step) {
            Some(position) => {
                let fault = plan.next.remove(position).and_then(|(_, fault)| fault);
                fault.map_or(Ok(()), |fault| Err(fault.error()))
            }
            None => Ok(()),
        }
    }

    fn plan(&self) -> MutexGuard<'_, Plan> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
