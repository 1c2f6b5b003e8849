//! Rows of `api_keys`.

use diesel::prelude::*;
use signpost_domain::{ApiKey, KeyHash, Name, PermissionSet};

use crate::Corrupt;
use crate::cell::own_id;
use crate::columns::{IdBytes, Instant, StoredId};
use crate::listed::Listed;
use crate::schema::api_keys;

/// The table, as the migrations of both databases leave it. If only one database has a column, its comment
/// names the database.
#[allow(missing_docs, clippy::wildcard_imports, reason = "diesel writes tables like this")]
pub(crate) mod table {
    diesel::table! {
        use diesel::sql_types::*;

        use crate::sql_types::*;

        api_keys (id) {
            id -> Identifier,
            account_id -> Identifier,
            name -> Nullable<Text>,
            hash -> Binary,
            last_four -> Text,
            created_at -> Moment,
            revoked_at -> Nullable<Moment>,
            created_by -> Nullable<Identifier>,
            last_used_at -> Nullable<Moment>,
            expires_at -> Nullable<Moment>,
            scopes -> Nullable<SmallInt>,
        }
    }
}

const TABLE: &str = "api_keys";

/// A key as it is read.
#[derive(Debug, Queryable, Selectable)]
#[diesel(table_name = api_keys, check_for_backend(diesel::pg::Pg, diesel::sqlite::Sqlite))]
pub struct ApiKeyRow {
    id: StoredId,
    account_id: StoredId,
    name: Option<String>,
    hash: Vec<u8>,
    last_four: String,
    created_at: Instant,
    revoked_at: Option<Instant>,
    created_by: Option<StoredId>,
    last_used_at: Option<Instant>,
    expires_at: Option<Instant>,
    scopes: Option<i16>,
}

impl ApiKeyRow {
    /// The row as a value of the domain.
    pub fn into_api_key(self) -> Result<ApiKey, Corrupt> {
        let Self {
            id,
            account_id,
            name,
            hash,
            last_four,
            created_at,
            revoked_at,
            created_by,
            last_used_at,
            expires_at,
            scopes,
        } = self;
        let (id, row) = own_id(TABLE, &id)?;
        let scopes =
            scopes.map(|bits| row.cell("scopes", u8::try_from(bits).map_err(|_| "is not a set of scopes")));
        let hash = <[u8; 32]>::try_from(hash).map_err(|_| "does not have 32 bytes");
        Ok(ApiKey {
            id,
            account_id: row.id("account_id", &account_id)?,
            name: name.map(|name| row.cell("name", Name::from_stored(name))).transpose()?,
            hash: KeyHash::from_bytes(row.cell("hash", hash)?),
            last_four,
            created_at: row.timestamp("created_at", created_at)?,
            revoked_at: revoked_at.map(|at| row.timestamp("revoked_at", at)).transpose()?,
            created_by: created_by.map(|id| row.id("created_by", &id)).transpose()?,
            last_used_at: last_used_at.map(|at| row.timestamp("last_used_at", at)).transpose()?,
            expires_at: expires_at.map(|at| row.timestamp("expires_at", at)).transpose()?,
            scopes: scopes.transpose()?.map(PermissionSet::from_stored_scopes),
        })
    }
}

impl Listed for ApiKeyRow {
    type Item = ApiKey;

    fn id(&self) -> &StoredId {
        &self.id
    }

    fn read(self) -> Result<ApiKey, Corrupt> {
        self.into_api_key()
    }
}

/// A key as it is inserted.
#[derive(Debug, Insertable)]
#[diesel(table_name = api_keys, treat_none_as_default_value = false)]
pub struct NewApiKey<'a> {
    id: IdBytes,
    account_id: IdBytes,
    name: Option<&'a str>,
    hash: Vec<u8>,
    last_four: &'a str,
    created_at: Instant,
    revoked_at: Option<Instant>,
    created_by: Option<IdBytes>,
    last_used_at: Option<Instant>,
    expires_at: Option<Instant>,
    scopes: Option<i16>,
}

impl<'a> From<&'a ApiKey> for NewApiKey<'a> {
    fn from(key: &'a ApiKey) -> Self {
        let ApiKey {
            id,
            account_id,
            name,
            hash,
            last_four,
            created_at,
            revoked_at,
            created_by,
            last_used_at,
            expires_at,
            scopes,
        } = key;
        Self {
            id: (*id).into(),
            account_id: (*account_id).into(),
            name: name.as_ref().map(Name::as_str),
            hash: hash.to_bytes().to_vec(),
            last_four,
            created_at: (*created_at).into(),
            revoked_at: revoked_at.map(Instant::from),
            created_by: created_by.map(IdBytes::from),
            last_used_at: last_used_at.map(Instant::from),
            expires_at: expires_at.map(Instant::from),
            scopes: scopes.map(|scopes| scopes.to_bits().into()),
        }
    }
}
