//! When a link works, where it leads afterwards, what it does now (D128), and whether it asks for a password (D131). Landing pages
//! and redirects share these fields.

use signpost_domain::{Content, Life, LifeRequest, Link, LinkState, Schedule, TargetUrl, Timestamp};
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, SchemaFormat};

use super::link_password::has_password_shown;
use crate::extract::{Action, Field, ObjectReader, field, text};
use crate::schema::{
    examples, matching, one_of_known, shown, string, target_url_pattern, timestamp, web_url_shown,
};
use crate::wire::Text;

shown! {
    /// The life of a link in a response.
    pub(super) struct LifeBody {
        state: &'static str = state(),
        starts_at: Option<Text<Timestamp>> =
            timestamp("When the link starts to work; UTC, with milliseconds. Null: it has no start.")
                .examples([examples::STARTS_AT]),
        expires_at: Option<Text<Timestamp>> =
            timestamp("When the link ends; UTC, with milliseconds. Null: it has no end.")
                .examples([examples::EXPIRES_AT]),
        fallback_url: Option<String> = web_url_shown(
            "Where visitors are sent once the link has ended, exactly as it was sent. Null: to the domain's `expired_url`, if there \
             is one.",
        )
        .examples([examples::FALLBACK_URL]),
        has_password: bool = has_password_shown(),
    }
}

impl LifeBody {
    /// The life of a link, with its state at `now`.
    pub(super) fn new<C: Content>(link: &Link<C>, now: Timestamp) -> Self {
        let Life { schedule, fallback_url } = &link.life;
        Self {
            state: link.state(now).as_str(),
            starts_at: schedule.starts_at().map(Text),
            expires_at: schedule.expires_at().map(Text),
            fallback_url: fallback_url.as_ref().map(|url| url.as_str().to_owned()),
            has_password: link.has_password,
        }
    }
}

/// The list is open (contract "Conventions").
fn state() -> ObjectBuilder {
    let description = "What the link does now: the first of these that applies. `lost`: its domain was removed. `inactive`: `is_active` \
        is false. `domain_inactive`: its domain is not active. `scheduled`: `starts_at` is still to come. `expired`: `expires_at` has \
        passed. `exhausted`: no click of `max_clicks` is left. `active`: none of these. An open list.";
    one_of_known(string(description), LinkState::ALL.map(LinkState::as_str))
}

/// Reads the fields.
pub(super) fn read(body: &mut ObjectReader<'_>, action: Action) -> LifeRequest {
    LifeRequest {
        starts_at: body.nullable(starts_at(action)),
        expires_at: body.nullable(expires_at(action)),
        fallback_url: body.nullable(fallback_url(action)),
    }
}

fn starts_at(action: Action) -> impl Field<Timestamp> {
    let what = "When the link starts to work. Before that, visitors get the same 404 page as without a link.";
    instant(Schedule::STARTS_AT, what, examples::STARTS_AT, action, "it works at once")
}

fn expires_at(action: Action) -> impl Field<Timestamp> {
    let what = "When the link ends, later than `starts_at`. From then on, visitors are sent to `fallback_url`, or else to the \
                domain's `expired_url`; without both, they get a 410 page.";
    instant(Schedule::EXPIRES_AT, what, examples::EXPIRES_AT, action, "it does not end")
}

/// One of the instants. It may be in the past.
fn instant(
    name: &'static str,
    what: &'static str,
    example: &'static str,
    action: Action,
    without: &'static str,
) -> impl Field<Timestamp> {
    field(name, text(Timestamp::parse), move || {
        let of_null = of_null(action, without);
        string(&format!(
            "{what} With `Z` or an offset; digits below a millisecond are cut off. It may be in the past. {of_null}"
        ))
        .format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)))
        .examples([example])
    })
}

/// `fallback_url` (D24)
fn fallback_url(action: Action) -> impl Field<TargetUrl> {
    field(Life::FALLBACK_URL, text(TargetUrl::parse), move || {
        let of_null = of_null(action, "there is none");
        let description = format!(
            "Where visitors are sent once the link has ended. An absolute `http` or `https` URL by the rules of a redirect's \
             `target_url`, and not the link's own address. {of_null}"
        );
        matching(string(&description), target_url_pattern())
            .format(Some(SchemaFormat::Custom("http-url".to_owned())))
            .max_length(Some(TargetUrl::MAX_CHARS))
            .examples([examples::FALLBACK_URL])
    })
}

/// What null means, and what a creation does without the field.
fn of_null(action: Action, without: &str) -> String {
    match action {
        Action::Create => format!("Left out or null: {without}."),
        Action::Put | Action::Update => format!("Null: {without}."),
    }
}
