//! Redirects: `/v1/redirects` (contract "Redirect", D27–D30, D32).

use actix_web::{HttpResponse, web};
use signpost_app::Application;
use signpost_app::redirects::{self, CreateRedirect, RedirectWithPixels};
use signpost_domain::id::RedirectKind;
use signpost_domain::{
    CountryCode, FieldError, GeoBlocklist, GroupId, IncompleteRedirect, PixelIds, Redirect, RedirectId,
    Rejection, Timestamp, ViolationCode, Violations,
};
use signpost_strict_json::Json;
use utoipa::openapi::schema::{AnyOfBuilder, ObjectBuilder, SchemaType};

use super::link_fields::{
    domain_shown, group_id_shown, is_active_shown, no_root_of_the_system_domain, note_shown,
    root_needs_a_domain, slug_shown, url,
};
use super::links::recent_clicks;
use super::pixels::PixelBody;
use super::redirect_requests::{antibot_enabled_shown, draft, patch, read_patch};
use crate::api_error::ApiError;
use crate::bulk_outcome::{self, Wishes};
use crate::extract::{Admitted, Field, NoInput, ObjectReader, OnlyBody, PathId, anything, batch, properties};
use crate::remembered_answer::conclusion;
use crate::schema::{
    Components, closed_object, created_at, id, kept_name, kind, list as list_of, named, shown, string,
    target_url_shown, updated_at, with_rule,
};
use crate::wire::{self, BulkCreateBody, Text};

/// Where redirects are created and listed, and what the address of each begins with.
pub(crate) const PATH: &str = "/v1/redirects";

/// The field of a bulk creation that holds the redirects.
const ITEMS: &str = "redirects";

shown! {
    /// A redirect as lists and bulk results show it.
    pub(crate) struct RedirectBody {
        id: Text<RedirectId> = id("rdr", "The redirect's id."),
        object: &'static str = kind("redirect"),
        name: String = kept_name("The redirect's name, for the account's eyes."),
        url: Option<String> = url(),
        target_url: String = target_url_shown(),
        slug: Option<String> = slug_shown(),
        is_active: bool = is_active_shown(),
        note: Option<String> = note_shown(),
        antibot_enabled: bool = antibot_enabled_shown(),
        group_id: Option<Text<GroupId>> = group_id_shown("The group that the redirect is in; null if in none."),
        domain: Option<String> = domain_shown(),
        created_at: Text<Timestamp> = created_at(),
        updated_at: Text<Timestamp> = updated_at(),
    }
}

shown! {
    /// A redirect as creation, retrieval and update show it (D27).
    struct SingleRedirectBody {
        ..redirect: RedirectBody,
        pixels: Vec<PixelBody> =
            list_of("The pixels that fire before a visitor is sent on, in their order.", named("Pixel"))
                .max_items(Some(PixelIds::MAX)),
        geo_blocklists: GeoBlocklistBody = named("GeoBlocklists"),
    }
}

shown! {
    struct GeoBlocklistBody {
        countries: Vec<&'static str> = list_of(
            "The countries, each once, in the order given.",
            string("A country code of ISO 3166-1 (alpha-2).").pattern(Some("^[A-Z]{2}$")).examples(["DE"]),
        )
        .max_items(Some(CountryCode::COUNT))
        .unique_items(true),
    }
}

impl RedirectBody {
    /// The redirect; its address depends on where the installation lives.
    pub(crate) fn new(redirect: &Redirect, app: &Application) -> Self {
        let Redirect {
            id,
            name,
            target_url,
            placement,
            is_active,
            note,
            antibot_enabled,
            // Never shown (D28).
            analytics_enabled: _,
            group_id,
            // Not in lists (D27).
            geo_blocklist: _,
            pixel_ids: _,
            created_at,
            updated_at,
        } = redirect;
        Self {
            id: Text(*id),
            object: "redirect",
            name: name.as_str().to_owned(),
            url: placement.url(&app.system, app.custom_domain_scheme),
            target_url: target_url.as_str().to_owned(),
            slug: placement.slug().map(|slug| slug.as_str().to_owned()),
            is_active: *is_active,
            note: note.as_ref().map(|note| note.as_str().to_owned()),
            antibot_enabled: *antibot_enabled,
            group_id: group_id.map(Text),
            domain: placement.hostname(&app.system).map(|hostname| hostname.as_str().to_owned()),
            created_at: Text(*created_at),
            updated_at: Text(*updated_at),
        }
    }
}

impl SingleRedirectBody {
    /// The redirect with everything that is shown of it.
    fn new(single: &RedirectWithPixels, app: &Application) -> Self {
        let RedirectWithPixels { redirect, pixels } = single;
        Self {
            redirect: RedirectBody::new(redirect, app),
            pixels: pixels.iter().map(PixelBody::from).collect(),
            geo_blocklists: GeoBlocklistBody::from(&redirect.geo_blocklist),
        }
    }
}

impl From<&GeoBlocklist> for GeoBlocklistBody {
    fn from(blocklist: &GeoBlocklist) -> Self {
        Self {
            countries: blocklist.countries().iter().map(|country| CountryCode::as_str(*country)).collect(),
        }
    }
}

/// The components of the OpenAPI document about redirects.
pub(crate) fn components() -> Components {
    let single = closed_object(
        "A redirect, as its creation, retrieval and update show it.",
        SingleRedirectBody::properties(),
    );
    let listed = closed_object(
        "A redirect, as lists show it.",
        RedirectBody::properties().into_iter().chain(recent_clicks()),
    );
    let blocklists = closed_object(
        "The countries whose visitors are turned away, with a 403 page. A visitor whose country is not known is let in.",
        GeoBlocklistBody::properties(),
    );
    let many = closed_object("Redirects to be created.", properties(|body| drop(body.required(items()))));
    let new = properties(|body| drop(draft(body, Violations::new())));
    let new = closed_object("A redirect to be created.", new);
    let changes = properties(|body| drop(read_patch(body)));
    let changes =
        closed_object("Changes to a redirect. Only the fields that are there are changed.", changes);
    vec![
        (
            "Redirect",
            closed_object("A redirect, as bulk results show it.", RedirectBody::properties()).into(),
        ),
        ("ListedRedirect", listed.into()),
        ("SingleRedirect", single.into()),
        ("GeoBlocklists", blocklists.into()),
        ("NewRedirect", with_rule(new, "anyOf", root_needs_a_domain()).into()),
        ("NewRedirects", many.into()),
        ("BulkRedirect", new_redirect_or_anything().into()),
        ("RedirectPatch", with_rule(changes, "anyOf", no_root_of_the_system_domain()).into()),
    ]
}

/// The redirects of a bulk creation.
fn items() -> impl Field<Vec<Json>> {
    anything(ITEMS, "The redirects, in the order in which they are created.", || named("BulkRedirect"))
}

/// An item that breaks the rules of a redirect breaks no rule of the request: it fails by itself (D29).
fn new_redirect_or_anything() -> AnyOfBuilder {
    let anything = ObjectBuilder::new().schema_type(SchemaType::AnyValue).description(Some(
        "Anything else is no error of the request: the item fails with `invalid_request`.",
    ));
    AnyOfBuilder::new()
        .description(Some(
            "A redirect to be created, by the rules of the single creation. An item that breaks one of them stands \
             in `failed`; the others are created all the same.",
        ))
        .item(named("NewRedirect"))
        .item(anything)
}

/// `POST /v1/redirects` (D28)
pub(crate) async fn create(
    app: web::Data<Application>,
    caller: Admitted,
    mut body: OnlyBody,
) -> Result<HttpResponse, ApiError> {
    let once = body.once(&app, &caller).await?;
    let show = |created: &RedirectWithPixels| {
        wire::created(PATH, created.redirect.id, &SingleRedirectBody::new(created, &app))
    };
    let command = match body.reader() {
        Ok((mut body, violations)) => draft(&mut body, violations),
        Err(violations) => Err(IncompleteRedirect::unreadable(violations)),
    };
    let created = redirects::create(&app, &caller, command, conclusion(once.as_ref(), show)).await?;
    show(&created)
}

/// `POST /v1/redirects/bulk` (D29, D30)
pub(crate) async fn create_many(
    app: web::Data<Application>,
    caller: Admitted,
    mut body: OnlyBody,
) -> Result<HttpResponse, ApiError> {
    let once = body.once(&app, &caller).await?;
    let mut wishes = vec![];
    let commands = batch(body, items())?.map(|item| {
        let index = wishes.len();
        let (item_wishes, command) = read_item(index, item);
        wishes.push(item_wishes);
        command
    });
    let show = |outcomes: &Vec<Result<Redirect, Rejection>>| {
        let outcome = bulk_outcome::split(
            outcomes,
            ITEMS,
            |redirect| RedirectBody::new(redirect, &app),
            |index, rejection| wishes.get(index)?.value_at_fault(rejection),
        );
        wire::ok(&BulkCreateBody::from(outcome))
    };
    let outcomes = redirects::create_many(&app, &caller, commands, conclusion(once.as_ref(), show)).await?;
    show(&outcomes)
}

fn read_item(index: usize, item: Json) -> (Wishes, CreateRedirect) {
    match item {
        Json::Object(members) => {
            let wishes = Wishes::of(&members);
            let mut command = draft(&mut ObjectReader::new(members), Violations::new());
            // Now, and not when all are read: a hundred items may have a hundred violations each.
            if let Err(incomplete) = &mut command {
                incomplete.violations = std::mem::take(&mut incomplete.violations).of_item();
            }
            (wishes, command)
        }
        Json::Text(_) | Json::Null | Json::Bool(_) | Json::Number | Json::List(_) => {
            let error = FieldError::new(ViolationCode::InvalidType, "must be an object");
            let violations = Violations::from(error.at(format!("{ITEMS}[{index}]")));
            (Wishes::default(), Err(IncompleteRedirect::unreadable(violations)))
        }
    }
}

/// `GET /v1/redirects/{id}` (D27)
pub(crate) async fn get(
    app: web::Data<Application>,
    caller: Admitted,
    id: PathId<RedirectKind>,
    _: NoInput,
) -> Result<HttpResponse, ApiError> {
    let redirect = redirects::get(&app, &caller, id.0).await?;
    wire::ok(&SingleRedirectBody::new(&redirect, &app))
}

/// `PATCH /v1/redirects/{id}` (contract "PATCH /v1/redirects/{id}")
pub(crate) async fn update(
    app: web::Data<Application>,
    caller: Admitted,
    id: PathId<RedirectKind>,
    body: OnlyBody,
) -> Result<HttpResponse, ApiError> {
    let redirect = redirects::update(&app, &caller, id.0, patch(body)).await?;
    wire::ok(&SingleRedirectBody::new(&redirect, &app))
}
