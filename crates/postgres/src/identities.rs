//! The identities of users at identity providers.

use async_trait::async_trait;
use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use signpost_app::ports::{Binding, BoundIdentity, IdentityReads, IdentityWrites, StoreError};
use signpost_domain::{ExternalIdentity, Issuer, Timestamp, User, UserId};
use signpost_sql_rows::columns::IdBytes;
use signpost_sql_rows::identity::{IdentityRow, NewIdentity, binding_to_identity_of};
use signpost_sql_rows::user::UserRow;

use crate::failure::Failure;
use crate::people_writes::holds_user;
use crate::schema::{identities, users};
use crate::store::PostgresStore;
use crate::unit_of_work::PostgresUnitOfWork;

#[async_trait]
impl IdentityReads for PostgresStore {
    async fn user_with_identity(&self, identity: &ExternalIdentity) -> Result<Option<User>, StoreError> {
        let ExternalIdentity { issuer, subject } = identity;
        self.read(async |connection| {
            let found = identities::table
                .inner_join(users::table)
                .filter(identities::issuer.eq(issuer.as_str()))
                .filter(identities::subject.eq(subject.as_str()))
                .select(UserRow::as_select())
                .first(connection)
                .await
                .optional()?;
            Ok(found.map(UserRow::into_user).transpose()?)
        })
        .await
    }

    async fn identity_of(&self, user: UserId, issuer: &Issuer) -> Result<Option<BoundIdentity>, StoreError> {
        self.read(async |connection| {
            let found = identities::table
                .filter(identities::user_id.eq(IdBytes::from(user)))
                .filter(identities::issuer.eq(issuer.as_str()))
                .select(IdentityRow::as_select())
                .first(connection)
                .await
                .optional()?;
            Ok(found.map(IdentityRow::into_bound).transpose()?)
        })
        .await
    }
}

#[async_trait]
impl IdentityWrites for PostgresUnitOfWork {
    async fn bind_identity(
        &mut self,
        user: UserId,
        identity: &ExternalIdentity,
        at: Timestamp,
    ) -> Result<Binding, StoreError> {
        let (issuer, subject) = (identity.issuer.as_str(), identity.subject.as_str());
        self.step(async |connection| {
            let id = IdBytes::from(user);
            if !holds_user(connection, id).await? {
                return Ok(Binding::NoSuchUser);
            }
            // Waits for a concurrent binding that excludes this one.
            let inserted = diesel::insert_into(identities::table)
                .values(NewIdentity::of(user, identity, at))
                .on_conflict_do_nothing()
                .execute(connection)
                .await?;
            if inserted > 0 {
                return Ok(Binding::Bound);
            }
            let holder = identities::table.find((issuer, subject)).select(identities::user_id);
            if let Some(holder) = holder.first::<IdBytes>(connection).await.optional()? {
                return Ok(binding_to_identity_of(holder.id(), user));
            }
            let own = identities::table.filter(identities::user_id.eq(id));
            let own = own.filter(identities::issuer.eq(issuer)).select(identities::subject);
            match own.first::<String>(connection).await.optional()? {
                Some(_) => Ok(Binding::HasAnother),
                // The identity in the way was unbound since; the next attempt finds nothing in the way.
                None => Err(Failure::Contended),
            }
        })
        .await
    }

    async fn has_identity(&mut self, user: UserId, identity: &ExternalIdentity) -> Result<bool, StoreError> {
        self.step(async |connection| {
            let held = identities::table
                .find((identity.issuer.as_str(), identity.subject.as_str()))
                .filter(identities::user_id.eq(IdBytes::from(user)))
                .select(identities::subject);
            Ok(held.first::<String>(connection).await.optional()?.is_some())
        })
        .await
    }

    async fn unbind_identity(&mut self, user: UserId, issuer: &Issuer) -> Result<bool, StoreError> {
        self.step(async |connection| {
            let own = identities::table.filter(identities::user_id.eq(IdBytes::from(user)));
            let own = own.filter(identities::issuer.eq(issuer.as_str()));
            Ok(diesel::delete(own).execute(connection).await? > 0)
        })
        .await
    }

    async fn unbind_identities(&mut self, user: UserId) -> Result<u64, StoreError> {
        self.step(async |connection| {
            let own = identities::table.filter(identities::user_id.eq(IdBytes::from(user)));
            Ok(u64::try_from(diesel::delete(own).execute(connection).await?).unwrap_or(u64::MAX))
        })
        .await
    }
}
