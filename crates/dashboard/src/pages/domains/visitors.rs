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
use crate::pages::links::typed_address::completed;
use crate::views::{Field, Form, VisitorsForm};
use crate::visit::{Member, Visit};

const ROOT: &str = "root_url";
const NOT_FOUND: &str = "not_found_url";

/// What was typed, and why it was not saved.
pub(super) struct Typed {
    root_url: String,
    not_found_url: String,
    violations: Violations,
    is_stale: bool,
}

/// `POST /{account}/domains/{id}`
pub(crate) async fn save(visit: Visit, form: FormBody) -> Result<HttpResponse, Failure> {
    let member = visit.member().await?;
    member.caller.require(Permission::WriteDomains)?;
    let mut violations = Violations::new();
    let mut url =
        |name: &'static str| match form.non_empty(name).map(|typed| TargetUrl::parse(&completed(typed))) {
            None => Change::Clear,
            Some(Ok(url)) => Change::Set(url),
            Some(Err(error)) => {
                let error: FieldError = error;
                violations.push(error.at(name));
                Change::Keep
            }
        };
    let request =
        DomainRequest { root_url: url(ROOT), not_found_url: url(NOT_FOUND), ..DomainRequest::default() };
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
    let typed = Typed {
        root_url: completed(form.text(ROOT)).into_owned(),
        not_found_url: completed(form.text(NOT_FOUND)).into_owned(),
        violations,
        is_stale,
    };
    let remarks = Remarks { typed: Some(typed), ..Remarks::default() };
    refused(&domain_page(&visit, &member, remarks).await?)
}

/// Whether the domain has what a stale form asks for, as when it was sent twice.
async fn is_stored(visit: &Visit, member: &Member, request: &DomainRequest) -> Result<bool, Failure> {
    let shown = domains::get(visit.app(), &member.caller, visit.id::<DomainKind>()).await?;
    let DomainUrls { root_url, not_found_url, expired_url: _ } = shown.domain.urls;
    Ok(request.root_url.clone().applied_to(root_url.clone()) == root_url
        && request.not_found_url.clone().applied_to(not_found_url.clone()) == not_found_url)
}

/// The form with what is stored, or with what was typed.
pub(super) fn form_of(shown: &DomainWithInstructions, key: String, typed: Option<Typed>) -> VisitorsForm {
    let DomainUrls { root_url, not_found_url, expired_url: _ } = &shown.domain.urls;
    let text = |url: &Option<TargetUrl>| url.as_ref().map_or("", TargetUrl::as_str).to_owned();
    let (root, not_found) = (text(root_url), text(not_found_url));
    let revision = Some(shown.domain.revision.get().to_string());
    let form = Form { idempotency_key: key, revision, general_error: None };
    let Some(Typed { root_url, not_found_url, violations, is_stale }) = typed else {
        return VisitorsForm { form, root_url: Field::of(root), not_found_url: Field::of(not_found) };
    };
    let stored = |url: String| if url.is_empty() { TEXTS.domains.nowhere.to_owned() } else { url };
    let general_error =
        is_stale.then(|| (TEXTS.domains.changed_meanwhile)(&stored(root), &stored(not_found)));
    VisitorsForm {
        form: Form { general_error, ..form },
        root_url: field(&root_url, &violations, ROOT),
        not_found_url: field(&not_found_url, &violations, NOT_FOUND),
    }
}
