//! The columns of rows of `links` about the life of a link (D128), and the column that also has the way of a redirect (D132).

use diesel::prelude::*;
use diesel::sql_types::{Nullable, Text};
use signpost_domain::{Behaviour, Life, LinkKind, Schedule, Way};

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
    /// The life of the link of this kind in this row, and how it sends its visitors on. A landing page has the default way.
    pub(crate) fn into_life_and_way(self, row: &RowName, kind: LinkKind) -> Result<(Life, Way), Corrupt> {
        let Self { starts_at, expires_at, behaviour } = self;
        let starts_at = starts_at.map(|instant| row.timestamp("starts_at", instant)).transpose()?;
        let expires_at = expires_at.map(|instant| row.timestamp("expires_at", instant)).transpose()?;
        let behaviour = behaviour.map(|json| row.cell("behaviour", Behaviour::from_json(&json)));
        let Behaviour { fallback_url, way } = behaviour.transpose()?.unwrap_or_default();
        row.unused("behaviour", kind == LinkKind::Redirect || way == Way::default())?;
        Ok((Life { schedule: Schedule::from_stored(starts_at, expires_at), fallback_url }, way))
    }
}

/// The column `behaviour` of a link; `None` for a plain one (ADR 81). Only redirects have a way.
pub(crate) fn behaviour_column(life: &Life, way: Option<&Way>) -> Option<String> {
    let Life { schedule: _, fallback_url } = life;
    if fallback_url.is_none() && way.is_none_or(|way| *way == Way::default()) {
        return None;
    }
    Behaviour { fallback_url: fallback_url.clone(), way: way.cloned().unwrap_or_default() }.to_json()
}

#[cfg(test)]
mod tests {
    use signpost_domain::RedirectStatus;
    use signpost_port_contracts::samples;

    use super::*;

    /// Most links are plain, so their rows must stay small.
    #[test]
    fn d128_d132_a_plain_life_and_way_are_stored_as_nulls() {
        let row = RowName::new("links", "a link");
        let read = |behaviour| {
            LifeRow { starts_at: None, expires_at: None, behaviour }
                .into_life_and_way(&row, LinkKind::Redirect)
                .unwrap()
        };
        for way in [None, Some(&Way::default())] {
            assert_eq!(behaviour_column(&Life::default(), way), None);
        }
        assert_eq!(read(None), (Life::default(), Way::default()));
        let fallback_url = Some(samples::target("https://example.com/over"));
        let life = Life { fallback_url, ..Life::default() };
        let column = behaviour_column(&life, None);
        assert_eq!(column.as_deref(), Some(r#"{"fallback_url":"https://example.com/over"}"#));
        assert_eq!(read(column), (life.clone(), Way::default()));
        let way = Way { redirect_status: RedirectStatus::PermanentRedirect, ..Way::default() };
        let column = behaviour_column(&Life::default(), Some(&way));
        assert_eq!(column.as_deref(), Some(r#"{"redirect_status":308}"#));
        assert_eq!(read(column), (Life::default(), way.clone()));
        assert_eq!(read(behaviour_column(&life, Some(&way))), (life, way));
    }
}
