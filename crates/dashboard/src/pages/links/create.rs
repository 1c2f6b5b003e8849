//! Creating a link.

use actix_web::HttpResponse;
use signpost_app::AppError;
use signpost_app::idempotency::Idempotency;
use signpost_app::links;
use signpost_app::redirects::RedirectWithPixels;
use signpost_domain::{
    Feature, FieldError, LandingPage, PageContent, Permission, PlanResource, RedirectContent, Refusal,
    ViolationCode, Violations,
};

use super::placement_fields::Choices;
use super::{landing_fields, life_fields, password_fields, preview_fields, redirect_fields};
use crate::answer::{page, refused};
use crate::curl;
use crate::failure::Failure;
use crate::form_body::FormBody;
use crate::frame::{TEXTS, shell};
use crate::pages::{followed, general_message, remembered};
use crate::views::{Form, LifeForm, LinkForm, NavItem, NewLinkPage};
use crate::visit::{Member, Visit};

/// `GET /{account}/links/new`. The query names the kind, and may name the target.
pub(crate) async fn show(visit: Visit) -> Result<HttpResponse, Failure> {
    let member = visit.member().await?;
    member.caller.require(Permission::WriteLinks)?;
    let choices = Choices::read(&visit, &member).await?;
    let query = visit.query();
    let life = life_fields::empty(&member.signed_in.user().preferences);
    let link = if query.text("kind") == "landing" {
        LinkForm::Landing(Box::new(landing_fields::empty(&visit, &member, &choices, life)))
    } else {
        let pixels = redirect_fields::pixels_to_offer(&visit, &member, &[]).await?;
        let target = query.text("target_url");
        LinkForm::Redirect(Box::new(redirect_fields::empty(&visit, &member, &choices, &pixels, target, life)))
    };
    page(&new_page(&visit, &member, link, None))
}

/// `POST /{account}/links`
pub(crate) async fn create(visit: Visit, form: FormBody) -> Result<HttpResponse, Failure> {
    let member = visit.member().await?;
    let caller = &member.caller;
    let account = caller.account_id();
    let preferences = &member.signed_in.user().preferences;
    let key = form.key();
    let is_landing = form.text("kind") == "landing";
    // A page without links and texts is only half made.
    let next = if is_landing { "/page?said=page-created" } else { "?new=1" };
    let path_of = move |id: String| format!("/{account}/links/{id}{next}");
    let created = if is_landing {
        let request = landing_fields::read(&visit, &form, None, preferences);
        let remember = move |page: &LandingPage| Some(remembered(path_of(page.id.to_string())));
        let idempotency = Idempotency::of_request(key.as_ref(), remember);
        let created = links::create::<PageContent>(visit.app(), caller, request, idempotency).await;
        created.map(|page| page.id.to_string())
    } else {
        let request = redirect_fields::read(&visit, &form, None, preferences);
        let remember =
            move |single: &RedirectWithPixels| Some(remembered(path_of(single.redirect.id.to_string())));
        let idempotency = Idempotency::of_request(key.as_ref(), remember);
        let created = links::create::<RedirectContent>(visit.app(), caller, request, idempotency).await;
        created.map(|single| single.redirect.id.to_string())
    };
    match Mistake::of(created.map(path_of), &form)? {
        Ok(path) => followed(Ok(path)),
        Err(mistake) => refused(&typed_page(&visit, &member, &form, mistake).await?),
    }
}

/// Why a link was not saved, as its form shows it.
pub(super) struct Mistake {
    pub(super) violations: Violations,
    /// Why the form was refused, if no field is to blame.
    pub(super) general: Option<String>,
}

impl Mistake {
    /// Keeps what `form` can show. Everything else fails the request.
    pub(super) fn of<T>(outcome: Result<T, AppError>, form: &FormBody) -> Result<Result<T, Self>, Failure> {
        match outcome {
            Ok(value) => Ok(Ok(value)),
            Err(AppError::Invalid(violations)) => {
                let general = general_message(&violations, &FIELDS);
                Ok(Err(Self { violations, general }))
            }
            Err(AppError::Refused(refusal)) => Self::of_refusal(refusal, form).map(Err),
            Err(error) => Err(error.into()),
        }
    }

    fn of_refusal(refusal: Refusal, form: &FormBody) -> Result<Self, Failure> {
        let violation = refusal.violation().or_else(|| {
            let error = FieldError::new(ViolationCode::InvalidValue, refusal.to_string());
            Some(error.at(blamed_field(&refusal, form)?))
        });
        if let Some(violation) = violation {
            return Ok(Self { violations: Violations::from(violation), general: None });
        }
        match Failure::from(refusal) {
            Failure::Refused(refusal) => {
                Ok(Self { violations: Violations::new(), general: Some(refusal.to_string()) })
            }
            failure => Err(failure),
        }
    }
}

/// The fields beside which a form shows messages.
const FIELDS: [&str; 25] = [
    "language",
    "target_url",
    "title",
    "name",
    "description",
    "slug",
    "domain",
    "note",
    "group_id",
    "tags",
    "is_active",
    "starts_at",
    "expires_at",
    "max_clicks",
    "fallback_url",
    "password",
    "redirect_status",
    "utm",
    "preview",
    "analytics_enabled",
    "antibot_enabled",
    "countries",
    "geo_blocklists",
    "pixel_ids",
    "theme",
];

/// The field of the form that a refusal is about.
fn blamed_field(refusal: &Refusal, form: &FormBody) -> Option<&'static str> {
    match refusal {
        Refusal::GroupNotFound => Some("group_id"),
        Refusal::DomainNotFound | Refusal::DomainNotActive => Some("domain"),
        Refusal::SlugRequiredForSystemDomain => Some("slug"),
        Refusal::PlanLimitReached { resource: PlanResource::Tags, .. } => Some("tags"),
        Refusal::FeatureNotAvailable(Feature::Antibot) => Some("antibot_enabled"),
        Refusal::FeatureNotAvailable(Feature::GeoBlocking) => Some("countries"),
        Refusal::FeatureNotAvailable(Feature::Pixels) => Some("pixel_ids"),
        Refusal::FeatureNotAvailable(Feature::LinkPreviews) => Some(preview_fields::BLAMED),
        Refusal::FeatureNotAvailable(Feature::LinkAccess) => Some(password_fields::blamed(form)),
        _ => None,
    }
}

async fn typed_page(
    visit: &Visit,
    member: &Member,
    form: &FormBody,
    mistake: Mistake,
) -> Result<NewLinkPage, Failure> {
    let choices = Choices::read(visit, member).await?;
    let Mistake { violations, general } = mistake;
    let shown_in = life_fields::shown_in(Some(form), &member.signed_in.user().preferences);
    let life = life_fields::typed(form, LifeForm::default(), &shown_in, &violations);
    let link = if form.text("kind") == "landing" {
        LinkForm::Landing(Box::new(landing_fields::typed(member, form, None, &choices, &violations, life)))
    } else {
        let pixels = redirect_fields::pixels_to_offer(visit, member, &[]).await?;
        LinkForm::Redirect(Box::new(redirect_fields::typed(
            member,
            form,
            None,
            &choices,
            &pixels,
            &violations,
            life,
        )))
    };
    Ok(new_page(visit, member, link, general))
}

fn new_page(visit: &Visit, member: &Member, link: LinkForm, general_error: Option<String>) -> NewLinkPage {
    let api = visit.api_url();
    let (path, body) = match link {
        LinkForm::Redirect(_) => ("/v1/redirects", redirect_fields::example_body()),
        LinkForm::Landing(_) => ("/v1/landings", landing_fields::example_body()),
    };
    let example = curl::send_json(api, TEXTS.create_link, "POST", path, &body);
    let title = match link {
        LinkForm::Redirect(_) => TEXTS.new_link,
        LinkForm::Landing(_) => TEXTS.new_landing,
    };
    NewLinkPage {
        form: Form { idempotency_key: visit.new_key(), general_error, ..Form::default() },
        link,
        shell: shell(visit, member, NavItem::Links, title, vec![example]),
    }
}
