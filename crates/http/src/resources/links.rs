//! What landing pages and redirects have alike: their lists, and their deletion.

use actix_web::{HttpResponse, web};
use serde::Serialize;
use signpost_app::{Application, analytics, links};
use signpost_domain::analytics::RecentClicks;
use signpost_domain::id::{LandingKind, RedirectKind};
use signpost_domain::{Id, Link, LinkIdKind, Rejection, Timestamp};
use utoipa::openapi::schema::{ObjectBuilder, OneOfBuilder};

use super::landings::LandingBody;
use super::link_list_query::{self, LinkListQuery};
use super::redirects::RedirectBody;
use crate::api_error::ApiError;
use crate::bulk_outcome;
use crate::cursor::CursorScope;
use crate::extract::{Admitted, Field, NoInput, OnlyBody, OnlyQuery, PathId, batch, ids, properties};
use crate::remembered_answer::conclusion;
use crate::schema::{Components, Property, closed_object, count, examples, named, shown, timestamp};
use crate::wire::{self, BulkDeleteBody, DeletionBody, ListBody, Text};

/// What the endpoints of a kind of links say that those of the other do not.
pub(crate) trait LinkResource: LinkIdKind {
    /// The value of `object`.
    const OBJECT: &'static str;
    /// What the cursors of the kind's list are bound to (D11).
    const LIST: &'static str;
    /// The field that names the links of a bulk deletion, what it is, and an example of an id.
    const IDS: (&'static str, &'static str, &'static str);
    /// What people are told when one is deleted.
    const DELETED: &'static str;
}

impl LinkResource for LandingKind {
    const OBJECT: &'static str = "landing";
    const LIST: &'static str = "landings";
    const IDS: (&'static str, &'static str, &'static str) =
        ("landing_ids", "The ids of the landing pages.", examples::LANDING_ID);
    const DELETED: &'static str = "The landing page is deleted and its address is free.";
}

impl LinkResource for RedirectKind {
    const OBJECT: &'static str = "redirect";
    const LIST: &'static str = "redirects";
    const IDS: (&'static str, &'static str, &'static str) =
        ("redirect_ids", "The ids of the redirects.", examples::REDIRECT_ID);
    const DELETED: &'static str = "The redirect is deleted and its address is free.";
}

/// A link as bulk results show it; the id's prefix and `object` tell its kind.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum LinkBody {
    /// A landing page.
    Landing(LandingBody),
    /// A redirect.
    Redirect(RedirectBody),
}

impl LinkBody {
    /// The link; its address depends on where the installation lives.
    pub(crate) fn new(link: &Link, app: &Application) -> Self {
        match link {
            Link::Landing(landing) => Self::Landing(LandingBody::new(landing, app)),
            Link::Redirect(redirect) => Self::Redirect(RedirectBody::new(redirect, app)),
        }
    }
}

/// A link as lists show it, with its clicks if these were asked for (D66).
#[derive(Serialize)]
struct ListedLinkBody {
    #[serde(flatten)]
    link: LinkBody,
    #[serde(flatten)]
    clicks: Option<RecentClicksBody>,
}

shown! {
    /// What a list adds to each link with `with=clicks`.
    struct RecentClicksBody {
        clicks_7d: u64 = count("Clicks of the last seven days; only with `with=clicks`."),
        last_clicked_at: Option<Text<Timestamp>> = timestamp(
            "When it was clicked last; null if never, as far back as clicks are kept. Only with `with=clicks`.",
        ),
    }
}

impl ListedLinkBody {
    fn new(link: &Link, clicks: Option<RecentClicks>, app: &Application) -> Self {
        let clicks = clicks.map(|RecentClicks { link: _, clicks, last }| RecentClicksBody {
            clicks_7d: clicks,
            last_clicked_at: last.map(Text),
        });
        Self { link: LinkBody::new(link, app), clicks }
    }
}

/// The properties that lists may add to those of a link.
pub(super) fn recent_clicks() -> impl Iterator<Item = Property> {
    RecentClicksBody::properties().into_iter().map(Property::or_absent)
}

/// The component of the OpenAPI document about links of either kind.
pub(crate) fn components() -> Components {
    let link = OneOfBuilder::new()
        .description(Some("A link of either kind; `object` and the prefix of `id` tell which."))
        .item(named("Landing"))
        .item(named("Redirect"));
    vec![
        ("Link", link.into()),
        ("RedirectIds", ids_body(ids_to_delete::<RedirectKind>()).into()),
        ("LandingIds", ids_body(ids_to_delete::<LandingKind>()).into()),
    ]
}

/// The body of a bulk request that names links.
pub(super) fn ids_body(ids: impl Field<Vec<String>>) -> ObjectBuilder {
    closed_object("The items of a bulk request.", properties(|body| drop(body.required(ids))))
}

fn ids_to_delete<K: LinkResource>() -> impl Field<Vec<String>> {
    let (name, description, example) = K::IDS;
    ids(name, description, example)
}

/// `GET /v1/landings` and `GET /v1/redirects` (contract "List filters for links").
pub(crate) async fn list<K: LinkResource>(
    app: web::Data<Application>,
    caller: Admitted,
    input: OnlyQuery,
) -> Result<HttpResponse, ApiError> {
    let OnlyQuery { query, violations } = input;
    let LinkListQuery { links, with_clicks, scope } =
        link_list_query::read(query, violations, CursorScope::new(caller.account_id(), K::LIST))?;
    let page = links::list(&app, &caller, K::LINK_KIND, links).await?;
    let mut clicks = if with_clicks {
        analytics::recent_clicks(&app, &caller, &page.items).await?.into_iter().map(Some).collect()
    } else {
        vec![None; page.items.len()]
    }
    .into_iter();
    let body = page.map(|link| ListedLinkBody::new(&link, clicks.next().flatten(), &app));
    wire::ok(&ListBody::new(body, &scope))
}

/// `DELETE /v1/landings/{id}` and `DELETE /v1/redirects/{id}` (D5).
pub(crate) async fn delete<K: LinkResource>(
    app: web::Data<Application>,
    caller: Admitted,
    id: PathId<K>,
    _: NoInput,
) -> Result<HttpResponse, ApiError> {
    let id = links::delete(&app, &caller, id.0).await?;
    wire::ok(&DeletionBody::new(id, K::OBJECT, K::DELETED))
}

/// `POST /v1/landings/bulk/delete` and `POST /v1/redirects/bulk/delete` (D31).
pub(crate) async fn delete_many<K: LinkResource>(
    app: web::Data<Application>,
    caller: Admitted,
    mut body: OnlyBody,
) -> Result<HttpResponse, ApiError> {
    let once = body.once(&app, &caller).await?;
    let ids = batch(body, ids_to_delete::<K>())?;
    let show = |outcomes: &Vec<Result<Id<K>, Rejection>>| {
        let deletion = |id: &_| DeletionBody::new(*id, K::OBJECT, K::DELETED);
        let outcome = bulk_outcome::split(outcomes, ids_to_delete::<K>().name(), deletion, |index, _| {
            ids.get(index).cloned()
        });
        wire::ok(&BulkDeleteBody::from(outcome))
    };
    let conclusion = conclusion(once.as_ref(), show);
    let outcomes = links::delete_many::<K>(&app, &caller, &ids, conclusion).await?;
    show(&outcomes)
}
