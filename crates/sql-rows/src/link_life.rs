//! The columns of rows of `links` about the life of a link (D128), and the column that also has the way of a redirect (D132),
//! its rules (D133) and its card (D135).

use diesel::prelude::*;
use diesel::sql_types::{Nullable, Text};
use signpost_domain::{
    AnyContent, Behaviour, Content as _, Life, Link, LinkKind, LinkPreview, Rules, Schedule, Way,
};

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

/// What the columns say.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ReadLife {
    /// When the link works.
    pub(crate) life: Life,
    /// How it sends its visitors on.
    pub(crate) way: Way,
    /// Which of them it sends elsewhere (D133).
    pub(crate) rules: Rules,
    /// The card that link previewers get (D135).
    pub(crate) preview: Option<LinkPreview>,
    /// Whether it asks them for a password. The hash is read only when they have typed one.
    pub(crate) has_password: bool,
}

impl LifeRow {
    /// The life of the link of this kind in this row, and what its visits do. A landing page has the default way, no rules and no
    /// card. A link that says that it is limited must have a limit: without it, it would send on any number of visits.
    pub(crate) fn read(self, row: &RowName, kind: LinkKind, has_limit: bool) -> Result<ReadLife, Corrupt> {
        let Self { starts_at, expires_at, behaviour } = self;
        let starts_at = starts_at.map(|instant| row.timestamp("starts_at", instant)).transpose()?;
        let expires_at = expires_at.map(|instant| row.timestamp("expires_at", instant)).transpose()?;
        let behaviour = behaviour.map(|json| row.cell("behaviour", Behaviour::from_json(&json)));
        // The limit itself is in a table of its own.
        let Behaviour { fallback_url, way, is_limited, has_password, rules, preview } =
            behaviour.transpose()?.unwrap_or_default();
        let is_landings = way == Way::default() && !is_limited && rules.is_empty() && preview.is_none();
        row.unused("behaviour", kind == LinkKind::Redirect || is_landings)?;
        if is_limited && !has_limit {
            return Err(row.corrupt("behaviour", "says that the link has a limit, which is missing"));
        }
        let life = Life { schedule: Schedule::from_stored(starts_at, expires_at), fallback_url };
        Ok(ReadLife { life, way, rules, preview, has_password })
    }
}

/// The column `behaviour` of a link; `None` for a plain one (ADR 81). Only redirects have a way, a limit, rules and a
/// card.
pub(crate) fn behaviour_column(link: &Link) -> Option<String> {
    let Life { schedule: _, fallback_url } = &link.life;
    let (way, rules, preview) = match &link.content {
        AnyContent::Landing => (Way::default(), Rules::default(), None),
        AnyContent::Redirect(redirect) => {
            (redirect.way.clone(), redirect.rules.clone(), redirect.preview.clone())
        }
    };
    let is_limited = link.content.click_limit().is_some();
    let has_password = link.has_password;
    Behaviour { fallback_url: fallback_url.clone(), way, is_limited, has_password, rules, preview }.to_json()
}

#[cfg(test)]
mod tests {
    use signpost_domain::{ClickLimit, MaxClicks, Redirect, RedirectStatus, Revision};
    use signpost_port_contracts::samples;

    use super::*;

    /// Most links are plain, so their rows must stay small.
    #[test]
    fn d128_d132_a_plain_life_and_way_are_stored_as_nulls() {
        let row = RowName::new("links", "a link");
        let try_to_read = |behaviour, has_limit| {
            let life = LifeRow { starts_at: None, expires_at: None, behaviour };
            let read = life.read(&row, LinkKind::Redirect, has_limit);
            read.map(|ReadLife { life, way, rules, preview: _, has_password: _ }| (life, way, rules))
        };
        let read = |behaviour| try_to_read(behaviour, false).unwrap();
        let plain = samples::redirect("plain");
        let column_of = |redirect: &Redirect| behaviour_column(&redirect.clone().into_any());
        assert_eq!(column_of(&plain), None);
        assert_eq!(behaviour_column(&samples::landing("plain").into_any()), None);
        assert_eq!(read(None), (Life::default(), Way::default(), Rules::default()));
        let fallback_url = Some(samples::target("https://example.com/over"));
        let life = Life { fallback_url, ..Life::default() };
        let living = Redirect { life: life.clone(), ..plain.clone() };
        assert_eq!(column_of(&living).as_deref(), Some(r#"{"fallback_url":"https://example.com/over"}"#));
        assert_eq!(read(column_of(&living)), (life.clone(), Way::default(), Rules::default()));
        let way = Way { redirect_status: RedirectStatus::PermanentRedirect, ..Way::default() };
        let permanent = plain.clone().with(|content| content.way = way.clone());
        assert_eq!(column_of(&permanent).as_deref(), Some(r#"{"redirect_status":308}"#));
        assert_eq!(read(column_of(&permanent)), (Life::default(), way.clone(), Rules::default()));
        let both = living.with(|content| content.way = way.clone());
        assert_eq!(read(column_of(&both)), (life, way, Rules::default()));
        let limit = MaxClicks::new(9).ok().map(|max| ClickLimit::new(max, 0, Revision::FIRST));
        let limited = column_of(&plain.with(|content| content.click_limit = limit));
        assert_eq!(limited.as_deref(), Some(r#"{"is_limited":true}"#), "ADR 85");
        assert_eq!(
            try_to_read(limited.clone(), true).unwrap(),
            (Life::default(), Way::default(), Rules::default())
        );
        assert_eq!(try_to_read(limited, false).unwrap_err().column, "behaviour");
    }

    #[test]
    fn d135_a_card_is_a_part_of_the_behaviour_of_redirects() {
        let row = RowName::new("links", "a link");
        let preview = samples::preview("Sale", None, None);
        let redirect = samples::redirect("card").with(|content| content.preview = Some(preview.clone()));
        let behaviour = behaviour_column(&redirect.into_any());
        assert_eq!(behaviour.as_deref(), Some(r#"{"preview":{"title":"Sale"}}"#));
        let life = || LifeRow { starts_at: None, expires_at: None, behaviour: behaviour.clone() };
        assert_eq!(life().read(&row, LinkKind::Redirect, false).unwrap().preview, Some(preview));
        assert_eq!(life().read(&row, LinkKind::Landing, false).unwrap_err().column, "behaviour");
    }

    /// D131: of both kinds.
    #[test]
    fn d131_a_password_is_one_flag_of_the_behaviour() {
        let row = RowName::new("links", "a link");
        let redirect = Redirect { has_password: true, ..samples::redirect("link") }.into_any();
        let landing = Link { has_password: true, ..samples::landing("page").into_any() };
        for (link, kind) in [(redirect, LinkKind::Redirect), (landing, LinkKind::Landing)] {
            let behaviour = behaviour_column(&link);
            assert_eq!(behaviour.as_deref(), Some(r#"{"has_password":true}"#));
            let life = LifeRow { starts_at: None, expires_at: None, behaviour };
            assert!(life.read(&row, kind, false).unwrap().has_password);
        }
    }
}
