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

/// What was typed, and why it was not saved. A page of the version before has fewer fields.
pub(super) struct Typed {
    root_url: Option<String>,
    not_found_url: Option<String>,
    expired_url: Option<String>,
    violations: Violations,
    is_stale: bool,
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
    let unchanged = Precondition::RevisionIn(vec![form.shown_revision()?]);
    let id = visit.id::<DomainKind>();
    let saved = domains::update(visit.app(), &member.caller, id, submitted, &unchanged).await;
    let (violations, is_stale) = match saved {
        Ok(_) => return Ok(saved_answer()),
        Err(AppError::Invalid(violations)) => (violations, false),
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
    };
    let remarks = Remarks { typed: Some(typed), ..Remarks::default() };
    refused(&domain_page(&visit, &member, remarks).await?)
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
    let DomainUrls { root_url, not_found_url, expired_url } = &shown.domain.urls;
    let stored = [root_url, not_found_url, expired_url]
        .map(|url| url.as_ref().map_or("", TargetUrl::as_str).to_owned());
    let revision = Some(shown.domain.revision.get().to_string());
    let form = Form { idempotency_key: key, revision, general_error: None };
    let Some(Typed { root_url, not_found_url, expired_url, violations, is_stale }) = typed else {
        let [root_url, not_found_url, expired_url] = stored.map(Field::of);
        return VisitorsForm { form, root_url, not_found_url, expired_url };
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
        root_url: field(&root_url.unwrap_or(root), &violations, ROOT),
        not_found_url: field(&not_found_url.unwrap_or(not_found), &violations, NOT_FOUND),
        expired_url: field(&expired_url.unwrap_or(expired), &violations, EXPIRED),
    }
}
