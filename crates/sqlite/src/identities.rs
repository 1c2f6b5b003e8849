//! The identities of users at identity providers.

use async_trait::async_trait;
use diesel::dsl::exists;
use diesel::prelude::*;
use signpost_app::ports::{Binding, BoundIdentity, IdentityReads, IdentityWrites, StoreError};
use signpost_domain::{ExternalIdentity, Issuer, Timestamp, User, UserId};
use signpost_sql_rows::columns::{IdBytes, StoredId};
use signpost_sql_rows::identity::{IdentityRow, NewIdentity, binding_to_identity_of};
use signpost_sql_rows::user::UserRow;

use crate::schema::{identities, users};
use crate::sql_errors::refers_to_nothing;
use crate::store::SqliteStore;
use crate::unit_of_work::SqliteUnitOfWork;

#[async_trait]
impl IdentityReads for SqliteStore {
    async fn user_with_identity(&self, identity: &ExternalIdentity) -> Result<Option<User>, StoreError> {
        let ExternalIdentity { issuer, subject } = identity.clone();
        let read = move |connection: &mut SqliteConnection| {
            let found = identities::table
                .inner_join(users::table)
                .filter(identities::issuer.eq(issuer.as_str()))
                .filter(identities::subject.eq(subject.as_str()))
                .select(UserRow::as_select())
                .first(connection)
                .optional()?;
            Ok(found.map(UserRow::into_user).transpose()?)
        };
        self.readers().read(read).await
    }

    async fn identity_of(&self, user: UserId, issuer: &Issuer) -> Result<Option<BoundIdentity>, StoreError> {
        let issuer = issuer.clone();
        let read = move |connection: &mut SqliteConnection| {
            let found = identities::table
                .filter(identities::user_id.eq(IdBytes::from(user)))
                .filter(identities::issuer.eq(issuer.as_str()))
                .select(IdentityRow::as_select())
                .first(connection)
                .optional()?;
            Ok(found.map(IdentityRow::into_bound).transpose()?)
        };
        self.readers().read(read).await
    }
}

#[async_trait]
impl IdentityWrites for SqliteUnitOfWork {
    async fn bind_identity(
        &mut self,
        user: UserId,
        identity: &ExternalIdentity,
        at: Timestamp,
    ) -> Result<Binding, StoreError> {
        let identity = identity.clone();
        let step = move |connection: &mut SqliteConnection| {
            let row = NewIdentity::of(user, &identity, at);
            let inserted = diesel::insert_into(identities::table)
                .values(row)
                .on_conflict_do_nothing()
                .execute(connection);
            match inserted {
                Err(error) if refers_to_nothing(&error) => return Ok(Binding::NoSuchUser),
                Err(error) => return Err(error.into()),
                Ok(0) => {}
                Ok(_) => return Ok(Binding::Bound),
            }
            // There is one writer.
            let holder = identities::table
                .find((identity.issuer.as_str(), identity.subject.as_str()))
                .select(identities::user_id)
                .first::<StoredId>(connection)
                .optional()?;
            Ok(match holder {
                Some(holder) => binding_to_identity_of(UserId::from_bytes(holder.bytes("identities")?), user),
                None => Binding::HasAnother,
            })
        };
        self.step(step).await
    }

    async fn has_identity(&mut self, user: UserId, identity: &ExternalIdentity) -> Result<bool, StoreError> {
        let identity = identity.clone();
        let step = move |connection: &mut SqliteConnection| {
            let held = identities::table
                .find((identity.issuer.as_str(), identity.subject.as_str()))
                .filter(identities::user_id.eq(IdBytes::from(user)));
            Ok(diesel::select(exists(held)).get_result(connection)?)
        };
        self.step(step).await
    }

    async fn unbind_identity(&mut self, user: UserId, issuer: &Issuer) -> Result<bool, StoreError> {
        let issuer = issuer.clone();
        let step = move |connection: &mut SqliteConnection| {
            let own = identities::table.filter(identities::user_id.eq(IdBytes::from(user)));
            let own = own.filter(identities::issuer.eq(issuer.as_str()));
            Ok(diesel::delete(own).execute(connection)? > 0)
        };
        self.step(step).await
    }

    async fn unbind_identities(&mut self, user: UserId) -> Result<u64, StoreError> {
        let step = move |connection: &mut SqliteConnection| {
            let own = identities::table.filter(identities::user_id.eq(IdBytes::from(user)));
            Ok(u64::try_from(diesel::delete(own).execute(connection)?).unwrap_or(u64::MAX))
        };
        self.step(step).await
    }
}
