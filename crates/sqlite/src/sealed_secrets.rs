//! Sealing secrets again.

use async_trait::async_trait;
use diesel::prelude::*;
use signpost_app::ports::{SealedSecrets, StoreError, StoredAuthorityAccount};
use signpost_domain::{Hostname, SealedSecret, UserId};

use crate::schema::{certificate_authorities, certificates, users};
use crate::store::SqliteStore;
use signpost_sql_rows::certificate_order::AuthorityRow;
use signpost_sql_rows::columns::IdBytes;

#[async_trait]
impl SealedSecrets for SqliteStore {
    async fn authority_accounts(&self) -> Result<Vec<(String, StoredAuthorityAccount)>, StoreError> {
        let read = |connection: &mut SqliteConnection| {
            let rows: Vec<(String, AuthorityRow)> = certificate_authorities::table
                .order(certificate_authorities::directory)
                .select((certificate_authorities::directory, AuthorityRow::as_select()))
                .load(connection)?;
            Ok(AuthorityRow::into_accounts(rows))
        };
        self.readers().read(read).await
    }

    async fn reseal_account(
        &self,
        directory: &str,
        from: &SealedSecret,
        to: &SealedSecret,
    ) -> Result<bool, StoreError> {
        let (directory, from, to) = (directory.to_owned(), from.0.clone(), to.0.clone());
        let replace = move |connection: &mut SqliteConnection| {
            let row = certificate_authorities::table
                .find(directory)
                .filter(certificate_authorities::credentials.eq(from));
            Ok(diesel::update(row).set(certificate_authorities::credentials.eq(to)).execute(connection)? > 0)
        };
        self.write(replace).await
    }

    async fn reseal_certificate(
        &self,
        hostname: &Hostname,
        from: &SealedSecret,
        to: &SealedSecret,
    ) -> Result<bool, StoreError> {
        let (hostname, from, to) = (hostname.as_str().to_owned(), from.0.clone(), to.0.clone());
        let replace = move |connection: &mut SqliteConnection| {
            let row = certificates::table.find(hostname).filter(certificates::sealed_key.eq(from));
            Ok(diesel::update(row).set(certificates::sealed_key.eq(to)).execute(connection)? > 0)
        };
        self.write(replace).await
    }

    async fn reseal_second_factor(
        &self,
        user: UserId,
        from: &SealedSecret,
        to: &SealedSecret,
    ) -> Result<bool, StoreError> {
        let (from, to) = (from.0.clone(), to.0.clone());
        let replace = move |connection: &mut SqliteConnection| {
            let row = users::table.find(IdBytes::from(user)).filter(users::totp_seed.eq(from));
            Ok(diesel::update(row).set(users::totp_seed.eq(to)).execute(connection)? > 0)
        };
        self.write(replace).await
    }
}
