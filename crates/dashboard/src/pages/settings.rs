//! The settings of an account: what it is, what it requires, and its deletion (D69, D73).

use std::time::Duration;

use actix_web::HttpResponse;
use signpost_app::Actor;
use signpost_app::accounts::{self, Losses, OperatorError};
use signpost_app::people::profile::require_confirmed;
use signpost_app::people::{PersonError, members};
use signpost_domain::{Email, FieldError, Name, Permission, Role, ViolationCode, Violations};

use super::field;
use super::operator::account::{is_over_soon, losses_in_words, mismatch};
use crate::answer::{page, refused, see_other};
use crate::curl;
use crate::failure::Failure;
use crate::form_body::FormBody;
use crate::frame::{TEXTS, shell};
use crate::local_time::date_and_time;
use crate::paths::with_query;
use crate::texts::OperatorTexts;
use crate::views::{DeleteAccountPage, Field, Form, NavItem, Notice, SettingsPage};
use crate::visit::{Member, Visit};

const WORDS: &OperatorTexts = TEXTS.operator;

/// The period of the example about raw clicks.
const WEEK: Duration = Duration::from_hours(7 * 24);

/// `GET /{account}/settings`. The query may have what was typed before the password was confirmed.
pub(crate) async fn show(visit: Visit) -> Result<HttpResponse, Failure> {
    let member = visit.member().await?;
    let mut view = settings_page(&visit, &member).await?;
    let query = visit.query();
    if let (Some(name), Some(email)) = (query.given("name"), query.given("email")) {
        (view.name, view.email) = (Field::of(name), Field::of(email));
        // Anybody can make a link to this page with an address of theirs.
        view.shell.notice = Some(Notice::warning(WORDS.account_waits.to_owned()));
    }
    page(&view)
}

/// `POST /{account}/settings`
pub(crate) async fn save(visit: Visit, form: FormBody) -> Result<HttpResponse, Failure> {
    let member = visit.member().await?;
    let (name, email) = (form.text("name").trim(), form.text("email").trim());
    let path = format!("/{}/settings", member.caller.account_id());
    let mut violations = Violations::new();
    let parsed_name = (!name.is_empty()).then(|| Name::parse(name)).transpose();
    let parsed_name = parsed_name.map_err(|error| violations.push(error.at("name"))).ok();
    let parsed_email = Email::parse(email).map_err(|error| violations.push(error.at("email"))).ok();
    let show_again = async |violations: &Violations| {
        let mut view = settings_page(&visit, &member).await?;
        (view.name, view.email) = (field(name, violations, "name"), field(email, violations, "email"));
        refused(&view)
    };
    let (Some(new_name), Some(new_email)) = (parsed_name, parsed_email) else {
        return show_again(&violations).await;
    };
    let Member { signed_in, caller } = &member;
    let client = visit.client();
    let renamed =
        accounts::rename(visit.app(), caller, signed_in, &new_email, new_name.as_ref(), &client).await;
    match renamed {
        Ok(()) => Ok(see_other(&format!("{path}?said=saved"))),
        Err(OperatorError::EmailTaken(_)) => {
            let taken = FieldError::new(ViolationCode::InvalidValue, WORDS.account_has_email);
            show_again(&Violations::from(taken.at("email"))).await
        }
        Err(error) => Err(confirmed_for(error, &with_query(&path, [("name", name), ("email", email)]))),
    }
}

/// `POST /{account}/settings/second-factor`
pub(crate) async fn require_second_factor(visit: Visit, form: FormBody) -> Result<HttpResponse, Failure> {
    let member = visit.member().await?;
    let path = format!("/{}/settings", member.caller.account_id());
    let is_required = form.text("required") == "true";
    let Member { signed_in, caller } = &member;
    accounts::require_second_factor(visit.app(), caller, signed_in, is_required, &visit.client())
        .await
        .map_err(|error| confirmed_for(error, &path))?;
    let said = if is_required { "factor-required" } else { "factor-optional" };
    Ok(see_other(&format!("{path}?said={said}")))
}

/// A password that has to be confirmed first leads back to `next`.
pub(super) fn confirmed_for(error: OperatorError, next: &str) -> Failure {
    match error {
        OperatorError::Person(error) if matches!(*error, PersonError::NotConfirmed) => {
            Failure::confirm_first(next)
        }
        error => error.into(),
    }
}

async fn settings_page(visit: &Visit, member: &Member) -> Result<SettingsPage, Failure> {
    let account = member.caller.account();
    let now = visit.app().clock.now();
    let (start, end) = (now.minus(WEEK).unix_millis(), now.unix_millis());
    let clicks = format!("/v1/analytics/clicks?start_date={start}&end_date={end}&format=csv");
    let curl = vec![
        curl::read(visit.api_url(), TEXTS.curl_account, "/v1/account"),
        curl::read(visit.api_url(), WORDS.raw_clicks, &clicks),
    ];
    let missing = if account.requires_second_factor {
        None
    } else {
        members::without_second_factor(visit.app(), &member.caller).await?
    };
    let sentence = TEXTS.second_factor.missing_of;
    let missing_factors = missing.map(|it| sentence(it.count, it.of, it.is_all));
    Ok(SettingsPage {
        form: Form { idempotency_key: visit.new_key(), ..Form::default() },
        name: Field::of(account.name.as_ref().map_or("", Name::as_str)),
        email: Field::of(account.email.as_str()),
        can_change: member.caller.may(Permission::ManageAccount),
        missing_factors,
        requires_second_factor: account.requires_second_factor,
        plan: account.plan.as_str().to_owned(),
        created: date_and_time(account.created_at, &member.signed_in.user().preferences),
        why_not_delete: why_not_delete(member),
        shell: shell(visit, member, NavItem::Settings, WORDS.account_settings, curl),
    })
}

/// Why the person cannot delete the account; `None` if it is possible.
fn why_not_delete(member: &Member) -> Option<&'static str> {
    if member.caller.may(Permission::ManageAccount) {
        return None;
    }
    match member.caller.actor() {
        Actor::User { user: _, role: Role::Owner } => Some(WORDS.delete_suspended),
        Actor::User { user: _, role: Role::Editor | Role::Viewer } | Actor::Key(_) => {
            Some(WORDS.delete_owner_only)
        }
    }
}

/// `GET /{account}/settings/delete`
pub(crate) async fn ask(visit: Visit) -> Result<HttpResponse, Failure> {
    let member = owner(&visit).await?;
    let losses = accounts::own_losses(visit.app(), &member.caller).await?;
    page(&deletion_page(&visit, &member, &losses, "", &Violations::new()))
}

/// `POST /{account}/settings/delete`
pub(crate) async fn delete(visit: Visit, form: FormBody) -> Result<HttpResponse, Failure> {
    let member = owner(&visit).await?;
    if let Some(violations) = mismatch(form.text("email"), &member.caller.account().email) {
        let losses = accounts::own_losses(visit.app(), &member.caller).await?;
        return refused(&deletion_page(&visit, &member, &losses, form.text("email"), &violations));
    }
    let (app, client, account) = (visit.shared_app(), visit.client(), member.caller.account_id());
    let deletion =
        async move { accounts::delete_own(&app, &member.caller, &member.signed_in, &client).await };
    let said = if is_over_soon(account, deletion).await? { "account-deleted" } else { "deletion-goes-on" };
    Ok(see_other(&format!("/accounts?said={said}")))
}

/// An owner with a confirmed password.
async fn owner(visit: &Visit) -> Result<Member, Failure> {
    let member = visit.member().await?;
    member.caller.require(Permission::ManageAccount)?;
    if require_confirmed(visit.app(), &member.signed_in).is_err() {
        return Err(Failure::confirm_first(&format!("/{}/settings/delete", member.caller.account_id())));
    }
    Ok(member)
}

fn deletion_page(
    visit: &Visit,
    member: &Member,
    losses: &Losses,
    typed: &str,
    violations: &Violations,
) -> DeleteAccountPage {
    let base = format!("/{}/settings", member.caller.account_id());
    DeleteAccountPage {
        action: format!("{base}/delete"),
        back: base,
        back_label: WORDS.back_to_settings,
        losses: losses_in_words(losses),
        email: losses.account.email.as_str().to_owned(),
        form: Form { idempotency_key: visit.new_key(), ..Form::default() },
        typed: field(typed, violations, "email"),
        shell: shell(
            visit,
            member,
            NavItem::Settings,
            WORDS.delete_account,
            vec![curl::read(visit.api_url(), TEXTS.curl_account, "/v1/account")],
        ),
    }
}
