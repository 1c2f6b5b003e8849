//! Landing pages: `/v1/landings` (contract "Landing", D27, D28, D32).

use actix_web::{HttpResponse, web};
use signpost_app::landings::{self, CreateLanding};
use signpost_app::{Application, Submitted};
use signpost_domain::id::LandingKind;
use signpost_domain::{
    GroupId, IncompleteLanding, Landing, LandingDraft, LandingId, LandingPage, LandingPatch, Name,
    PageContentPatch, Timestamp, Violations,
};

use super::link_fields::{
    SLUG_OF_NEW_LINK, analytics_enabled, domain, domain_shown, group_id, group_id_shown, is_active,
    is_active_shown, no_root_of_the_system_domain, note, note_shown, root_needs_a_domain, slug, slug_shown,
    url,
};
use super::links::recent_clicks;
use super::page_content::{self, PageContentBody};
use crate::api_error::ApiError;
use crate::extract::{Admitted, Field, NoInput, ObjectReader, OnlyBody, PathId, field, properties, text};
use crate::remembered_answer::conclusion;
use crate::schema::{
    Components, closed_object, created_at, id, kept_name, kind, sent_name, shown, updated_at, with_rule,
};
use crate::wire::{self, Text};

/// Where landing pages are created and listed, and what the address of each begins with.
pub(crate) const PATH: &str = "/v1/landings";

shown! {
    /// A landing page as lists and bulk results show it.
    pub(crate) struct LandingBody {
        id: Text<LandingId> = id("lnd", "The landing page's id."),
        object: &'static str = kind("landing"),
        title: String = kept_name("The page's title."),
        slug: Option<String> = slug_shown(),
        url: Option<String> = url(),
        is_active: bool = is_active_shown(),
        note: Option<String> = note_shown(),
        group_id: Option<Text<GroupId>> = group_id_shown("The group that the landing page is in; null if in none."),
        domain: Option<String> = domain_shown(),
        created_at: Text<Timestamp> = created_at(),
        updated_at: Text<Timestamp> = updated_at(),
    }
}

/// A landing page as creation, retrieval and update show it (D27).
#[derive(serde::Serialize)]
struct SingleLandingBody {
    #[serde(flatten)]
    landing: LandingBody,
    #[serde(flatten)]
    content: PageContentBody,
}

impl LandingBody {
    /// The landing page; its address depends on where the installation lives.
    pub(crate) fn new(landing: &Landing, app: &Application) -> Self {
        let Landing {
            id,
            title,
            placement,
            is_active,
            note,
            // Never shown (D28).
            analytics_enabled: _,
            group_id,
            created_at,
            updated_at,
        } = landing;
        Self {
            id: Text(*id),
            object: "landing",
            title: title.as_str().to_owned(),
            slug: placement.slug().map(|slug| slug.as_str().to_owned()),
            url: placement.url(&app.system, app.custom_domain_scheme),
            is_active: *is_active,
            note: note.as_ref().map(|note| note.as_str().to_owned()),
            group_id: group_id.map(Text),
            domain: placement.hostname(&app.system).map(|hostname| hostname.as_str().to_owned()),
            created_at: Text(*created_at),
            updated_at: Text(*updated_at),
        }
    }
}

impl SingleLandingBody {
    /// The landing page with what is on it.
    fn new(page: &LandingPage, app: &Application) -> Self {
        let LandingPage { landing, content } = page;
        Self { landing: LandingBody::new(landing, app), content: PageContentBody::from(content) }
    }
}

/// The components of the OpenAPI document about landing pages.
pub(crate) fn components() -> Components {
    let single = closed_object(
        "A landing page, as its creation, retrieval and update show it.",
        LandingBody::properties().into_iter().chain(PageContentBody::properties()),
    );
    let listed = closed_object(
        "A landing page, as lists show it.",
        LandingBody::properties().into_iter().chain(recent_clicks()),
    );
    let new = properties(|body| drop(read_draft(body, Violations::new())));
    let new = closed_object("A landing page to be created.", new);
    let changes = properties(|body| drop(read_patch(body)));
    let changes =
        closed_object("Changes to a landing page. Only the fields that are there are changed.", changes);
    vec![
        (
            "Landing",
            closed_object("A landing page, as bulk results show it.", LandingBody::properties()).into(),
        ),
        ("ListedLanding", listed.into()),
        ("SingleLanding", single.into()),
        ("NewLanding", with_rule(new, "anyOf", root_needs_a_domain()).into()),
        ("LandingPatch", with_rule(changes, "anyOf", no_root_of_the_system_domain()).into()),
    ]
}

/// `slug` in an update.
const MOVED_SLUG: &str = "The part of the address after the hostname; case matters. Null frees the address and moves the \
    landing page to the root of its custom domain. Some are reserved on the system domain.";

fn title() -> impl Field<Name> {
    field("title", text(Name::parse), || sent_name("The page's title"))
}

/// All fields of a creation (D28). `violations` are those found before.
fn read_draft(body: &mut ObjectReader, mut violations: Violations) -> CreateLanding {
    let title = body.required(title());
    let slug = body.nullable(slug(SLUG_OF_NEW_LINK));
    let domain = body.nullable(domain("Left out or null: the system domain."));
    let note = body.nullable(note(""));
    let group = body.nullable(group_id("The group to put the landing page into. Left out or null: none."));
    let is_active = body.optional_or(true, is_active());
    let analytics_enabled = body.optional_or(true, analytics_enabled());
    let content = page_content::read(body);
    violations.append(body.finish());
    match (title, slug.into_choice()) {
        (Some(title), Some(slug)) if violations.is_empty() => Ok(LandingDraft {
            title,
            slug,
            domain: domain.into_option(),
            note: note.into_option(),
            group: group.into_option(),
            is_active,
            analytics_enabled,
            content,
        }),
        _ => Err(Box::new(IncompleteLanding { content, violations })),
    }
}

/// All fields of an update (D28, D32).
fn read_patch(body: &mut ObjectReader) -> LandingPatch {
    LandingPatch {
        title: body.optional(title()),
        slug: body.nullable(slug(MOVED_SLUG)).into_change(),
        note: body.nullable(note("Null clears it.")).into_change(),
        domain: body.nullable(domain("Null moves the landing page back to the system domain.")).into_change(),
        group: body
            .nullable(group_id("The group to put the landing page into. Null takes it out of its group."))
            .into_change(),
        is_active: body.optional(is_active()),
        content: page_content::read(body),
    }
}

/// `POST /v1/landings` (D28)
pub(crate) async fn create(
    app: web::Data<Application>,
    caller: Admitted,
    mut body: OnlyBody,
) -> Result<HttpResponse, ApiError> {
    let once = body.once(&app, &caller).await?;
    let show = |page: &LandingPage| wire::created(PATH, page.landing.id, &SingleLandingBody::new(page, &app));
    let command = match body.reader() {
        Ok((mut body, violations)) => read_draft(&mut body, violations),
        Err(violations) => {
            Err(Box::new(IncompleteLanding { content: PageContentPatch::default(), violations }))
        }
    };
    let page = landings::create(&app, &caller, command, conclusion(once.as_ref(), show)).await?;
    show(&page)
}

/// `GET /v1/landings/{id}` (D27)
pub(crate) async fn get(
    app: web::Data<Application>,
    caller: Admitted,
    id: PathId<LandingKind>,
    _: NoInput,
) -> Result<HttpResponse, ApiError> {
    let landing = landings::get(&app, &caller, id.0).await?;
    wire::ok(&SingleLandingBody::new(&landing, &app))
}

/// `PATCH /v1/landings/{id}`
pub(crate) async fn update(
    app: web::Data<Application>,
    caller: Admitted,
    id: PathId<LandingKind>,
    body: OnlyBody,
) -> Result<HttpResponse, ApiError> {
    let page = landings::update(&app, &caller, id.0, patch(body)).await?;
    wire::ok(&SingleLandingBody::new(&page, &app))
}

fn patch(body: OnlyBody) -> Submitted<LandingPatch> {
    let (mut body, mut violations) = match body.reader() {
        Ok(readable) => readable,
        Err(violations) => return Submitted { value: LandingPatch::default(), violations },
    };
    let value = read_patch(&mut body);
    violations.append(body.finish());
    Submitted { value, violations }
}
