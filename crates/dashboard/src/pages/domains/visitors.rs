//! The form for visitors of a domain for whom no link opens (D127).

use actix_web::HttpResponse;
use signpost_app::AppError;
use signpost_app::domains::{self, DomainWithInstructions};
use signpost_domain::id::DomainKind;
use signpost_domain::{
    Change, DomainRequest, DomainUrls, FieldError, Permission, Precondition, Refusal, Submitted, TargetUrl,
    Violations,
};

use super::list_path;
use super::single::{Remarks, domain_page};
use crate::answer::{refused, see_other};
use crate::failure::Failure;
use crate::form_body::FormBody;
use crate::frame::TEXTS;
use crate::pages::field;
use crate::pages::links::typed_address::with_scheme;
use crate::views::{Field, Form, VisitorsForm};
use crate::visit::{Member, Visit};

const ROOT: &str = "root_url";
const NOT_FOUND: &str = "not_found_url";
const EXPIRED: &str = "expired_url";

/// The fields with what the form was opened with.
const SHOWN: [&str; 3] = ["root_url_shown", "not_found_url_shown", "expired_url_shown"];

/// How often a form is saved over changes that it does not show, such as those of checks.
const ATTEMPTS: usize = 3;

/// What was typed, and why it was not saved. A page of the version before has fewer fields.
pub(super) struct Typed {
    root_url: Option<String>,
    not_found_url: Option<String>,
    expired_url: Option<String>,
    violations: Violations,
    is_stale: bool,
    /// What the form was opened with. `None` for a page of the version before.
    shown: Option<[String; 3]>,
    /// The revision that it was opened with.
    revision: String,
}

/// `POST /{account}/domains/{id}`
pub(crate) async fn save(visit: Visit, form: FormBody) -> Result<HttpResponse, Failure> {
    let member = visit.member().await?;
    member.caller.require(Permission::WriteDomains)?;
    let mut violations = Violations::new();
    let mut url = |name: &'static str| {
        let change = url_change(&form, name);
        change.unwrap_or_else(|error| {
            violations.push(error.at(name));
            Change::Keep
        })
    };
    let request = DomainRequest {
        root_url: url(ROOT),
        not_found_url: url(NOT_FOUND),
        expired_url: url(EXPIRED),
        ..DomainRequest::default()
    };
    let is_readable = violations.is_empty();
    let submitted = Submitted { value: request.clone(), violations };
    let saved_answer =
        || see_other(&format!("{}/{}?said=domain-saved", list_path(&member), visit.part("id")));
    let (violations, is_stale) = match update(&visit, &member, &form, &submitted).await? {
        Ok(()) => return Ok(saved_answer()),
        // After a conflict the notice stays until the form is saved.
        Err(AppError::Invalid(violations)) => (violations, form.is_checked("conflict")),
        Err(AppError::Refused(Refusal::PreconditionFailed(_))) => {
            if is_readable && is_stored(&visit, &member, &request).await? {
                return Ok(saved_answer());
            }
            (Violations::new(), true)
        }
        Err(error) => return Err(error.into()),
    };
    let text = |name: &str| form.given(name).map(|text| with_scheme(text).into_owned());
    let typed = Typed {
        root_url: text(ROOT),
        not_found_url: text(NOT_FOUND),
        expired_url: text(EXPIRED),
        violations,
        is_stale,
        shown: opened_with(&form).map(|shown| shown.map(str::to_owned)),
        revision: form.text("revision").to_owned(),
    };
    let remarks = Remarks { typed: Some(typed), ..Remarks::default() };
    refused(&domain_page(&visit, &member, remarks).await?)
}

/// Saves the form if the three addresses are still those that it was opened with. Checks move the revision too, but the form shows
/// nothing of what they change.
async fn update(
    visit: &Visit,
    member: &Member,
    form: &FormBody,
    submitted: &Submitted<DomainRequest>,
) -> Result<Result<(), AppError>, Failure> {
    let (app, caller, id) = (visit.app(), &member.caller, visit.id::<DomainKind>());
    let mut revision = form.shown_revision()?;
    let mut attempts = 1;
    loop {
        let unchanged = Precondition::RevisionIn(vec![revision]);
        let saved = domains::update(app, caller, id, submitted.clone(), &unchanged).await.map(|_| ());
        if attempts == ATTEMPTS || !matches!(saved, Err(AppError::Refused(Refusal::PreconditionFailed(_)))) {
            return Ok(saved);
        }
        let stored = domains::get(app, caller, id).await?.domain;
        if opened_with(form) != Some(texts_of(&stored.urls)) {
            return Ok(saved);
        }
        revision = stored.revision;
        attempts += 1;
    }
}

/// The three addresses that the form was opened with. `None` for a page of the version before, which did not send them.
fn opened_with(form: &FormBody) -> Option<[&str; 3]> {
    let [root, not_found, expired] = SHOWN.map(|name| form.given(name));
    Some([root?, not_found?, expired?])
}

fn texts_of(urls: &DomainUrls) -> [&str; 3] {
    let DomainUrls { root_url, not_found_url, expired_url } = urls;
    [root_url, not_found_url, expired_url].map(|url| url.as_ref().map_or("", TargetUrl::as_str))
}

/// What a field asks for. One that the form does not have stays as it is.
fn url_change(form: &FormBody, name: &str) -> Result<Change<TargetUrl>, FieldError> {
    let Some(typed) = form.given(name).map(with_scheme) else { return Ok(Change::Keep) };
    if typed.is_empty() { Ok(Change::Clear) } else { TargetUrl::parse(&typed).map(Change::Set) }
}

/// Whether the domain has what a stale form asks for, as when it was sent twice.
async fn is_stored(visit: &Visit, member: &Member, request: &DomainRequest) -> Result<bool, Failure> {
    let shown = domains::get(visit.app(), &member.caller, visit.id::<DomainKind>()).await?;
    let DomainUrls { root_url, not_found_url, expired_url } = shown.domain.urls;
    let pairs = [
        (&request.root_url, root_url),
        (&request.not_found_url, not_found_url),
        (&request.expired_url, expired_url),
    ];
    Ok(pairs.into_iter().all(|(change, url)| change.clone().applied_to(url.clone()) == url))
}

/// The form with what is stored, or with what was typed.
pub(super) fn form_of(shown: &DomainWithInstructions, key: String, typed: Option<Typed>) -> VisitorsForm {
    let stored = texts_of(&shown.domain.urls).map(str::to_owned);
    let revision = Some(shown.domain.revision.get().to_string());
    let form = Form { idempotency_key: key, revision, general_error: None };
    let opened = |shown: [String; 3]| SHOWN.into_iter().zip(shown).collect();
    let Some(typed) = typed else {
        let opened_with = opened(stored.clone());
        let [root_url, not_found_url, expired_url] = stored.map(Field::of);
        return VisitorsForm { form, opened_with, root_url, not_found_url, expired_url };
    };
    let Typed { root_url, not_found_url, expired_url, violations, is_stale, shown, revision } = typed;
    // A form with a mistake shows the version that it showed before, so that a later save notices another one.
    let (form, opened_with) = if is_stale {
        (form, opened(stored.clone()))
    } else {
        (Form { revision: Some(revision), ..form }, shown.map(opened).unwrap_or_default())
    };
    let general_error = is_stale.then(|| {
        let said = |url: &String| {
            let said = if url.is_empty() { TEXTS.domains.nowhere } else { url.as_str() };
            said.to_owned()
        };
        let [root, not_found, expired] = stored.each_ref().map(said);
        (TEXTS.domains.changed_meanwhile)(&root, &not_found, &expired)
    });
    let [root, not_found, expired] = stored;
    VisitorsForm {
        form: Form { general_error, ..form },
        opened_with,
        root_url: field(&root_url.unwrap_or(root), &violations, ROOT),
        not_found_url: field(&not_found_url.unwrap_or(not_found), &violations, NOT_FOUND),
        expired_url: field(&expired_url.unwrap_or(expired), &violations, EXPIRED),
    }
}
