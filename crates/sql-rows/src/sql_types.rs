//! The SQL types of columns that the databases store differently.

use diesel::query_builder::QueryId;
use diesel::sql_types::SqlType;

/// An identifier: `uuid` on PostgreSQL, 16 bytes on SQLite.
#[derive(Debug, Clone, Copy, Default, SqlType, QueryId)]
#[diesel(postgres_type(oid = 2950, array_oid = 2951), sqlite_type(name = "Binary"))]
pub struct Identifier;

/// An instant: `timestamptz` on PostgreSQL, milliseconds after the beginning of 1970 on SQLite.
#[derive(Debug, Clone, Copy, Default, SqlType, QueryId)]
#[diesel(postgres_type(oid = 1184, array_oid = 1185), sqlite_type(name = "Long"))]
pub struct Moment;

/// A list of identifiers: `uuid[]` on PostgreSQL, 16 consecutive bytes for each on SQLite.
#[derive(Debug, Clone, Copy, Default, SqlType, QueryId)]
#[diesel(postgres_type(oid = 2951, array_oid = 0), sqlite_type(name = "Binary"))]
pub struct IdentifierList;
