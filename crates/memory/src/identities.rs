//! The identities of users at identity providers.

use std::sync::Arc;

use async_trait::async_trait;
use signpost_app::ports::{Binding, BoundIdentity, IdentityReads, IdentityWrites, StoreError};
use signpost_domain::{ExternalIdentity, Issuer, Timestamp, User, UserId};

use crate::people::People;
use crate::store::MemoryStore;
use crate::unit_of_work::MemoryUnitOfWork;

impl People {
    /// The identity of a user at an issuer, with the instant of its binding.
    fn identity(&self, user: UserId, issuer: &Issuer) -> Option<(&ExternalIdentity, Timestamp)> {
        let mut all = self.identities.iter();
        let found = all.find(|(identity, (holder, _))| *holder == user && identity.issuer == *issuer);
        found.map(|(identity, (_, at))| (identity, *at))
    }
}

#[async_trait]
impl IdentityReads for MemoryStore {
    async fn user_with_identity(&self, identity: &ExternalIdentity) -> Result<Option<User>, StoreError> {
        self.read(|state| {
            let (user, _) = state.people.identities.get(identity)?;
            state.people.users.get(user).cloned()
        })
    }

    async fn identity_of(&self, user: UserId, issuer: &Issuer) -> Result<Option<BoundIdentity>, StoreError> {
        self.read(|state| {
            let (identity, bound_at) = state.people.identity(user, issuer)?;
            Some(BoundIdentity { subject: identity.subject.clone(), bound_at })
        })
    }
}

#[async_trait]
impl IdentityWrites for MemoryUnitOfWork {
    async fn bind_identity(
        &mut self,
        user: UserId,
        identity: &ExternalIdentity,
        at: Timestamp,
    ) -> Result<Binding, StoreError> {
        self.write(|state| {
            let people = &mut state.people;
            if !people.users.contains_key(&user) {
                return Ok(Binding::NoSuchUser);
            }
            if let Some((holder, _)) = people.identities.get(identity) {
                return Ok(if *holder == user { Binding::Bound } else { Binding::TakenByAnother });
            }
            if people.identity(user, &identity.issuer).is_some() {
                return Ok(Binding::HasAnother);
            }
            Arc::make_mut(&mut people.identities).insert(identity.clone(), (user, at));
            Ok(Binding::Bound)
        })
    }

    async fn has_identity(&mut self, user: UserId, identity: &ExternalIdentity) -> Result<bool, StoreError> {
        self.write(|state| {
            Ok(state.people.identities.get(identity).is_some_and(|(holder, _)| *holder == user))
        })
    }

    async fn unbind_identity(&mut self, user: UserId, issuer: &Issuer) -> Result<bool, StoreError> {
        self.write(|state| {
            let Some((identity, _)) = state.people.identity(user, issuer) else { return Ok(false) };
            let identity = identity.clone();
            Arc::make_mut(&mut state.people.identities).remove(&identity);
            Ok(true)
        })
    }

    async fn unbind_identities(&mut self, user: UserId) -> Result<u64, StoreError> {
        self.write(|state| {
            let before = state.people.identities.len();
            Arc::make_mut(&mut state.people.identities).retain(|_, (holder, _)| *holder != user);
            Ok(u64::try_from(before - state.people.identities.len()).unwrap_or(u64::MAX))
        })
    }
}
