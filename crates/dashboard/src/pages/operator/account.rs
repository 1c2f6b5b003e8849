//! One account: its plan, its suspension, and its deletion.

use std::time::Duration;

use actix_web::HttpResponse;
use signpost_app::Operator;
use signpost_app::accounts::{self, AccountOverview, Losses, OperatorError};
use signpost_app::admission::SignedIn;
use signpost_app::people::users;
use signpost_app::ports::AccountMember;
use signpost_domain::{AccountId, Email, FieldError, PageLimit, PlanResource, ViolationCode, Violations};
use tokio::time::timeout;

use super::accounts::{PATH, plan_of, plans};
use super::users::WITHDRAW;
use super::{WORDS, operator, operator_without_page};
use crate::answer::{page, refused, see_other};
use crate::curl;
use crate::failure::Failure;
use crate::form_body::FormBody;
use crate::frame::{TEXTS, account_name, own_shell, role_name};
use crate::local_time::date_and_time;
use crate::pages::members::open_invitations;
use crate::pages::usage::{meter, requests, resource_name};
use crate::pages::{field, pager, position_of};
use crate::views::{
    DeleteAccountPage, Form, NavItem, OpenInvitations, OperatorAccountPage, OperatorMemberRow,
};
use crate::visit::Visit;

/// How long a browser waits for a deletion. A longer one goes on without it.
const PATIENCE: Duration = Duration::from_secs(10);

/// `GET /operator/accounts/{id}`
pub(crate) async fn show(visit: Visit) -> Result<HttpResponse, Failure> {
    let (signed_in, operator) = operator(&visit, &visit.here()).await?;
    let overview = accounts::overview(visit.app(), &operator, account_in(&visit)?).await?;
    let plan = overview.account.plan.as_str().to_owned();
    page(&account_page(&visit, (&signed_in, &operator), &overview, &plan, &Violations::new()).await?)
}

/// `POST /operator/accounts/{id}/plan`
pub(crate) async fn set_plan(visit: Visit, form: FormBody) -> Result<HttpResponse, Failure> {
    let (signed_in, operator, id) = changing(&visit).await?;
    let mut violations = Violations::new();
    let Some(plan) = plan_of(visit.app(), form.text("plan"), &mut violations) else {
        visit.read_accounts(&signed_in).await?;
        let overview = accounts::overview(visit.app(), &operator, id).await?;
        let by = (&signed_in, &operator);
        return refused(&account_page(&visit, by, &overview, form.text("plan"), &violations).await?);
    };
    accounts::set_plan(visit.app(), &operator, id, &plan).await?;
    Ok(see_other(&format!("{PATH}/{id}?said=plan-changed")))
}

/// `POST /operator/accounts/{id}/suspend`
pub(crate) async fn suspend(visit: Visit, _: FormBody) -> Result<HttpResponse, Failure> {
    let (_, operator, id) = changing(&visit).await?;
    accounts::suspend(visit.app(), &operator, id).await?;
    Ok(see_other(&format!("{PATH}/{id}?said=account-suspended")))
}

/// `POST /operator/accounts/{id}/resume`
pub(crate) async fn resume(visit: Visit, _: FormBody) -> Result<HttpResponse, Failure> {
    let (_, operator, id) = changing(&visit).await?;
    accounts::resume(visit.app(), &operator, id).await?;
    Ok(see_other(&format!("{PATH}/{id}?said=account-resumed")))
}

/// `GET /operator/accounts/{id}/delete`
pub(crate) async fn ask(visit: Visit) -> Result<HttpResponse, Failure> {
    let (signed_in, operator) = operator(&visit, &visit.here()).await?;
    let losses = accounts::losses(visit.app(), &operator, account_in(&visit)?).await?;
    page(&deletion_page(&visit, &signed_in, &losses, "", &Violations::new()))
}

/// `POST /operator/accounts/{id}/delete`
pub(crate) async fn delete(visit: Visit, form: FormBody) -> Result<HttpResponse, Failure> {
    let (signed_in, operator) = operator_without_page(&visit, &visit.here()).await?;
    let id = account_in(&visit)?;
    let account = accounts::overview(visit.app(), &operator, id).await?.account;
    if let Some(violations) = mismatch(form.text("email"), &account.email) {
        visit.read_accounts(&signed_in).await?;
        let losses = accounts::losses(visit.app(), &operator, id).await?;
        return refused(&deletion_page(&visit, &signed_in, &losses, form.text("email"), &violations));
    }
    let app = visit.shared_app();
    let deletion = async move { accounts::delete(&app, &operator, id).await };
    let is_over = is_over_soon(id, deletion).await?;
    Ok(see_other(&if is_over {
        format!("{PATH}?said=account-deleted")
    } else {
        format!("{PATH}/{id}?said=deletion-goes-on")
    }))
}

/// Waits for the deletion of an account as long as a browser does. It runs in a task of its own, and goes on if the browser
/// leaves. `false` if it takes longer.
pub(in crate::pages) async fn is_over_soon(
    account: AccountId,
    deletion: impl Future<Output = Result<(), OperatorError>> + Send + 'static,
) -> Result<bool, Failure> {
    let running = tokio::spawn(async move {
        let deleted = deletion.await;
        if let Err(error) = &deleted {
            tracing::error!(%account, error = signpost_app::with_causes(error), "an account was not deleted");
        }
        deleted
    });
    match timeout(PATIENCE, running).await {
        Ok(Ok(deleted)) => Ok(deleted.map(|()| true)?),
        Ok(Err(_)) => Err(Failure::Broken("the deletion of an account was aborted".to_owned())),
        Err(_) => Ok(false),
    }
}

/// What a form says if it does not repeat the contact address of the account.
pub(in crate::pages) fn mismatch(typed: &str, email: &Email) -> Option<Violations> {
    let is_same =
        Email::parse(typed.trim()).is_ok_and(|typed| typed.comparison_key() == email.comparison_key());
    let message = || (WORDS.does_not_match)(email.as_str());
    (!is_same).then(|| Violations::from(FieldError::new(ViolationCode::InvalidValue, message()).at("email")))
}

/// The operator of a form that leads to another page, and the account that it changes.
async fn changing(visit: &Visit) -> Result<(SignedIn, Operator, AccountId), Failure> {
    let page_of_account = format!("{PATH}/{}", visit.part("id"));
    let (signed_in, operator) = operator_without_page(visit, &page_of_account).await?;
    Ok((signed_in, operator, account_in(visit)?))
}

fn account_in(visit: &Visit) -> Result<AccountId, Failure> {
    visit.part("id").parse().map_err(|_| Failure::NOT_FOUND)
}

async fn account_page(
    visit: &Visit,
    (signed_in, operator): (&SignedIn, &Operator),
    overview: &AccountOverview,
    plan: &str,
    violations: &Violations,
) -> Result<OperatorAccountPage, Failure> {
    let AccountOverview { account, usage, plan: known } = overview;
    let preferences = &signed_in.user().preferences;
    let id = account.id.to_string();
    let after = position_of(&visit.query());
    let members = accounts::members(visit.app(), operator, account.id, PageLimit::default(), after).await?;
    let invitations = users::invitations(visit.app(), operator, Some(account.id)).await?;
    let (mut limits, mut budget, mut no_requests) = (Vec::new(), Vec::new(), TEXTS.requests_unknown);
    if let Some(plan) = known {
        limits.extend(PlanResource::ALL.map(|resource| {
            meter(resource_name(resource), usage.of(resource), plan.limits.of(resource), "")
        }));
        if !plan.api_access {
            no_requests = WORDS.plan_without_api;
        } else if let Some(remaining) = accounts::remaining_of(visit.app(), operator, overview).await {
            budget = requests(plan.budget, remaining);
        }
    }
    let mut shell = own_shell(visit, signed_in.user(), NavItem::Accounts, account_name(account));
    let other_plan = visit.app().plans.iter().find(|plan| plan.name != account.plan);
    let other_plan = other_plan.map_or("free", |plan| plan.name.as_str());
    let suspension = if account.is_suspended() {
        curl::program(WORDS.command_resume, &["account", "resume", &id])
    } else {
        curl::program(WORDS.command_suspend, &["account", "suspend", &id])
    };
    shell.curl = vec![
        curl::program(WORDS.command_plan, &["account", "set-plan", &id, other_plan]),
        suspension,
        curl::program(WORDS.command_delete, &["account", "delete", &id, "--yes"]),
    ];
    Ok(OperatorAccountPage {
        requires_second_factor: account.requires_second_factor,
        members: members.items.iter().map(member_row).collect(),
        pager: pager(&members, &format!("{PATH}/{id}"), &[], after.is_none()),
        invitations: OpenInvitations {
            action: WITHDRAW.to_owned(),
            account: Some(id.clone()),
            ..open_invitations(visit, &invitations, preferences)
        },
        email: account.email.as_str().to_owned(),
        problem: known.is_none().then(|| (WORDS.plan_unknown)(account.plan.as_str())),
        suspended_since: account.suspended_at.map(|at| date_and_time(at, preferences)),
        created: date_and_time(account.created_at, preferences),
        limits,
        requests: budget,
        no_requests,
        form: Form { idempotency_key: visit.new_key(), ..Form::default() },
        plan: plans(visit.app(), plan, violations),
        id,
        shell,
    })
}

fn member_row(member: &AccountMember) -> OperatorMemberRow {
    let AccountMember { user, role, joined_at: _ } = member;
    OperatorMemberRow {
        id: user.id.to_string(),
        name: user.label().to_owned(),
        email: user.name.is_some().then(|| user.email.as_str().to_owned()),
        role: role_name(*role).to_owned(),
        is_disabled: user.disabled_at.is_some(),
    }
}

fn deletion_page(
    visit: &Visit,
    signed_in: &SignedIn,
    losses: &Losses,
    typed: &str,
    violations: &Violations,
) -> DeleteAccountPage {
    let account = &losses.account;
    let id = account.id.to_string();
    let mut shell = own_shell(visit, signed_in.user(), NavItem::Accounts, WORDS.delete_account);
    shell.curl = vec![curl::program(WORDS.command_delete, &["account", "delete", &id, "--yes"])];
    DeleteAccountPage {
        action: format!("{PATH}/{id}/delete"),
        back: format!("{PATH}/{id}"),
        back_label: WORDS.back_to_account,
        losses: losses_in_words(losses),
        email: account.email.as_str().to_owned(),
        form: Form { idempotency_key: visit.new_key(), ..Form::default() },
        typed: field(typed, violations, "email"),
        shell,
    }
}

/// What a deletion takes away, as a sentence.
pub(in crate::pages) fn losses_in_words(losses: &Losses) -> String {
    let Losses { account, usage, keys, members, clicks } = losses;
    let n = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let counts = [
        (WORDS.count_links)(n(usage.of(PlanResource::Links))),
        (WORDS.count_groups)(n(usage.of(PlanResource::Groups))),
        (WORDS.count_domains)(n(usage.of(PlanResource::Domains))),
        (WORDS.count_pixels)(n(usage.of(PlanResource::Pixels))),
        (WORDS.count_tags)(n(usage.of(PlanResource::Tags))),
        (WORDS.count_keys)(n(*keys)),
        (WORDS.count_members)(n(*members)),
    ];
    let all = (WORDS.last)(&counts.join(", "), &(WORDS.count_clicks)(n(*clicks)));
    (WORDS.delete_account_text)(account.email.as_str(), &all)
}
