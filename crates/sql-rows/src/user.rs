//! Rows of `users`.

use diesel::prelude::*;
use signpost_domain::analytics::TimeZone;
use signpost_domain::{DateLanguage, Email, Name, PasswordHash, Preferences, Theme, User};

use crate::Corrupt;
use crate::cell::own_id;
use crate::columns::{IdBytes, Instant, StoredId};
use crate::listed::Listed;
use crate::schema::users;
use crate::second_factor::SecondFactorCells;

/// The table, as the migrations of both databases leave it. If only one database has a column, its comment
/// names the database.
#[allow(missing_docs, clippy::wildcard_imports, reason = "diesel writes tables like this")]
pub(crate) mod table {
    diesel::table! {
        use diesel::sql_types::*;

        use crate::sql_types::*;

        users (id) {
            id -> Identifier,
            email -> Text,
            email_key -> Text,
            name -> Nullable<Text>,
            password_hash -> Nullable<Text>,
            totp_seed -> Nullable<Binary>,
            totp_last_step -> Nullable<BigInt>,
            recovery_codes -> Nullable<Binary>,
            second_factor_at -> Nullable<Moment>,
            is_operator -> Bool,
            disabled_at -> Nullable<Moment>,
            time_zone -> Text,
            theme -> Text,
            date_language -> Text,
            has_shortcuts -> Bool,
            created_at -> Moment,
        }
    }
}

const TABLE: &str = "users";

/// A user as it is read.
#[derive(Debug, Queryable, Selectable)]
#[diesel(table_name = users, check_for_backend(diesel::pg::Pg, diesel::sqlite::Sqlite))]
pub struct UserRow {
    id: StoredId,
    email: String,
    name: Option<String>,
    password_hash: Option<String>,
    totp_seed: Option<Vec<u8>>,
    totp_last_step: Option<i64>,
    recovery_codes: Option<Vec<u8>>,
    second_factor_at: Option<Instant>,
    is_operator: bool,
    disabled_at: Option<Instant>,
    time_zone: String,
    theme: String,
    date_language: String,
    has_shortcuts: bool,
    created_at: Instant,
}

impl UserRow {
    /// The row as a value of the domain. A time zone of another release of the time zone database reads as UTC, so that its user
    /// can still sign in.
    pub fn into_user(self) -> Result<User, Corrupt> {
        let Self {
            id,
            email,
            name,
            password_hash,
            totp_seed,
            totp_last_step,
            recovery_codes,
            second_factor_at,
            is_operator,
            disabled_at,
            time_zone,
            theme,
            date_language,
            has_shortcuts,
            created_at,
        } = self;
        let (id, row) = own_id(TABLE, &id)?;
        let second_factor =
            SecondFactorCells { totp_seed, totp_last_step, recovery_codes, second_factor_at }.read(&row)?;
        let language = DateLanguage::from_tag(&date_language).ok_or("is not a language of dates");
        Ok(User {
            id,
            email: row.cell("email", Email::from_stored(email))?,
            name: name.map(|name| row.cell("name", Name::from_stored(name))).transpose()?,
            password: password_hash
                .map(|hash| row.cell("password_hash", PasswordHash::from_stored(hash)))
                .transpose()?,
            second_factor,
            is_operator,
            disabled_at: disabled_at.map(|at| row.timestamp("disabled_at", at)).transpose()?,
            preferences: Preferences {
                time_zone: TimeZone::parse(&time_zone).unwrap_or_else(|_| TimeZone::utc()),
                theme: row.cell("theme", Theme::from_stored(&theme))?,
                date_language: row.cell("date_language", language)?,
                has_shortcuts,
            },
            created_at: row.timestamp("created_at", created_at)?,
        })
    }
}

impl Listed for UserRow {
    type Item = User;

    fn id(&self) -> &StoredId {
        &self.id
    }

    fn read(self) -> Result<User, Corrupt> {
        self.into_user()
    }
}

/// A user as it is inserted.
#[derive(Debug, Insertable)]
#[diesel(table_name = users)]
pub struct NewUser<'a> {
    id: IdBytes,
    created_at: Instant,
    #[diesel(embed)]
    changeable: ChangedUser<'a>,
}

/// The columns of a user that an update writes.
#[derive(Debug, Insertable, AsChangeset)]
#[diesel(table_name = users, treat_none_as_default_value = false, treat_none_as_null = true)]
pub struct ChangedUser<'a> {
    email: &'a str,
    email_key: String,
    name: Option<&'a str>,
    password_hash: Option<&'a str>,
    totp_seed: Option<Vec<u8>>,
    totp_last_step: Option<i64>,
    recovery_codes: Option<Vec<u8>>,
    second_factor_at: Option<Instant>,
    is_operator: bool,
    disabled_at: Option<Instant>,
    time_zone: &'a str,
    theme: &'a str,
    date_language: &'a str,
    has_shortcuts: bool,
}

impl<'a> From<&'a User> for NewUser<'a> {
    fn from(user: &'a User) -> Self {
        Self { id: user.id.into(), created_at: user.created_at.into(), changeable: user.into() }
    }
}

impl<'a> From<&'a User> for ChangedUser<'a> {
    fn from(user: &'a User) -> Self {
        let User {
            id: _,
            email,
            name,
            password,
            second_factor,
            is_operator,
            disabled_at,
            preferences: Preferences { time_zone, theme, date_language, has_shortcuts },
            created_at: _,
        } = user;
        let SecondFactorCells { totp_seed, totp_last_step, recovery_codes, second_factor_at } =
            second_factor.as_ref().map(SecondFactorCells::from).unwrap_or_default();
        Self {
            email: email.as_str(),
            email_key: email.comparison_key(),
            name: name.as_ref().map(Name::as_str),
            password_hash: password.as_ref().map(PasswordHash::as_str),
            totp_seed,
            totp_last_step,
            recovery_codes,
            second_factor_at,
            is_operator: *is_operator,
            disabled_at: disabled_at.map(Instant::from),
            time_zone: time_zone.name(),
            theme: theme.as_str(),
            date_language: date_language.tag(),
            has_shortcuts: *has_shortcuts,
        }
    }
}
