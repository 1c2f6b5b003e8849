//! The columns of rows of `links` about the life of a link (D128).

use diesel::prelude::*;
use diesel::sql_types::{Nullable, Text};
use signpost_domain::{Behaviour, Life, Schedule};

use crate::Corrupt;
use crate::cell::RowName;
use crate::columns::Instant;
use crate::schema::links;
use crate::sql_types::Moment;

/// The columns of [`LifeRow`] for statements in plain SQL, in the order of its fields.
pub type LifeColumns = (Nullable<Moment>, Nullable<Moment>, Nullable<Text>);

/// The columns as they are read.
#[derive(Debug, Queryable, Selectable)]
#[diesel(table_name = links, check_for_backend(diesel::pg::Pg, diesel::sqlite::Sqlite))]
pub struct LifeRow {
    starts_at: Option<Instant>,
    expires_at: Option<Instant>,
    behaviour: Option<String>,
}

impl LifeRow {
    /// The life of the link in this row.
    pub(crate) fn into_life(self, row: &RowName) -> Result<Life, Corrupt> {
        let Self { starts_at, expires_at, behaviour } = self;
        let starts_at = starts_at.map(|instant| row.timestamp("starts_at", instant)).transpose()?;
        let expires_at = expires_at.map(|instant| row.timestamp("expires_at", instant)).transpose()?;
        let behaviour = behaviour.map(|json| row.cell("behaviour", Behaviour::from_json(&json)));
        let Behaviour { fallback_url } = behaviour.transpose()?.unwrap_or_default();
        Ok(Life { schedule: Schedule::from_stored(starts_at, expires_at), fallback_url })
    }
}

/// The column `behaviour` of a link; `None` for a plain one (ADR 81).
pub(crate) fn behaviour_column(life: &Life) -> Option<String> {
    let Life { schedule: _, fallback_url } = life;
    Behaviour { fallback_url: fallback_url.clone() }.to_json()
}

#[cfg(test)]
mod tests {
    use signpost_port_contracts::samples;

    use super::*;

    /// Most links are plain, so their rows must stay small.
    #[test]
    fn d128_a_plain_life_is_stored_as_nulls() {
        let row = RowName::new("links", "a link");
        let read =
            |behaviour| LifeRow { starts_at: None, expires_at: None, behaviour }.into_life(&row).unwrap();
        assert_eq!(behaviour_column(&Life::default()), None);
        assert_eq!(read(None), Life::default());
        let fallback_url = Some(samples::target("https://example.com/over"));
        let life = Life { fallback_url, ..Life::default() };
        let column = behaviour_column(&life);
        assert_eq!(column.as_deref(), Some(r#"{"fallback_url":"https://example.com/over"}"#));
        assert_eq!(read(column), life);
    }
}
