//! Links: the endpoints that redirects and landing pages share, `/v1/redirects` and `/v1/landings` (D5, D27, D28, D31).

use actix_web::{HttpResponse, web};
use serde::Serialize;
use serde_json::json;
use signpost_app::links::{LinkResource, Put};
use signpost_app::{Application, analytics, links};
use signpost_domain::analytics::RecentClicks;
use signpost_domain::id::{LandingKind, RedirectKind};
use signpost_domain::{
    AnyContent, Content, ContentRules, GroupId, Id, Link, LinkIdKind, LinkRequest, Rejection, Submitted,
    Timestamp, Violations,
};
use utoipa::openapi::schema::{ObjectBuilder, OneOfBuilder};

use super::landings::LandingBody;
use super::link_fields::{domain_shown, external_id_shown, group_id_shown, tags_shown};
use super::link_life::LifeBody;
use super::link_list_query::{self, LinkListQuery};
use super::redirects::RedirectBody;
use crate::analytics::until;
use crate::api_error::ApiError;
use crate::bulk_outcome;
use crate::cursor::CursorScope;
use crate::extract::{
    Action, Admitted, Field, IfMatch, NoInput, ObjectReader, OnlyBody, OnlyQuery, PathExternalId, PathId,
    Preconditions, batch, ids, properties, run_once,
};
use crate::schema::{
    AnySchema, Components, FieldType, Property, closed_object, count, created_at, keyword, named,
    open_object, revision, shown, timestamp, updated_at,
};
use crate::wire::{self, BulkDeleteBody, DeletionBody, ListBody, Text};

/// A kind of links, as the API reads and shows it.
pub(crate) trait LinkEndpoints: LinkIdKind {
    /// A link of the kind in lists and bulk results.
    type Listed: Serialize + FieldType;

    /// The content of the kind.
    type Content: LinkResource<Kind = Self>;

    /// The kind's names in the API.
    const WORDS: LinkWords;

    /// The component of the OpenAPI document about the body of a creation.
    const CREATION: &'static str;

    /// The component of the OpenAPI document about an item of a bulk update.
    const CHANGE_IN_BATCH: &'static str;

    /// Reads the fields of a creation or of an update.
    fn read(body: &mut ObjectReader<'_>, action: Action) -> LinkRequest<RequestOf<Self>>;

    /// The body of an answer about a single link.
    fn single_body(single: &SingleOf<Self>, app: &Application) -> impl Serialize;

    /// The body of a link in a bulk result.
    fn listed_body(link: &Link<Self::Content>, app: &Application) -> Self::Listed;

    /// The link itself.
    fn link(single: &SingleOf<Self>) -> &Link<Self::Content>;
}

/// The request for the content of a kind.
pub(crate) type RequestOf<K> = <<K as LinkEndpoints>::Content as ContentRules>::Request;

/// The shown form of a single link of a kind.
pub(crate) type SingleOf<K> = <<K as LinkEndpoints>::Content as LinkResource>::Single;

/// The names of a kind, from its noun, its name in JSON, and an example of an id.
macro_rules! link_words {
    ($noun:literal, $object:literal, $example_id:expr) => {
        $crate::resources::links::LinkWords {
            noun: $noun,
            plural: concat!($noun, "s"),
            object: $object,
            path: concat!("/v1/", $object, "s"),
            path_of_one: concat!("/v1/", $object, "s/{id}"),
            path_of_external_id: concat!("/v1/", $object, "s/by-external-id/{external_id}"),
            path_of_bulk: concat!("/v1/", $object, "s/bulk"),
            path_of_bulk_deletion: concat!("/v1/", $object, "s/bulk/delete"),
            list: concat!($object, "s"),
            ids: concat!($object, "_ids"),
            about_ids: concat!("The ids of the ", $noun, "s."),
            example_id: $example_id,
            deleted: concat!("The ", $noun, " is deleted and its address is free."),
        }
    };
}
pub(super) use link_words;

/// The names of a kind of links in the API.
pub(crate) struct LinkWords {
    /// The noun in sentences.
    pub(crate) noun: &'static str,
    /// The plural in sentences.
    pub(crate) plural: &'static str,
    /// The value of `object`.
    pub(crate) object: &'static str,
    /// The path of creation and lists, and the prefix of each link's path.
    pub(crate) path: &'static str,
    /// The path of one link.
    pub(crate) path_of_one: &'static str,
    /// The path of the link with an external id.
    pub(crate) path_of_external_id: &'static str,
    /// The path of bulk creations and bulk updates.
    pub(crate) path_of_bulk: &'static str,
    /// The path of bulk deletion.
    pub(crate) path_of_bulk_deletion: &'static str,
    /// The scope of the cursors of the kind's list (D11), and the field that holds the items of bulk creations and
    /// bulk updates.
    pub(crate) list: &'static str,
    /// The field that names the links of a bulk deletion.
    pub(crate) ids: &'static str,
    /// The description of that field.
    pub(crate) about_ids: &'static str,
    /// An example of an id.
    pub(crate) example_id: &'static str,
    /// The message for people after a deletion.
    pub(crate) deleted: &'static str,
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
    /// The body of a link, with its state at `now`. Its address depends on the installation's system domain.
    pub(crate) fn new(link: &Link, app: &Application, now: Timestamp) -> Self {
        match &link.content {
            AnyContent::Landing => Self::Landing(LandingBody::new(link, app, now)),
            AnyContent::Redirect(content) => Self::Redirect(RedirectBody::new(link, content, app, now)),
        }
    }
}

shown! {
    /// The last fields of every body of a link.
    pub(super) struct PlaceAndTimesBody {
        ..life: LifeBody,
        external_id: Option<String> = external_id_shown(),
        tags: Vec<String> = tags_shown(),
        group_id: Option<Text<GroupId>> = group_id_shown("The group that the link is in; null if in none."),
        domain: Option<String> = domain_shown(),
        created_at: Text<Timestamp> = created_at(),
        updated_at: Text<Timestamp> = updated_at(),
        revision: u64 = revision(),
    }
}

impl PlaceAndTimesBody {
    pub(super) fn new<C: Content>(link: &Link<C>, app: &Application, now: Timestamp) -> Self {
        Self {
            life: LifeBody::new(link, now),
            external_id: link.external_id.as_ref().map(|id| id.as_str().to_owned()),
            tags: link.tags.iter().map(|name| name.as_str().to_owned()).collect(),
            group_id: link.group_id.map(Text),
            domain: link.placement.hostname(&app.system).map(|hostname| hostname.as_str().to_owned()),
            created_at: Text(link.created_at),
            updated_at: Text(link.updated_at),
            revision: link.revision.get(),
        }
    }
}

impl FieldType for LinkBody {}

/// A link as lists show it, with its clicks if the query requests them (D66).
#[derive(Serialize)]
struct ListedLinkBody {
    #[serde(flatten)]
    link: LinkBody,
    #[serde(flatten)]
    clicks: Option<RecentClicksBody>,
}

shown! {
    /// The fields that `with=clicks` adds to each link of a list.
    struct RecentClicksBody {
        clicks_7d: u64 = count("Clicks of the last seven days; only with `with=clicks`."),
        last_clicked_at: Option<Text<Timestamp>> = timestamp(
            "The time of the last click; null if there is none among the stored clicks. Only with `with=clicks`.",
        ),
    }
}

impl ListedLinkBody {
    fn new(link: &Link, clicks: Option<RecentClicks>, app: &Application, now: Timestamp) -> Self {
        let clicks = clicks.map(|RecentClicks { link: _, clicks, last }| RecentClicksBody {
            clicks_7d: clicks,
            last_clicked_at: last.map(Text),
        });
        Self { link: LinkBody::new(link, app, now), clicks }
    }
}

/// The properties that lists may add to a link.
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

/// The components about one kind of links, under these names: as answers show it, and as creations and updates ask for it.
/// Every answer has the properties of `everywhere`; answers about a single link have those of `single`.
pub(super) fn components_of<K: LinkEndpoints>(
    [shown, new, put, changes]: [&'static str; 4],
    everywhere: Vec<Property>,
    single: Vec<Property>,
) -> Components {
    let noun = K::WORDS.noun;
    let is_everywhere = |one: &Property| everywhere.iter().any(|other| other.name() == one.name());
    let single: Vec<Property> = single.into_iter().filter(|one| !is_everywhere(one)).collect();
    let names = |properties: &[Property]| properties.iter().map(Property::name).collect::<Vec<_>>();
    let listed: Vec<Property> = recent_clicks().collect();
    // Generators get one type for a link. Our own tests know which fields belong to which answers.
    let places = json!({"single": names(&single), "list": names(&listed)});
    let in_words = names(&single).iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let about = format!(
        "A {noun}. Answers about a single {noun} always have {in_words}; lists and bulk results do not."
    );
    let some = single.into_iter().map(Property::or_absent).chain(listed);
    let shown_schema = open_object(&about, everywhere.into_iter().chain(some))
        .extensions(Some(keyword("x-signpost-in", places)));
    let asked = |what: &str, action: Action| -> AnySchema {
        closed_object(what, properties(|body| drop(K::read(body, action)))).into()
    };
    let what_changes = format!("Changes to a {noun}. Absent fields stay unchanged.");
    vec![
        (shown, shown_schema.into()),
        (new, asked(&format!("A {noun} to create."), Action::Create)),
        (
            put,
            asked(
                &format!("A {noun} to create, or changes to it. Absent fields stay unchanged."),
                Action::Put,
            ),
        ),
        (changes, asked(&what_changes, Action::Update)),
    ]
}

/// The body of a bulk request that names links.
pub(super) fn ids_body(ids: impl Field<Vec<String>>) -> ObjectBuilder {
    closed_object("The items of a bulk request.", properties(|body| drop(body.required(ids))))
}

fn ids_to_delete<K: LinkEndpoints>() -> impl Field<Vec<String>> {
    let LinkWords { ids: name, about_ids, example_id, .. } = K::WORDS;
    ids(name, about_ids, example_id)
}

/// The request of a creation or an update.
///
/// # Errors
/// The violations of a body without readable fields.
fn submitted<K: LinkEndpoints>(
    body: OnlyBody,
    action: Action,
) -> Result<Submitted<LinkRequest<RequestOf<K>>>, Violations> {
    let (mut body, mut violations) = body.reader()?;
    let value = K::read(&mut body, action);
    violations.append(body.finish());
    Ok(Submitted { value, violations })
}

/// `POST /v1/landings` and `POST /v1/redirects` (D28)
pub(crate) async fn create<K: LinkEndpoints>(
    app: web::Data<Application>,
    caller: Admitted,
    mut body: OnlyBody,
) -> Result<HttpResponse, ApiError> {
    let key = body.key(&app, &caller).await?;
    let show = |single: &SingleOf<K>| created::<K>(single, &app);
    let request = submitted::<K>(body, Action::Create)?;
    run_once(key.as_ref(), show, |idempotency| {
        links::create::<K::Content>(&app, &caller, request, idempotency)
    })
    .await
}

/// `GET /v1/landings/{id}` and `GET /v1/redirects/{id}` (D27)
pub(crate) async fn get<K: LinkEndpoints>(
    app: web::Data<Application>,
    caller: Admitted,
    id: PathId<K>,
    _: NoInput,
) -> Result<HttpResponse, ApiError> {
    let single = links::get::<K::Content>(&app, &caller, id.0, caller.read_ahead()).await?;
    answer::<K>(&single, &app)
}

/// `PATCH /v1/landings/{id}` and `PATCH /v1/redirects/{id}`
pub(crate) async fn update<K: LinkEndpoints>(
    app: web::Data<Application>,
    caller: Admitted,
    id: PathId<K>,
    condition: IfMatch,
    body: OnlyBody,
) -> Result<HttpResponse, ApiError> {
    let request = submitted::<K>(body, Action::Update)?;
    let single = links::update::<K::Content>(&app, &caller, id.0, request, &condition.0).await?;
    answer::<K>(&single, &app)
}

/// `PUT /v1/landings/by-external-id/{external_id}` and `PUT /v1/redirects/by-external-id/{external_id}` (D121).
pub(crate) async fn put<K: LinkEndpoints>(
    app: web::Data<Application>,
    caller: Admitted,
    external_id: PathExternalId,
    condition: Preconditions,
    body: OnlyBody,
) -> Result<HttpResponse, ApiError> {
    let request = submitted::<K>(body, Action::Put)?;
    match links::put::<K::Content>(&app, &caller, &external_id.0, request, &condition.0).await? {
        Put::Created(single) => created::<K>(&single, &app),
        Put::Changed(single) => answer::<K>(&single, &app),
    }
}

/// 201 with a link.
fn created<K: LinkEndpoints>(single: &SingleOf<K>, app: &Application) -> Result<HttpResponse, ApiError> {
    let link = K::link(single);
    wire::tagged(wire::created(K::WORDS.path, link.id, &K::single_body(single, app)), link.revision)
}

/// 200 with a link.
fn answer<K: LinkEndpoints>(single: &SingleOf<K>, app: &Application) -> Result<HttpResponse, ApiError> {
    wire::tagged(wire::ok(&K::single_body(single, app)), K::link(single).revision)
}

/// `GET /v1/landings` and `GET /v1/redirects` (contract "List filters for links").
pub(crate) async fn list<K: LinkEndpoints>(
    app: web::Data<Application>,
    caller: Admitted,
    OnlyQuery { query, violations }: OnlyQuery,
) -> Result<HttpResponse, ApiError> {
    let LinkListQuery { links, with_clicks, scope } =
        link_list_query::read(query, violations, CursorScope::new(caller.account_id(), K::WORDS.list))?;
    let now = app.clock.now();
    let page = links::list(&app, &caller, K::LINK_KIND, links, now).await?;
    let mut clicks = if with_clicks {
        let clicks = analytics::recent_clicks(&app, &caller, &page.items);
        until(app.analytics.deadline(), clicks).await?.into_iter().map(Some).collect()
    } else {
        vec![None; page.items.len()]
    }
    .into_iter();
    let body = page.map(|link| ListedLinkBody::new(&link, clicks.next().flatten(), &app, now));
    wire::ok(&ListBody::new(body, &scope))
}

/// `DELETE /v1/landings/{id}` and `DELETE /v1/redirects/{id}` (D5).
pub(crate) async fn delete<K: LinkEndpoints>(
    app: web::Data<Application>,
    caller: Admitted,
    id: PathId<K>,
    condition: IfMatch,
    _: NoInput,
) -> Result<HttpResponse, ApiError> {
    let id = links::delete(&app, &caller, id.0, &condition.0).await?;
    wire::ok(&DeletionBody::new(id, K::WORDS.object, K::WORDS.deleted))
}

/// `POST /v1/landings/bulk/delete` and `POST /v1/redirects/bulk/delete` (D31).
pub(crate) async fn delete_many<K: LinkEndpoints>(
    app: web::Data<Application>,
    caller: Admitted,
    mut body: OnlyBody,
) -> Result<HttpResponse, ApiError> {
    let key = body.key(&app, &caller).await?;
    let ids = batch(body, ids_to_delete::<K>())?;
    let show = |outcomes: &Vec<Result<Id<K>, Rejection>>| {
        let deletion = |id: &_| DeletionBody::new(*id, K::WORDS.object, K::WORDS.deleted);
        let outcome = bulk_outcome::split(outcomes, ids_to_delete::<K>().name(), deletion, |index, _| {
            ids.get(index).cloned()
        });
        wire::ok(&BulkDeleteBody::from(outcome))
    };
    run_once(key.as_ref(), show, |idempotency| links::delete_many::<K>(&app, &caller, &ids, idempotency))
        .await
}
