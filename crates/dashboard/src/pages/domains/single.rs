//! One domain: its records beside what DNS has, its visitors, its certificate, its history, and its deletion.

use std::net::IpAddr;

use actix_web::HttpResponse;
use serde_json::json;
use signpost_app::AppError;
use signpost_app::certificates::ShownCertificate;
use signpost_app::domains::{self, CheckedInstruction, DomainWithInstructions, LinkCount};
use signpost_app::idempotency::Idempotency;
use signpost_app::people::profile::require_confirmed;
use signpost_domain::id::DomainKind;
use signpost_domain::{
    CertificateStatus, CustomDomainStatus, DnsRecordType, ObservedText, Permission, Precondition,
    Preferences, RecordFinding, RecordStatus, Refusal, StatusChange, StatusKind, Timestamp,
};

use super::visitors::{self, Typed};
use super::{list_path, state_of};
use crate::answer::{page, refused, see_other};
use crate::curl;
use crate::failure::Failure;
use crate::form_body::FormBody;
use crate::frame::{TEXTS, shell};
use crate::local_time::{date, date_and_time, number};
use crate::pages::{followed, general_message, remembered};
use crate::paths::with_query;
use crate::texts::DomainTexts;
use crate::views::{CertificateFacts, DomainPage, Form, Label, NavItem, Notice, RecordRow, Tone};
use crate::visit::{Member, Visit};

const WORDS: &DomainTexts = TEXTS.domains;

/// The parameter of the page to which a confirmation leads that a deletion needs.
const DELETING: &str = "deleting";

/// `GET /{account}/domains/{id}`
pub(crate) async fn show(visit: Visit) -> Result<HttpResponse, Failure> {
    let member = visit.member().await?;
    page(&domain_page(&visit, &member, Remarks::default()).await?)
}

/// `POST /{account}/domains/{id}/verify`: checks the records now.
pub(crate) async fn verify(visit: Visit, form: FormBody) -> Result<HttpResponse, Failure> {
    let member = visit.member().await?;
    let id = visit.id::<DomainKind>();
    let path = format!("{}/{}?said=domain-checked", list_path(&member), visit.part("id"));
    let key = form.key();
    let answer = path.clone();
    let idempotency = Idempotency::of_request(key.as_ref(), move |_: &DomainWithInstructions| {
        Some(remembered(answer.clone()))
    });
    match domains::verify(visit.app(), &member.caller, id, idempotency).await {
        Ok(_) => followed(Ok(path)),
        // The record that would prove the hostname is on the page.
        Err(AppError::Refused(Refusal::HostnameTaken { record: _ })) => {
            let problem = format!("{} {}", WORDS.taken, WORDS.taken_check);
            let remarks = Remarks { problem: Some(problem), typed: None };
            refused(&domain_page(&visit, &member, remarks).await?)
        }
        Err(AppError::Refused(refusal @ Refusal::DomainProviderUnavailable)) => {
            let remarks = Remarks { problem: Some(refusal.to_string()), typed: None };
            refused(&domain_page(&visit, &member, remarks).await?)
        }
        Err(AppError::Invalid(violations)) => {
            let remarks = Remarks { problem: general_message(&violations, &[]), typed: None };
            refused(&domain_page(&visit, &member, remarks).await?)
        }
        Err(error) => Err(error.into()),
    }
}

/// `POST /{account}/domains/{id}/delete` (D73).
pub(crate) async fn delete(visit: Visit, _: FormBody) -> Result<HttpResponse, Failure> {
    let member = visit.member().await?;
    member.caller.require(Permission::WriteDomains)?;
    let path = list_path(&member);
    if require_confirmed(visit.app(), &member.signed_in).is_err() {
        return Err(Failure::confirm_first(&format!("{path}/{}?{DELETING}=1", visit.part("id"))));
    }
    domains::delete(visit.app(), &member.caller, visit.id::<DomainKind>(), &Precondition::None).await?;
    Ok(see_other(&format!("{path}?said=domain-deleted")))
}

/// What the page says about the request before.
#[derive(Default)]
pub(super) struct Remarks {
    /// Why a check was refused.
    pub(super) problem: Option<String>,
    /// The form for visitors that was not saved.
    pub(super) typed: Option<Typed>,
}

pub(super) async fn domain_page(
    visit: &Visit,
    member: &Member,
    remarks: Remarks,
) -> Result<DomainPage, Failure> {
    let Remarks { problem, typed } = remarks;
    let (app, caller) = (visit.app(), &member.caller);
    let shown = domains::get(app, caller, visit.id::<DomainKind>()).await?;
    let links = domains::links_on(app, caller, &shown.domain.hostname).await?;
    let preferences = &member.signed_in.user().preferences;
    let domain = &shown.domain;
    let api_path = format!("/v1/domains/{}", domain.id);
    let api = visit.api_url();
    let curl = vec![
        curl::read(api, WORDS.curl_read, &api_path),
        curl::send(api, WORDS.curl_verify, "POST", &format!("{api_path}/verify")),
        curl::send_json(
            api,
            WORDS.visitors,
            "PATCH",
            &api_path,
            &json!({ "root_url": "https://example.com/", "not_found_url": null, "expired_url": null }),
        ),
        curl::send(api, WORDS.curl_delete, "DELETE", &api_path),
    ];
    let list = with_query(&format!("/{}/links", caller.account_id()), [("domain", domain.hostname.as_str())]);
    let mut shell = shell(visit, member, NavItem::Domains, domain.hostname.as_str(), curl);
    let missing = missing_records(&shown);
    if missing > 0 && visit.query().text("said") == "domain-checked" {
        let all = shown.dns_instructions.len();
        shell.notice =
            Some(Notice::warning((WORDS.said_checked_missing)(&missing.to_string(), &all.to_string())));
    }
    let count = match links {
        LinkCount::Exactly(0) => None,
        LinkCount::Exactly(count) => Some((WORDS.show_links)(count)),
        LinkCount::MoreThan(count) => {
            Some((WORDS.links_many)(&number(u64::try_from(count).unwrap_or(u64::MAX))))
        }
    };
    Ok(DomainPage {
        id: domain.id.to_string(),
        can_write: caller.may(Permission::WriteDomains),
        state: state_of(&shown),
        explanation: explanation(&shown, preferences),
        is_failed: domain.status == CustomDomainStatus::Failed,
        problem,
        visitors: visitors::form_of(&shown, visit.new_key(), typed),
        check: Form { idempotency_key: visit.new_key(), ..Form::default() },
        records: shown.dns_instructions.iter().map(|record| record_row(&shown, record)).collect(),
        facts: facts(&shown, preferences),
        links: count.map(|count| (count, list)),
        certificate: certificate(&shown.certificate, preferences),
        certificate_elsewhere: app.issuance.is_none().then_some(WORDS.certificate_elsewhere),
        history: domain.history.changes().rev().map(|change| history_row(change, preferences)).collect(),
        is_deleting: visit.query().given(DELETING).is_some(),
        delete_key: visit.new_key(),
        delete_text: match links {
            LinkCount::Exactly(count) => (WORDS.delete_text)(count),
            LinkCount::MoreThan(count) => {
                (WORDS.delete_text_many)(&number(u64::try_from(count).unwrap_or(u64::MAX)))
            }
        },
        shell,
    })
}

/// What the state means and what comes next.
fn explanation(shown: &DomainWithInstructions, preferences: &Preferences) -> String {
    match shown.domain.status {
        CustomDomainStatus::Pending { expires_at } => {
            (WORDS.is_pending)(&date_and_time(expires_at, preferences))
        }
        CustomDomainStatus::SslPending { expires_at } => {
            // What hinders an order is said beside the certificate.
            let is_hindered = shown.certificate.failure.is_some();
            let words = if is_hindered { WORDS.is_ssl_hindered } else { WORDS.is_ssl_pending };
            words(&date_and_time(expires_at, preferences))
        }
        CustomDomainStatus::Active { misdirected_since: None } => WORDS.is_active.to_owned(),
        CustomDomainStatus::Active { misdirected_since: Some(since) } => {
            (WORDS.is_misdirected)(&date_and_time(since, preferences))
        }
        CustomDomainStatus::Failed => {
            let reason = (WORDS.failure)(shown.domain.failure_reason.as_ref());
            format!("{reason} {}", WORDS.failed_next)
        }
    }
}

fn facts(shown: &DomainWithInstructions, preferences: &Preferences) -> Vec<(&'static str, String)> {
    let checked = shown.domain.observation.as_ref().map(|seen| seen.checked_at);
    let mut facts = vec![
        (WORDS.connected, date(shown.domain.created_at, preferences)),
        (
            WORDS.last_check,
            checked.map_or_else(|| WORDS.never.to_owned(), |at| date_and_time(at, preferences)),
        ),
    ];
    facts.extend(shown.next_check_at.map(|at| (WORDS.next_check, date_and_time(at, preferences))));
    facts
}

/// How many of the records are not as they should be. A domain in service needs no TXT record any more.
fn missing_records(shown: &DomainWithInstructions) -> usize {
    let serves = shown.domain.status.serves_links();
    let is_missing = |record: &&CheckedInstruction| {
        matches!(record.finding.status, RecordStatus::Missing | RecordStatus::Wrong)
            && !(serves && record.instruction.record_type == DnsRecordType::Txt)
    };
    shown.dns_instructions.iter().filter(is_missing).count()
}

fn record_row(shown: &DomainWithInstructions, checked: &CheckedInstruction) -> RecordRow {
    let CheckedInstruction { instruction, finding } = checked;
    let tone = match finding.status {
        RecordStatus::Unknown => Tone::Neutral,
        RecordStatus::Found => Tone::Good,
        RecordStatus::Missing | RecordStatus::Wrong => Tone::Bad,
    };
    let is_text = instruction.record_type == DnsRecordType::Txt;
    let is_done = is_text && shown.domain.status.serves_links();
    let hint = match finding.mistake {
        Some(mistake) => mistake.hint(&instruction.name),
        None if finding.status == RecordStatus::Wrong && !is_done && is_text => WORDS.wrong_text.to_owned(),
        None => String::new(),
    };
    RecordRow {
        record_type: instruction.record_type.as_str(),
        name: instruction.name.clone(),
        value: instruction.value.clone(),
        purpose: if is_done { WORDS.txt_only_once } else { instruction.purpose }.to_owned(),
        verdict: Label { text: (WORDS.verdict)(finding.status).to_owned(), tone },
        is_known: finding.status != RecordStatus::Unknown,
        seen: finding.observed.iter().map(ObservedText::to_string).collect(),
        seen_note: seen_note(instruction.record_type, finding),
        hint,
    }
}

/// What people need to know to understand the values that were found.
fn seen_note(record_type: DnsRecordType, finding: &RecordFinding) -> Option<&'static str> {
    let is_alias = matches!(record_type, DnsRecordType::Cname | DnsRecordType::Alias);
    let has_address = || finding.observed.iter().any(|seen| seen.as_str().parse::<IpAddr>().is_ok());
    if finding.status == RecordStatus::Found && is_alias && has_address() {
        return Some(WORDS.seen_addresses);
    }
    // Whether there are more than these is not stored.
    (finding.observed.len() >= RecordFinding::MAX_VALUES).then_some(WORDS.seen_some)
}

fn history_row(change: &StatusChange, preferences: &Preferences) -> (String, String) {
    let StatusChange { at, status, failure_reason } = change;
    let state = (WORDS.state)(*status);
    let what = match status {
        StatusKind::Failed => (WORDS.history_changed)(state, (WORDS.failure)(failure_reason.as_ref())),
        StatusKind::Pending | StatusKind::SslPending | StatusKind::Active => state.to_owned(),
    };
    (date_and_time(*at, preferences), what)
}

/// The certificate, unless there is none and none is wanted.
fn certificate(shown: &ShownCertificate, preferences: &Preferences) -> Option<CertificateFacts> {
    let ShownCertificate { status, issuer, not_after, renews_at, last_attempt_at, next_attempt_at, failure } =
        shown;
    let tone = match status {
        CertificateStatus::None => return None,
        CertificateStatus::Ordering => Tone::Neutral,
        CertificateStatus::Active | CertificateStatus::Renewing => Tone::Good,
        CertificateStatus::Failing | CertificateStatus::Expired => Tone::Bad,
    };
    let instant = |label, at: &Option<Timestamp>| at.map(|at| (label, date_and_time(at, preferences)));
    let facts = [
        issuer.clone().map(|issuer| (WORDS.certificate_issuer, issuer)),
        instant(WORDS.certificate_ends, not_after),
        instant(WORDS.certificate_renews, renews_at),
        instant(WORDS.certificate_attempt, last_attempt_at),
        // While nothing is wrong, the next attempt is the renewal.
        instant(WORDS.certificate_next, next_attempt_at).filter(|_| renews_at != next_attempt_at),
    ];
    Some(CertificateFacts {
        state: Label { text: (WORDS.certificate_status)(*status).to_owned(), tone },
        facts: facts.into_iter().flatten().collect(),
        problem: failure.as_ref().map(|failure| (WORDS.certificate_failure)(&failure.reason).to_owned()),
        details: failure.as_ref().and_then(|failure| failure.message.as_ref()).map(ToString::to_string),
    })
}
