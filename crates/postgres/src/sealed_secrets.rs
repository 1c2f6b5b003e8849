//! Sealing secrets again.

use async_trait::async_trait;
use diesel::prelude::*;
use diesel::sql_types::{Binary, Bool, Text};
use diesel_async::RunQueryDsl;
use signpost_app::ports::{SealedSecrets, StoreError, StoredAuthorityAccount};
use signpost_domain::{Hostname, SealedSecret, UserId};

use crate::schema::certificate_authorities;
use crate::statement::statement;
use crate::store::PostgresStore;
use signpost_sql_rows::certificate_order::AuthorityRow;
use signpost_sql_rows::columns::IdBytes;
use signpost_sql_rows::sql_types::Identifier;

statement! {
    /// Replaces the sealed credentials of an account at an authority.
    ResealAccount<'a> -> Bool {
        directory: &'a str => Text,
        from: &'a [u8] => Binary,
        to: &'a [u8] => Binary,
    } =
    "UPDATE certificate_authorities SET credentials = $3 WHERE directory = $1 AND credentials = $2"
}

statement! {
    /// Replaces the sealed key of a served certificate.
    ResealCertificate<'a> -> Bool {
        hostname: &'a str => Text,
        from: &'a [u8] => Binary,
        to: &'a [u8] => Binary,
    } =
    "UPDATE certificates SET sealed_key = $3 WHERE hostname = $1 AND sealed_key = $2"
}

statement! {
    /// Replaces the sealed seed of a user's second factor.
    ResealSecondFactor<'a> -> Bool {
        user: IdBytes => Identifier,
        from: &'a [u8] => Binary,
        to: &'a [u8] => Binary,
    } =
    "UPDATE users SET totp_seed = $3 WHERE id = $1 AND totp_seed = $2"
}

#[async_trait]
impl SealedSecrets for PostgresStore {
    async fn authority_accounts(&self) -> Result<Vec<(String, StoredAuthorityAccount)>, StoreError> {
        self.read(async |connection| {
            let rows: Vec<(String, AuthorityRow)> = certificate_authorities::table
                .order(certificate_authorities::directory)
                .select((certificate_authorities::directory, AuthorityRow::as_select()))
                .load(connection)
                .await?;
            Ok(AuthorityRow::into_accounts(rows))
        })
        .await
    }

    async fn reseal_account(
        &self,
        directory: &str,
        from: &SealedSecret,
        to: &SealedSecret,
    ) -> Result<bool, StoreError> {
        let reseal = ResealAccount { directory, from: &from.0, to: &to.0 };
        self.change(async |connection| Ok(reseal.execute(connection).await? > 0)).await
    }

    async fn reseal_certificate(
        &self,
        hostname: &Hostname,
        from: &SealedSecret,
        to: &SealedSecret,
    ) -> Result<bool, StoreError> {
        let reseal = ResealCertificate { hostname: hostname.as_str(), from: &from.0, to: &to.0 };
        self.change(async |connection| Ok(reseal.execute(connection).await? > 0)).await
    }

    async fn reseal_second_factor(
        &self,
        user: UserId,
        from: &SealedSecret,
        to: &SealedSecret,
    ) -> Result<bool, StoreError> {
        let reseal = ResealSecondFactor { user: user.into(), from: &from.0, to: &to.0 };
        self.change(async |connection| Ok(reseal.execute(connection).await? > 0)).await
    }
}
