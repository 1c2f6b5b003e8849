//! The list of domains, and connecting one.

use actix_web::HttpResponse;
use serde_json::json;
use signpost_app::AppError;
use signpost_app::domains::{self, Connected, DomainWithInstructions};
use signpost_app::idempotency::Idempotency;
use signpost_domain::{
    DnsRecordType, Feature, FieldError, PageLimit, Permission, Refusal, VerificationRecord, ViolationCode,
    Violations,
};

use super::{list_path, records_found, state_of};
use crate::answer::{page, refused};
use crate::curl;
use crate::failure::Failure;
use crate::form_body::FormBody;
use crate::frame::{TEXTS, shell};
use crate::local_time::{date, date_and_time};
use crate::pages::{field, followed, general_message, pager, position_of, remembered};
use crate::views::{DomainRow, DomainsPage, Form, NavItem, ProofRecord};
use crate::visit::{Member, Visit};

/// What the form says, and why it was refused.
#[derive(Default)]
struct Refused {
    hostname: String,
    violations: Violations,
    general: Option<String>,
    /// What would prove a hostname that another account has connected.
    proof: Option<VerificationRecord>,
}

/// `GET /{account}/domains`
pub(crate) async fn show(visit: Visit) -> Result<HttpResponse, Failure> {
    let member = visit.member().await?;
    page(&domains_page(&visit, &member, Refused::default()).await?)
}

/// `POST /{account}/domains`: connects a domain, and leads to its records.
pub(crate) async fn connect(visit: Visit, form: FormBody) -> Result<HttpResponse, Failure> {
    let member = visit.member().await?;
    member.caller.require(Permission::WriteDomains)?;
    let hostname = hostname_in(form.text("hostname"));
    let list = list_path(&member);
    let path = |connected: &Connected| format!("{list}/{}", connected.domain.domain.id);
    let key = form.key();
    let idempotency =
        Idempotency::of_request(key.as_ref(), move |connected| Some(remembered(path(connected))));
    let connected = domains::connect(visit.app(), &member.caller, hostname, idempotency).await;
    let mut proof = None;
    let (violations, general) = match connected {
        Ok(connected) => return followed(Ok(path(&connected))),
        Err(AppError::Invalid(violations)) => {
            let general = general_message(&violations, &["hostname"]);
            (violations, general)
        }
        Err(AppError::Refused(Refusal::HostnameTaken { record })) => {
            proof = Some(*record);
            let error = FieldError::new(ViolationCode::InvalidValue, TEXTS.domains.taken);
            (Violations::from(error.at("hostname")), None)
        }
        Err(AppError::Refused(refusal @ Refusal::HostnameIsSystemDomain)) => {
            let error = FieldError::new(ViolationCode::InvalidValue, refusal.to_string());
            (Violations::from(error.at("hostname")), None)
        }
        Err(AppError::Refused(
            refusal @ (Refusal::FeatureNotAvailable(_)
            | Refusal::DomainsNotOffered
            | Refusal::DomainProviderUnavailable
            | Refusal::PlanLimitReached { .. }),
        )) => (Violations::new(), Some(refusal.to_string())),
        Err(error) => return Err(error.into()),
    };
    let typed = Refused { hostname: hostname.to_owned(), violations, general, proof };
    refused(&domains_page(&visit, &member, typed).await?)
}

async fn domains_page(visit: &Visit, member: &Member, typed: Refused) -> Result<DomainsPage, Failure> {
    let caller = &member.caller;
    let after = position_of(&visit.query());
    let list = domains::list(visit.app(), caller, PageLimit::default(), after).await?;
    let preferences = &member.signed_in.user().preferences;
    let row = |shown: &DomainWithInstructions| {
        let connected = format!("{} {}", TEXTS.domains.connected, date(shown.domain.created_at, preferences));
        let next = shown
            .next_check_at
            .filter(|_| !shown.domain.status.serves_links())
            .map(|at| format!(" · {} {}", TEXTS.domains.next_check, date_and_time(at, preferences)));
        DomainRow {
            id: shown.domain.id.to_string(),
            hostname: shown.domain.hostname.to_string(),
            state: state_of(shown),
            summary: format!(
                "{} · {connected}{}",
                records_found(&shown.dns_instructions),
                next.unwrap_or_default()
            ),
            is_active: shown.domain.status.serves_links(),
        }
    };
    let api = visit.api_url();
    let example = json!({ "hostname": "go.example.com" });
    let curl = vec![
        curl::read(api, TEXTS.domains.curl_list, "/v1/domains"),
        curl::send_json(api, TEXTS.domains.curl_connect, "POST", "/v1/domains", &example),
    ];
    Ok(DomainsPage {
        can_write: caller.may(Permission::WriteDomains),
        unavailable: unavailable(visit, member),
        rows: list.items.iter().map(row).collect(),
        pager: pager(&list, &list_path(member), &[], after.is_none()),
        form: Form { idempotency_key: visit.new_key(), general_error: typed.general, ..Form::default() },
        hostname: field(&typed.hostname, &typed.violations, "hostname"),
        proof: typed.proof.map(|record| ProofRecord {
            record_type: DnsRecordType::Txt.as_str(),
            name: record.name(),
            value: record.value(),
        }),
        shell: shell(visit, member, NavItem::Domains, TEXTS.domains.nav, curl),
    })
}

/// Why nothing can be connected at present.
fn unavailable(visit: &Visit, member: &Member) -> Option<String> {
    if !member.caller.plan().features.contains(Feature::CustomDomains) {
        return Some(TEXTS.domains.plan_without.to_owned());
    }
    let is_offered = visit.app().edge.can_be_pointed_at();
    (!is_offered).then(|| Refusal::DomainsNotOffered.to_string())
}

/// The hostname of an address as browsers let people copy it, without the path and the query. Everything else stays as it is, so
/// that the rule for hostnames says what is wrong with it, such as a port.
fn hostname_in(typed: &str) -> &str {
    let trimmed = typed.trim();
    let Some((scheme, rest)) = trimmed.split_once("://") else { return typed };
    let is_web = ["http", "https"].iter().any(|web| scheme.eq_ignore_ascii_case(web));
    let hostname = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if is_web && !hostname.is_empty() && !hostname.contains(['@', ':']) { hostname } else { typed }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hostname_is_taken_out_of_an_address() {
        for typed in [
            "https://new.acme.io/",
            " http://new.acme.io ",
            "HTTPS://new.acme.io/",
            "https://new.acme.io/a",
            "https://new.acme.io//",
            "Http://new.acme.io/a/b?c=d:e@f#g",
            "https://new.acme.io?a=b",
            "https://new.acme.io#a",
        ] {
            assert_eq!(hostname_in(typed), "new.acme.io", "{typed}");
        }
        assert_eq!(hostname_in("https://NEW.acme.io./"), "NEW.acme.io.");
        for typed in [
            "",
            "new.acme.io",
            "new.acme.io/",
            "ftp://new.acme.io/",
            "new.acme.io/a",
            "https:///a",
            "https://new.acme.io:8443/",
            "https://ada@new.acme.io/",
        ] {
            assert_eq!(hostname_in(typed), typed);
        }
    }
}
