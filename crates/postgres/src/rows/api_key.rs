//! Rows of `api_keys`.

use diesel::prelude::*;
use signpost_domain::{ApiKey, KeyHash, Name};

use super::cell::RowName;
use crate::columns::{IdBytes, Instant};
use crate::failure::Failure;
use crate::listed::Listed;
use crate::schema::api_keys;

const TABLE: &str = "api_keys";

/// A key as it is read.
#[derive(Queryable, Selectable)]
#[diesel(table_name = api_keys, check_for_backend(diesel::pg::Pg))]
pub(crate) struct ApiKeyRow {
    id: IdBytes,
    account_id: IdBytes,
    name: Option<String>,
    hash: Vec<u8>,
    last_four: String,
    created_at: Instant,
    revoked_at: Option<Instant>,
}

impl ApiKeyRow {
    pub(crate) fn into_api_key(self) -> Result<ApiKey, Failure> {
        let Self { id, account_id, name, hash, last_four, created_at, revoked_at } = self;
        let id = id.id();
        let row = RowName::new(TABLE, id);
        let hash = <[u8; 32]>::try_from(hash).map_err(|_| "does not have 32 bytes");
        Ok(ApiKey {
            id,
            account_id: account_id.id(),
            name: name.map(|name| row.cell("name", Name::from_stored(name))).transpose()?,
            hash: KeyHash::from_bytes(row.cell("hash", hash)?),
            last_four,
            created_at: row.timestamp("created_at", created_at)?,
            revoked_at: revoked_at.map(|at| row.timestamp("revoked_at", at)).transpose()?,
        })
    }
}

impl Listed for ApiKeyRow {
    type Item = ApiKey;

    fn id(&self) -> IdBytes {
        self.id
    }

    fn read(self) -> Result<ApiKey, Failure> {
        self.into_api_key()
    }
}

/// A key as it is inserted.
#[derive(Insertable)]
#[diesel(table_name = api_keys, treat_none_as_default_value = false)]
pub(crate) struct NewApiKey<'a> {
    id: IdBytes,
    account_id: IdBytes,
    name: Option<&'a str>,
    hash: Vec<u8>,
    last_four: &'a str,
    created_at: Instant,
    revoked_at: Option<Instant>,
}

impl<'a> From<&'a ApiKey> for NewApiKey<'a> {
    fn from(key: &'a ApiKey) -> Self {
        let ApiKey { id, account_id, name, hash, last_four, created_at, revoked_at } = key;
        Self {
            id: (*id).into(),
            account_id: (*account_id).into(),
            name: name.as_ref().map(Name::as_str),
            hash: hash.to_bytes().to_vec(),
            last_four,
            created_at: (*created_at).into(),
            revoked_at: revoked_at.map(Instant::from),
        }
    }
}
