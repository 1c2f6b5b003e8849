//! Changes that stand or fall together.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use signpost_app::ports::{
    AccountWrites, GroupWrites, InsertAccountError, InsertGroupError, InsertRedirectError, LinkWrites,
    StoreError, UnitOfWork, UpdateRedirectError,
};
use signpost_domain::{
    Account, AccountId, ApiKey, ApiKeyId, Group, GroupId, PlanName, Redirect, RedirectId, Timestamp,
};
use tokio::sync::OwnedMutexGuard;
use tokio::task::AbortHandle;

use crate::faults::Step;
use crate::state::{State, no_account, twice};
use crate::store::Shared;

/// What a unit of work has while it lasts: its copy of the state, and its turn. Dropping it undoes the work
/// and lets the next one in.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) state: State,
    pub(crate) turn: OwnedMutexGuard<()>,
}

pub(crate) struct MemoryUnitOfWork {
    shared: Arc<Shared>,
    held: Arc<Mutex<Option<Held>>>,
    watch: AbortHandle,
}

impl MemoryUnitOfWork {
    pub(crate) const fn new(shared: Arc<Shared>, held: Arc<Mutex<Option<Held>>>, watch: AbortHandle) -> Self {
        Self { shared, held, watch }
    }

    /// Runs one call. A [`StoreError`] ends the unit of work, so that nothing is committed in spite of it.
    fn write<T, E: From<StoreError>>(&self, f: impl FnOnce(&mut State) -> Result<T, E>) -> Result<T, E> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(fault) = self.shared.faults().before(Step::Write) {
            *held = None;
            return Err(fault.into());
        }
        match held.as_mut() {
            Some(held) => f(&mut held.state),
            None => Err(undone().into()),
        }
    }
}

fn undone() -> StoreError {
    StoreError::unavailable("the unit of work was undone: it failed before, or it lasted too long")
}

impl Drop for MemoryUnitOfWork {
    fn drop(&mut self) {
        self.watch.abort();
    }
}

#[async_trait]
impl UnitOfWork for MemoryUnitOfWork {
    async fn commit(self: Box<Self>) -> Result<(), StoreError> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let Held { state, turn } = held.take().ok_or_else(undone)?;
        self.shared.faults().before(Step::Commit)?;
        self.shared.replace(state);
        drop(turn);
        Ok(())
    }
}

#[async_trait]
impl AccountWrites for MemoryUnitOfWork {
    async fn any_account(&mut self) -> Result<bool, StoreError> {
        self.write(|state| Ok(state.all().next().is_some()))
    }

    async fn insert_account(&mut self, account: &Account) -> Result<(), InsertAccountError> {
        self.write(|state| {
            let email = account.email.comparison_key();
            if state.all().any(|owned| owned.account.email.comparison_key() == email) {
                return Err(InsertAccountError::EmailTaken);
            }
            Ok(state.insert(account.clone())?)
        })
    }

    async fn set_plan(&mut self, id: AccountId, plan: &PlanName) -> Result<bool, StoreError> {
        self.write(|state| {
            let Some(owned) = state.owned_mut(id) else { return Ok(false) };
            owned.account.plan = plan.clone();
            Ok(true)
        })
    }

    async fn set_suspended(&mut self, id: AccountId, since: Option<Timestamp>) -> Result<bool, StoreError> {
        self.write(|state| {
            let Some(owned) = state.owned_mut(id) else { return Ok(false) };
            owned.account.suspended_at = since.map(|since| owned.account.suspended_at.unwrap_or(since));
            Ok(true)
        })
    }

    async fn delete_account(&mut self, id: AccountId) -> Result<bool, StoreError> {
        self.write(|state| Ok(state.remove(id)))
    }

    async fn insert_key(&mut self, key: &ApiKey) -> Result<bool, StoreError> {
        self.write(|state| {
            if state.holder_of_key(key.id).is_some() {
                return Err(twice(key.id));
            }
            let Some(owned) = state.owned_mut(key.account_id) else { return Ok(false) };
            owned.keys.insert(key.id, key.clone());
            Ok(true)
        })
    }

    async fn revoke_key(&mut self, id: ApiKeyId, at: Timestamp) -> Result<bool, StoreError> {
        self.write(|state| {
            let holder = state.holder_of_key(id).and_then(|holder| state.owned_mut(holder));
            let Some(key) = holder.and_then(|owned| owned.keys.get_mut(&id)) else { return Ok(false) };
            key.revoked_at.get_or_insert(at);
            Ok(true)
        })
    }
}

#[async_trait]
impl GroupWrites for MemoryUnitOfWork {
    async fn lock_group(&mut self, account: AccountId, id: GroupId) -> Result<Option<Group>, StoreError> {
        self.write(|state| Ok(state.owned(account).and_then(|owned| owned.group(id))))
    }

    async fn insert_group(
        &mut self,
        account: AccountId,
        group: &Group,
        groups_limit: u64,
    ) -> Result<(), InsertGroupError> {
        self.write(|state| {
            if state.has_group(group.id) {
                return Err(twice(group.id).into());
            }
            let owned = state.owned_mut(account).ok_or(InsertGroupError::AccountMissing)?;
            if owned.usage().groups >= groups_limit {
                return Err(InsertGroupError::LimitReached);
            }
            owned.groups.insert(group.id, group.clone());
            Ok(())
        })
    }

    async fn update_group(&mut self, account: AccountId, group: &Group) -> Result<(), StoreError> {
        self.write(|state| {
            let owned = state.owned_mut(account).ok_or_else(|| no_account(account))?;
            let kept = owned.groups.get_mut(&group.id).ok_or_else(|| absent(group.id))?;
            kept.name = group.name.clone();
            kept.updated_at = group.updated_at;
            Ok(())
        })
    }

    async fn ungroup_some_links(
        &mut self,
        account: AccountId,
        id: GroupId,
        at_most: u16,
        now: Timestamp,
    ) -> Result<u16, StoreError> {
        self.write(|state| {
            let Some(owned) = state.owned_mut(account) else { return Ok(0) };
            let inside = owned.redirects.values_mut().filter(|redirect| redirect.group_id == Some(id));
            let mut taken = 0;
            for redirect in inside.take(usize::from(at_most)) {
                redirect.group_id = None;
                redirect.updated_at = redirect.updated_at.max(now);
                taken += 1;
            }
            Ok(taken)
        })
    }

    async fn delete_group(
        &mut self,
        account: AccountId,
        id: GroupId,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        self.write(|state| {
            let Some(owned) = state.owned_mut(account) else { return Ok(false) };
            for redirect in owned.redirects.values_mut().filter(|redirect| redirect.group_id == Some(id)) {
                redirect.group_id = None;
                redirect.updated_at = redirect.updated_at.max(now);
            }
            Ok(owned.groups.remove(&id).is_some())
        })
    }
}

#[async_trait]
impl LinkWrites for MemoryUnitOfWork {
    async fn lock_redirect(
        &mut self,
        account: AccountId,
        id: RedirectId,
    ) -> Result<Option<Redirect>, StoreError> {
        self.write(|state| Ok(state.owned(account).and_then(|owned| owned.redirects.get(&id).cloned())))
    }

    async fn insert_redirect(
        &mut self,
        account: AccountId,
        redirect: &Redirect,
        links_limit: u64,
    ) -> Result<(), InsertRedirectError> {
        self.write(|state| {
            if state.has_redirect(redirect.id) {
                return Err(twice(redirect.id).into());
            }
            let is_taken = state.is_taken_from(redirect);
            let Some(owned) = state.owned_mut(account) else {
                let named_a_group = redirect.group_id.is_some();
                return Err(if named_a_group {
                    InsertRedirectError::GroupMissing
                } else {
                    InsertRedirectError::AccountMissing
                });
            };
            if !owned.has_group_of(redirect) {
                return Err(InsertRedirectError::GroupMissing);
            }
            if owned.usage().links >= links_limit {
                return Err(InsertRedirectError::LimitReached);
            }
            if is_taken {
                return Err(InsertRedirectError::AddressTaken);
            }
            owned.redirects.insert(redirect.id, redirect.clone());
            Ok(())
        })
    }

    async fn update_redirect(
        &mut self,
        account: AccountId,
        before: &Redirect,
        after: &Redirect,
    ) -> Result<(), UpdateRedirectError> {
        self.write(|state| {
            let is_taken = state.is_taken_from(after);
            let owned = state.owned_mut(account).ok_or_else(|| no_account(account))?;
            if !owned.has_group_of(after) {
                return Err(UpdateRedirectError::GroupMissing);
            }
            let kept = owned.redirects.get(&after.id).ok_or_else(|| absent(after.id))?;
            if kept != before {
                let reason = format!("the unit of work did not lock {} in the state that it gives", after.id);
                return Err(StoreError::unavailable(reason).into());
            }
            if is_taken {
                return Err(UpdateRedirectError::AddressTaken);
            }
            owned.redirects.insert(after.id, after.clone());
            Ok(())
        })
    }

    async fn delete_redirect(&mut self, account: AccountId, id: RedirectId) -> Result<bool, StoreError> {
        self.write(|state| {
            let Some(owned) = state.owned_mut(account) else { return Ok(false) };
            Ok(owned.redirects.remove(&id).is_some())
        })
    }

    async fn delete_some_links(&mut self, account: AccountId, at_most: u16) -> Result<u16, StoreError> {
        self.write(|state| {
            let Some(owned) = state.owned_mut(account) else { return Ok(0) };
            let mut deleted = 0;
            while deleted < at_most && owned.redirects.pop_first().is_some() {
                deleted += 1;
            }
            Ok(deleted)
        })
    }
}

fn absent(id: impl std::fmt::Display) -> StoreError {
    StoreError::unavailable(format!("there is no {id} to be written"))
}
