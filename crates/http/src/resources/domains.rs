//! Custom domains: `/v1/domains` (contract "Domain", D32, D37–D43).

use actix_web::{HttpResponse, web};
use serde_json::json;
use signpost_app::Application;
use signpost_app::domains::{self, CheckedInstruction, Connected, DomainWithInstructions};
use signpost_domain::id::DomainKind;
use signpost_domain::{
    AppFile, CustomDomain, DnsInstruction, DomainId, DomainUrls, FailureReason, HostnameRules, RecordFinding,
    Rejection, Submitted, TargetUrl, Timestamp, Violations,
};
use utoipa::openapi::schema::ObjectBuilder;

use self::certificate::CertificateBody;
use self::settings::{SETTINGS, apple_app_site_association_shown, asset_links_shown, read_settings};
use crate::api_error::ApiError;
use crate::cursor::CursorScope;
use crate::extract::{
    Admitted, Document, Field, IfMatch, NoInput, ObjectReader, OnlyBody, OnlyKey, OnlyQuery,
    OnlyVerbatimBody, PageQuery, PathId, field, properties, run_once, text,
};
use crate::openapi::parameters::path_id;
use crate::schema::{
    Components, Property, closed_object, created_at, hostname_pattern, id, keyword, kind, list as list_of,
    matching, named, one_of_known, open_object, revision, shown, string, timestamp, updated_at,
};
use crate::sections::Section;
use crate::wire::{self, DeletionBody, ListBody, Text, Verbatim};

mod certificate;
mod endpoints;
mod settings;

/// The path of the list, and the prefix of each domain's path.
const PATH: &str = "/v1/domains";

/// A domain's id.
const EXAMPLE_ID: &str = "dom_019b5a3b7c5d7e10a1b2c3d4e5f60718";

const DELETED: &str = "The domain is removed; its links stay, without an address.";

/// What the API says about custom domains.
pub(crate) static SECTION: Section = Section {
    tag: "Domains",
    description: "Custom hostnames of the account, which host its links.",
    endpoints: endpoints::all,
    schemas: components,
    parameters: || vec![path_id("DomainId", EXAMPLE_ID, "A domain's id.")],
};

shown! {
    /// A custom domain as lists show it.
    pub(crate) struct DomainBody {
        id: Text<DomainId> = id(EXAMPLE_ID, "The domain's id."),
        object: &'static str = kind("domain"),
        hostname: String = string("The hostname, in lower case.").examples(["links.example.org"]),
        status: &'static str = status(),
        expires_at: Option<Text<Timestamp>> = timestamp(
            "The deadline of the verification; null when the status is not `pending`. From this millisecond on, the status \
             is `failed`.",
        ),
        created_at: Text<Timestamp> = created_at(),
        next_check_at: Option<Text<Timestamp>> = timestamp(
            "When the service next looks up the records in the background; null when no look-up is scheduled. During a \
             look-up, the time at which it began. `POST /v1/domains/{id}/verify` looks them up at once.",
        ),
        checked_at: Option<Text<Timestamp>> = timestamp(
            "When DNS last answered about the hostname; null before the first answer. Look-ups without an answer do not \
             count.",
        ),
        failure_reason: Option<String> = failure_reason(),
        certificate: CertificateBody = named("DomainCertificate"),
        dns_instructions: Vec<DnsInstructionBody> =
            list_of("The records to add at the DNS provider.", named("DnsInstruction")),
        root_url: Option<String> = settings::url_shown("Where the root of the hostname leads if no link is there."),
        not_found_url: Option<String> = settings::url_shown("Where addresses lead at which no link opens."),
        expired_url: Option<String> = settings::url_shown(
            "Where links lead that have ended and have no `fallback_url`.",
        ),
        updated_at: Text<Timestamp> = updated_at(),
        revision: u64 = revision(),
    }
}

shown! {
    /// A custom domain as answers about one domain show it (D127).
    struct SingleDomainBody {
        ..domain: DomainBody,
        apple_app_site_association: Option<Verbatim> = apple_app_site_association_shown(),
        asset_links: Option<Verbatim> = asset_links_shown(),
    }
}

shown! {
    struct DnsInstructionBody {
        record_type as "type": &'static str = one_of_known(
            string(
                "The record's type: `A`, `AAAA`, `CNAME`, `TXT`, or `ALIAS` for what providers also call ANAME or \
                 flattened CNAME. An open list.",
            ),
            ["A", "AAAA", "CNAME", "ALIAS", "TXT"],
        ),
        name: String = string("The record's full name, without a final dot.").examples(["links.example.org"]),
        value: String = string("The record's value, without quotation marks and without a final dot.")
            .examples(["edge.example.com"]),
        purpose: &'static str =
            string("The purpose of the record, in a sentence for people; it may be reworded.").min_length(Some(1)),
        status: &'static str = one_of_known(string(
            "The result of the last look-up of this record. `unknown`: DNS has not answered yet. `found`: the record \
             exists, or others with the same effect. `missing`: there is no record. `wrong`: there is a different record. \
             An open list.",
        ), ["unknown", "found", "missing", "wrong"]),
        observed: Vec<String> = list_of(
            "Some of the values that the last look-up found in place of this record. Anyone who controls the zone chooses \
             them; control characters are replaced. Escape them before you display them.",
            string("A value, or the beginning of a long one.").max_length(Some(255)),
        )
        .max_items(Some(5)),
        hint: Option<String> = hint(),
    }
}

impl From<&DomainWithInstructions> for DomainBody {
    fn from(shown: &DomainWithInstructions) -> Self {
        let DomainWithInstructions { domain, next_check_at, certificate, dns_instructions, files: _ } = shown;
        // Only the owner sees the domain. Its history is for the pages of people.
        let CustomDomain { id, account_id: _, hostname, status, created_at, failure_reason, .. } = domain;
        let CustomDomain { observation, history: _, urls, updated_at, revision, .. } = domain;
        let DomainUrls { root_url, not_found_url, expired_url } = urls;
        let url = |url: &Option<TargetUrl>| url.as_ref().map(|url| url.as_str().to_owned());
        Self {
            id: Text(*id),
            object: "domain",
            hostname: hostname.as_str().to_owned(),
            status: status.as_str(),
            expires_at: status.expires_at().map(Text),
            created_at: Text(*created_at),
            next_check_at: next_check_at.map(Text),
            checked_at: observation.as_ref().map(|observation| Text(observation.checked_at)),
            failure_reason: failure_reason.as_ref().map(FailureReason::as_str).map(str::to_owned),
            certificate: CertificateBody::from(certificate),
            dns_instructions: dns_instructions.iter().map(DnsInstructionBody::from).collect(),
            root_url: url(root_url),
            not_found_url: url(not_found_url),
            expired_url: url(expired_url),
            updated_at: Text(*updated_at),
            revision: revision.get(),
        }
    }
}

impl SingleDomainBody {
    fn new(shown: &DomainWithInstructions) -> Result<Self, ApiError> {
        let files = shown.files.clone().unwrap_or_default();
        let file = |file: Option<&AppFile>| file.map(|file| Verbatim::new(file.as_str())).transpose();
        Ok(Self {
            domain: DomainBody::from(shown),
            apple_app_site_association: file(files.apple_app_site_association.as_ref())?,
            asset_links: file(files.asset_links.as_ref())?,
        })
    }
}

/// 200 with a domain.
fn answer(shown: &DomainWithInstructions) -> Result<HttpResponse, ApiError> {
    wire::tagged(wire::ok(&SingleDomainBody::new(shown)?), shown.domain.revision)
}

impl From<&CheckedInstruction> for DnsInstructionBody {
    fn from(checked: &CheckedInstruction) -> Self {
        let CheckedInstruction { instruction, finding: RecordFinding { status, mistake, observed } } =
            checked;
        let DnsInstruction { record_type, name, value, purpose } = instruction;
        Self {
            record_type: record_type.as_str(),
            name: name.clone(),
            value: value.clone(),
            purpose,
            status: status.as_str(),
            observed: observed.iter().map(ToString::to_string).collect(),
            hint: mistake.map(|mistake| mistake.hint(name)),
        }
    }
}

/// The OpenAPI components of domains.
fn components() -> Components {
    let everywhere = DomainBody::properties();
    let single: Vec<Property> = SingleDomainBody::properties().into_iter().skip(everywhere.len()).collect();
    let names: Vec<&str> = single.iter().map(Property::name).collect();
    // Generators get one type for a domain. Our own tests know which fields belong to which answers.
    let places = json!({"single": names, "list": []});
    let about = "A hostname that the account has connected to host its links. Answers about a single domain always have \
                 `apple_app_site_association` and `asset_links`; lists do not.";
    let shown = open_object(about, everywhere.into_iter().chain(single.into_iter().map(Property::or_absent)))
        .extensions(Some(keyword("x-signpost-in", places)));
    let instruction = open_object("A record to add at the DNS provider.", DnsInstructionBody::properties());
    let sent = properties(|body| {
        read_hostname(body);
    });
    vec![
        ("Domain", shown.into()),
        ("DnsInstruction", instruction.into()),
        (
            "DomainCertificate",
            open_object("The state of the certificate of the hostname.", CertificateBody::properties())
                .into(),
        ),
        ("DomainCreate", closed_object("A hostname to connect.", sent).into()),
        (
            "DomainPatch",
            closed_object(SETTINGS, properties(|body| drop(read_settings(body, &Document::default()))))
                .into(),
        ),
        ("DomainList", wire::page_of("Domain", "One page of domains, newest first.")),
        ("DeletedDomain", wire::deleted::<DomainKind>("domain", EXAMPLE_ID)),
    ]
}

/// The list is open (contract "Conventions").
fn status() -> ObjectBuilder {
    let description = "The progress of the domain. `pending`: its records have not been seen yet. `ssl_pending`: they have been seen, and \
         the certificate is being obtained. `active`: links on it work. `failed`: the records were not seen in time, the \
         hostname has pointed elsewhere for 72 hours, or another account has proven that it is theirs. An open list.";
    one_of_known(string(description), ["pending", "ssl_pending", "active", "failed"])
}

fn failure_reason() -> ObjectBuilder {
    let description = "Why the domain failed; null when the status is not `failed` or the reason is unknown. `deadline_passed`: the \
         records were not seen in time. `proved_by_another_account`: another account has proven that the hostname is \
         theirs. `points_elsewhere`: the hostname has pointed elsewhere for 72 hours. `no_certificate`: no certificate could \
         be obtained for 72 hours. An open list.";
    matching(string(description), "^[a-z_]+$").examples([
        json!("deadline_passed"),
        json!("points_elsewhere"),
        json!(null),
    ])
}

fn hint() -> ObjectBuilder {
    string(
        "The common mistake that explains why the record was not found, and what to change, in a sentence for people: quotation \
         marks around the value, a value that is cut off or in capitals, a name that has the zone twice or lacks its first label, an \
         alias in place of the `TXT` record, a proxy of the provider, or address records of another server, for example. Null when no mistake is recognised. It may be reworded.",
    )
    .min_length(Some(1))
    .examples([json!(null), json!("The value in DNS has quotation marks around it: enter it without them.")])
}

/// The hostname as it was sent; the use case validates it.
fn hostname() -> impl Field<String> {
    field("hostname", text(|text| Ok(text.to_owned())), || {
        let description = "The hostname: at least two labels of letters, digits and inner hyphens, at most 253 characters in total. Case, \
             surrounding white space and one final dot are ignored. The service refuses IP addresses, internationalised names \
             (including the form `xn--`), names outside the public DNS, such as those under `.local`, and public suffixes, such \
             as `co.uk`.";
        matching(string(description), hostname_pattern()).examples(["links.example.org"])
    })
}

fn read_hostname(body: &mut ObjectReader<'_>) -> Option<String> {
    body.required(hostname())
}

/// `POST /v1/domains`: 201 for a new domain, 200 for one that the account has already connected (D40).
pub(crate) async fn connect(
    app: web::Data<Application>,
    caller: Admitted,
    mut body: OnlyBody,
) -> Result<HttpResponse, ApiError> {
    let key = body.key(&app, &caller).await?;
    let show = |connected: &Connected| {
        let Connected { domain, is_new } = connected;
        if !*is_new {
            return answer(domain);
        }
        let created = wire::created(PATH, domain.domain.id, &SingleDomainBody::new(domain)?);
        wire::tagged(created, domain.domain.revision)
    };
    let hostname = hostname_of(body, &app.hostname_rules)?;
    run_once(key.as_ref(), show, |idempotency| domains::connect(&app, &caller, &hostname, idempotency)).await
}

/// Validates the hostname only if the request has other violations. Otherwise the use case does it; here it completes the
/// list of violations (D8).
fn hostname_of(body: OnlyBody, rules: &HostnameRules) -> Result<String, Violations> {
    let (mut body, mut violations) = body.reader()?;
    let hostname = read_hostname(&mut body);
    violations.append(body.finish());
    let Some(hostname) = hostname else { return Err(violations) };
    if violations.is_empty() {
        return Ok(hostname);
    }
    if let Err(Rejection::Invalid(of_hostname)) = rules.check(&hostname) {
        violations.append(of_hostname);
    }
    Err(violations)
}

/// `GET /v1/domains`
pub(crate) async fn list(
    app: web::Data<Application>,
    caller: Admitted,
    input: OnlyQuery,
) -> Result<HttpResponse, ApiError> {
    let scope = CursorScope::new(caller.account_id(), "domains");
    let PageQuery { limit, after } = input.page(&scope)?;
    let page = domains::list(&app, &caller, limit, after).await?;
    wire::ok(&ListBody::new(page.map(|domain| DomainBody::from(&domain)), &scope))
}

/// `GET /v1/domains/{id}`
pub(crate) async fn get(
    app: web::Data<Application>,
    caller: Admitted,
    id: PathId<DomainKind>,
    _: NoInput,
) -> Result<HttpResponse, ApiError> {
    answer(&domains::get(&app, &caller, id.0).await?)
}

/// `PATCH /v1/domains/{id}` (D127)
pub(crate) async fn update(
    app: web::Data<Application>,
    caller: Admitted,
    id: PathId<DomainKind>,
    condition: IfMatch,
    body: OnlyVerbatimBody,
) -> Result<HttpResponse, ApiError> {
    let (mut body, document, mut violations) = body.reader_and_document()?;
    let value = read_settings(&mut body, &document);
    violations.append(body.finish());
    answer(&domains::update(&app, &caller, id.0, Submitted { value, violations }, &condition.0).await?)
}

/// `POST /v1/domains/{id}/verify` (D42): checks the domain now.
pub(crate) async fn verify(
    app: web::Data<Application>,
    caller: Admitted,
    id: PathId<DomainKind>,
    mut input: OnlyKey,
) -> Result<HttpResponse, ApiError> {
    let key = input.key(&app, &caller).await?;
    input.finish()?;
    run_once(key.as_ref(), answer, |idempotency| domains::verify(&app, &caller, id.0, idempotency)).await
}

/// `DELETE /v1/domains/{id}` (D5, D43): the domain's links lose their addresses.
pub(crate) async fn delete(
    app: web::Data<Application>,
    caller: Admitted,
    id: PathId<DomainKind>,
    condition: IfMatch,
    _: NoInput,
) -> Result<HttpResponse, ApiError> {
    let id = domains::delete(&app, &caller, id.0, &condition.0).await?;
    wire::ok(&DeletionBody::new(id, "domain", DELETED))
}
