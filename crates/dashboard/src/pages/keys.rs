//! API keys (D73, D80).

use std::collections::HashMap;
use std::time::Duration;

use actix_web::HttpResponse;
use signpost_app::AppError;
use signpost_app::idempotency::Idempotency;
use signpost_app::keys::NewKey;
use signpost_app::people::{PersonError, keys};
use signpost_domain::{
    ApiKey, ApiKeyId, FieldError, Name, Permission, PermissionSet, Preferences, Timestamp, UserId,
    ViolationCode, Violations,
};

use super::{field, general_message, message_at, remembered_without_secret};
use crate::answer::{page, refused, see_other};
use crate::curl;
use crate::failure::Failure;
use crate::form_body::FormBody;
use crate::frame::{TEXTS, shell};
use crate::local_time::{date, date_and_time};
use crate::paths::with_query;
use crate::views::{
    Choice, CurlExample, Form, IssueKeyForm, IssuedKeyPage, KeyRow, KeyState, KeysPage, NavItem, Pager,
    Select,
};
use crate::visit::{Member, Visit};

/// The days until a key expires, as the form offers them.
const EXPIRES: [(&str, Option<u64>, &str); 4] = [
    ("never", None, TEXTS.expires_never),
    ("30", Some(30), TEXTS.expires_30),
    ("90", Some(90), TEXTS.expires_90),
    ("365", Some(365), TEXTS.expires_365),
];

/// What the form about a new key says.
#[derive(Debug, Default)]
struct Typed {
    name: String,
    expires: String,
    has_all_scopes: bool,
    scopes: Vec<String>,
}

/// `GET /{account}/keys`. The query may have what was typed before the password was confirmed.
pub(crate) async fn show(visit: Visit) -> Result<HttpResponse, Failure> {
    let member = visit.member().await?;
    let query = visit.query();
    let typed = match query.given("expires") {
        None => Typed { has_all_scopes: true, ..Typed::default() },
        Some(expires) => Typed {
            name: query.text("name").to_owned(),
            expires: expires.to_owned(),
            has_all_scopes: query.given("all_scopes").is_some(),
            scopes: query.all("scopes").map(str::to_owned).collect(),
        },
    };
    page(&keys_page(&visit, &member, &typed, &Violations::new()).await?)
}

/// `POST /{account}/keys`: issues a key, and shows it once.
pub(crate) async fn issue(visit: Visit, form: FormBody) -> Result<HttpResponse, Failure> {
    let member = visit.member().await?;
    member.caller.require(Permission::ManageKeys)?;
    let typed = Typed {
        name: form.text("name").to_owned(),
        expires: form.text("expires").to_owned(),
        has_all_scopes: form.is_checked("all_scopes"),
        scopes: form.all("scopes").map(str::to_owned).collect(),
    };
    let mut violations = Violations::new();
    let Some(new) = new_key(&typed, visit.app().clock.now(), &mut violations) else {
        return refused(&keys_page(&visit, &member, &typed, &violations).await?);
    };
    let request = form.key();
    let idempotency = Idempotency::of_request(request.as_ref(), |key: &ApiKey| {
        Some(remembered_without_secret(key.last_four.clone()))
    });
    let (caller, signed_in) = (&member.caller, &member.signed_in);
    let name = new.name.as_ref().map(|name| name.as_str().to_owned());
    let issued = keys::issue(visit.app(), caller, signed_in, new, idempotency).await;
    let (last_four, secret) = match issued {
        Ok((key, secret)) => (key.last_four, Some(secret.expose().to_owned())),
        Err(PersonError::NotConfirmed) => {
            return Err(Failure::confirm_first(&path_with(&visit, &typed)));
        }
        Err(PersonError::Broken(AppError::AnsweredBefore(answer))) => (answer.body, None),
        Err(PersonError::Invalid(violations) | PersonError::Broken(AppError::Invalid(violations))) => {
            return refused(&keys_page(&visit, &member, &typed, &violations).await?);
        }
        Err(error) => return Err(error.into()),
    };
    page(&IssuedKeyPage {
        name,
        last_four,
        example: secret.as_deref().map(|secret| working_example(&visit, secret)),
        secret,
        unavailable: without_api(&member),
        shell: shell(&visit, &member, NavItem::Keys, TEXTS.title_key_issued, vec![]),
    })
}

/// `POST /{account}/keys/{id}/revoke`
pub(crate) async fn revoke(visit: Visit, _: FormBody) -> Result<HttpResponse, Failure> {
    let member = visit.member().await?;
    let id: ApiKeyId = visit.part("id").parse().map_err(|_| Failure::NOT_FOUND)?;
    let path = format!("/{}/keys", member.caller.account_id());
    match keys::revoke(visit.app(), &member.caller, &member.signed_in, id).await {
        Ok(_) => Ok(see_other(&format!("{path}?said=key-revoked"))),
        Err(PersonError::NotConfirmed) => Err(Failure::confirm_first(&path)),
        Err(error) => Err(error.into()),
    }
}

/// A command that works with this key at once.
fn working_example(visit: &Visit, secret: &str) -> CurlExample {
    let CurlExample { title, command } = curl::read(visit.api_url(), TEXTS.curl_try_key, "/v1/account");
    CurlExample { title, command: command.replace("$SIGNPOST_KEY", secret) }
}

fn new_key(typed: &Typed, now: Timestamp, violations: &mut Violations) -> Option<NewKey> {
    let invalid = |message: &'static str| FieldError::new(ViolationCode::InvalidValue, message);
    let name = Some(typed.name.as_str()).filter(|name| !name.trim().is_empty()).map(Name::parse).transpose();
    let name = name.map_err(|error| violations.push(error.at("name"))).ok();
    let days = EXPIRES.iter().find(|(value, ..)| *value == typed.expires).map(|(_, days, _)| *days);
    if days.is_none() {
        violations.push(invalid("must be one of the choices").at("expires"));
    }
    let scopes = if typed.has_all_scopes {
        None
    } else {
        let scopes: Option<Vec<Permission>> =
            typed.scopes.iter().map(|name| Permission::scope(name)).collect();
        match scopes {
            Some(scopes) if !scopes.is_empty() => Some(scopes.into_iter().collect::<PermissionSet>()),
            Some(_) => {
                violations.push(invalid("must have at least one permission").at("scopes"));
                None
            }
            None => {
                violations.push(invalid("must be among the listed permissions").at("scopes"));
                None
            }
        }
    };
    if !violations.is_empty() {
        return None;
    }
    let expires_at = days?.map(|days| now.plus(Duration::from_hours(24 * days)));
    Some(NewKey { name: name?, expires_at, scopes })
}

/// The page of keys with what was typed, to return to after the password was confirmed.
fn path_with(visit: &Visit, typed: &Typed) -> String {
    let own = [("name", typed.name.as_str()), ("expires", &typed.expires)];
    let all = typed.has_all_scopes.then_some(("all_scopes", "yes"));
    let scopes = typed.scopes.iter().map(|scope| ("scopes", scope.as_str()));
    with_query(&format!("/{}/keys", visit.part("account")), own.into_iter().chain(all).chain(scopes))
}

async fn keys_page(
    visit: &Visit,
    member: &Member,
    typed: &Typed,
    violations: &Violations,
) -> Result<KeysPage, Failure> {
    let keys = keys::list(visit.app(), &member.caller).await?;
    let issuers = keys::issuers(visit.app(), &member.caller, &keys).await?;
    let preferences = &member.signed_in.user().preferences;
    let now = visit.app().clock.now();
    let rows = keys.iter().map(|key| key_row(visit, key, &issuers, preferences, now)).collect();
    let choice = |scope: Permission| {
        let is_chosen = typed.scopes.iter().any(|chosen| chosen == scope.as_str());
        Choice::new(scope.as_str(), scope_sentence(scope), is_chosen)
    };
    let expires = EXPIRES.map(|(value, _, label)| Choice::new(value, label, value == typed.expires)).into();
    Ok(KeysPage {
        can_manage: member.caller.may(Permission::ManageKeys),
        unavailable: without_api(member),
        rows,
        pager: Pager::default(),
        issue: IssueKeyForm {
            form: Form {
                idempotency_key: visit.new_key(),
                general_error: general_message(violations, &["name", "expires", "scopes"]),
                ..Form::default()
            },
            name: field(&typed.name, violations, "name"),
            expires: Select { options: expires, error: message_at(violations, "expires") },
            all_scopes: typed.has_all_scopes,
            scopes: Permission::SCOPES.map(choice).into(),
            scopes_error: message_at(violations, "scopes"),
        },
        shell: shell(visit, member, NavItem::Keys, TEXTS.keys, vec![]),
    })
}

fn key_row(
    visit: &Visit,
    key: &ApiKey,
    issuers: &HashMap<UserId, String>,
    preferences: &Preferences,
    now: Timestamp,
) -> KeyRow {
    let state = if key.revoked_at.is_some() {
        KeyState::Revoked
    } else if key.is_accepted(now) {
        KeyState::Active
    } else {
        KeyState::Expired
    };
    let scopes = key.scopes.map_or_else(Vec::new, |scopes| {
        scopes.iter().map(|scope| scope_sentence(scope).to_owned()).collect()
    });
    KeyRow {
        id: key.id.to_string(),
        name: key.name.as_ref().map(|name| name.as_str().to_owned()),
        last_four: key.last_four.clone(),
        issuer: key.created_by.and_then(|user| issuers.get(&user).cloned()),
        created: date(key.created_at, preferences),
        last_used: key.last_used_at.map(|at| date_and_time(at, preferences)),
        expires: key.expires_at.map(|at| date(at, preferences)),
        scopes,
        state,
        idempotency_key: visit.new_key(),
    }
}

const fn scope_sentence(scope: Permission) -> &'static str {
    match scope {
        Permission::Read => TEXTS.scope_read,
        Permission::WriteLinks => TEXTS.scope_links,
        Permission::WriteDomains => TEXTS.scope_domains,
        Permission::ReadAnalytics => TEXTS.scope_analytics,
        // Keys never have these.
        Permission::ManageKeys
        | Permission::ManageMembers
        | Permission::ManageAccount
        | Permission::ReadAudit => scope.as_str(),
    }
}

fn without_api(member: &Member) -> Option<String> {
    (!member.caller.plan().api_access).then(|| TEXTS.plan_without_api.to_owned())
}
