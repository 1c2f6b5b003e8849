//! All accounts, and new ones.

use actix_web::HttpResponse;
use signpost_app::accounts::{self, AccountOverview, AccountReference, CreateAccount, OperatorError};
use signpost_app::admission::SignedIn;
use signpost_app::idempotency::Idempotency;
use signpost_app::{Application, Operator};
use signpost_domain::{
    Account, Email, FieldError, Name, Page, PageLimit, PlanName, PlanResource, Preferences, Role,
    ViolationCode, Violations,
};

use super::{TicketOutcome, WORDS, operator, ticket_url};
use crate::answer::{page, refused};
use crate::curl;
use crate::failure::Failure;
use crate::form_body::FormBody;
use crate::frame::{TEXTS, account_name, invitation_gives, own_shell};
use crate::local_time::{date, number};
use crate::pages::usage::resource_name;
use crate::pages::{field, general_message, message_at, pager, position_of, remembered_without_secret};
use crate::paths::with_query;
use crate::views::{
    Choice, Form, NavItem, OperatorAccountRow, OperatorAccountsPage, OperatorLinkPage, Select,
};
use crate::visit::Visit;

pub(super) const PATH: &str = "/operator/accounts";

/// What the form of a new account says.
#[derive(Debug, Default)]
struct Typed {
    email: String,
    name: String,
    plan: String,
}

impl Typed {
    fn of<'a>(text: impl Fn(&str) -> &'a str) -> Self {
        Self {
            email: text("email").trim().to_owned(),
            name: text("name").to_owned(),
            plan: text("plan").to_owned(),
        }
    }
}

/// `GET /operator/accounts`. The query may have what was typed before the password was confirmed.
pub(crate) async fn show(visit: Visit) -> Result<HttpResponse, Failure> {
    let (signed_in, operator) = operator(&visit, &visit.here()).await?;
    let query = visit.query();
    let typed = Typed::of(|name| query.text(name));
    page(&accounts_page(&visit, &signed_in, &operator, &typed, &Violations::new()).await?)
}

/// `POST /operator/accounts`: creates an account, and shows the invitation of its owner once.
pub(crate) async fn create(visit: Visit, form: FormBody) -> Result<HttpResponse, Failure> {
    let typed = Typed::of(|name| form.text(name));
    let own = [("email", typed.email.as_str()), ("name", &typed.name), ("plan", &typed.plan)];
    let (signed_in, operator) = operator(&visit, &with_query(PATH, own)).await?;
    let mut violations = Violations::new();
    let Some(command) = command_of(visit.app(), &typed, &mut violations) else {
        return refused(&accounts_page(&visit, &signed_in, &operator, &typed, &violations).await?);
    };
    let request = form.key();
    // The body names the account, so that a repeated form says what was made.
    let idempotency = Idempotency::of_request(request.as_ref(), |account: &Account| {
        Some(remembered_without_secret(account.id.to_string()))
    });
    let outcome = accounts::create_with_owner(visit.app(), &operator, command, idempotency).await;
    let made = match outcome {
        Err(OperatorError::EmailTaken(_)) => {
            let taken = FieldError::new(ViolationCode::AlreadyTaken, WORDS.taken_account);
            TicketOutcome::Refused(taken.at("email").into())
        }
        outcome => TicketOutcome::of(outcome)?,
    };
    let (account, token) = match made {
        TicketOutcome::Issued((account, token)) => (account, Some(token)),
        TicketOutcome::IssuedBefore(answer) => {
            let id = answer.body.parse().map_err(|_| Failure::NOT_FOUND)?;
            (accounts::overview(visit.app(), &operator, id).await?.account, None)
        }
        TicketOutcome::Refused(violations) => {
            return refused(&accounts_page(&visit, &signed_in, &operator, &typed, &violations).await?);
        }
    };
    let url = token.map(|token| ticket_url(&visit, "invitation", &token));
    let mut shell = own_shell(&visit, signed_in.user(), NavItem::Accounts, WORDS.title_account_created);
    shell.curl = commands(&visit, account.email.as_str());
    page(&OperatorLinkPage {
        back: (format!("{PATH}/{}", account.id), account_name(&account).to_owned()),
        what: format!(
            "{} {}",
            (WORDS.account_created)(account_name(&account), account.plan.as_str()),
            invitation_gives(Some((&account, Role::Owner)), false)
        ),
        email: account.email.as_str().to_owned(),
        message: url
            .as_deref()
            .map_or_else(String::new, |url| (TEXTS.invited_text)(account_name(&account), url)),
        url,
        once: WORDS.invitation_once,
        shown_once: (TEXTS.invited_shown_once)(account.email.as_str()),
        shell,
    })
}

fn command_of(app: &Application, typed: &Typed, violations: &mut Violations) -> Option<CreateAccount> {
    let email = Email::parse(&typed.email).map_err(|error| violations.push(error.at("email"))).ok();
    let name = Some(typed.name.as_str()).filter(|name| !name.trim().is_empty()).map(Name::parse).transpose();
    let name = name.map_err(|error| violations.push(error.at("name"))).ok();
    let plan = plan_of(app, &typed.plan, violations);
    Some(CreateAccount { email: email?, name: name?, plan: plan? })
}

/// The plan of a form, if this node knows it.
pub(super) fn plan_of(app: &Application, text: &str, violations: &mut Violations) -> Option<PlanName> {
    let plan = PlanName::parse(text).ok().filter(|plan| app.plans.get(plan).is_some());
    if plan.is_none() {
        violations.push(FieldError::new(ViolationCode::InvalidValue, WORDS.plan_wrong).at("plan"));
    }
    plan
}

/// The plans to choose from.
pub(super) fn plans(app: &Application, chosen: &str, violations: &Violations) -> Select {
    let choice = |name: &str| Choice::new(name, name, name == chosen);
    let options = app.plans.iter().map(|plan| choice(plan.name.as_str())).collect();
    Select { options, error: message_at(violations, "plan") }
}

async fn accounts_page(
    visit: &Visit,
    signed_in: &SignedIn,
    operator: &Operator,
    typed: &Typed,
    violations: &Violations,
) -> Result<OperatorAccountsPage, Failure> {
    let (query, user) = (visit.query(), signed_in.user());
    let (sought, after) = (query.text("q").trim(), position_of(&query));
    let list = if sought.is_empty() {
        accounts::overviews(visit.app(), operator, PageLimit::default(), after).await?
    } else {
        found(visit.app(), operator, sought).await?
    };
    let chosen = if typed.plan.is_empty() { "agency" } else { &typed.plan };
    let mut shell = own_shell(visit, user, NavItem::Accounts, WORDS.accounts);
    shell.curl = commands(visit, "owner@example.com");
    Ok(OperatorAccountsPage {
        sought: sought.to_owned(),
        rows: list.items.iter().map(|account| row(account, &user.preferences)).collect(),
        pager: pager(&list, PATH, &[], after.is_none()),
        form: Form {
            idempotency_key: visit.new_key(),
            general_error: general_message(violations, &["email", "name", "plan"]),
            ..Form::default()
        },
        email: field(&typed.email, violations, "email"),
        name: field(&typed.name, violations, "name"),
        plan: plans(visit.app(), chosen, violations),
        shell,
    })
}

/// The account with this id or e-mail address.
async fn found(
    app: &Application,
    operator: &Operator,
    sought: &str,
) -> Result<Page<AccountOverview>, Failure> {
    let Ok(reference) = sought.parse::<AccountReference>() else { return Ok(Page::empty()) };
    let found = match accounts::find(app, &reference).await {
        Ok(id) => accounts::overview(app, operator, id).await,
        Err(error) => Err(error),
    };
    match found {
        Ok(account) => Ok(Page { items: vec![account], next: None, left_out: 0 }),
        Err(OperatorError::NoSuchAccount(_) | OperatorError::NoAccountWithEmail(_)) => Ok(Page::empty()),
        Err(error) => Err(error.into()),
    }
}

fn commands(visit: &Visit, email: &str) -> Vec<crate::views::CurlExample> {
    let plan = visit.app().plans.iter().next().map_or("free", |plan| plan.name.as_str());
    let create = ["account", "create", "--email", email, "--name", "Example", "--plan", plan, "--invite"];
    vec![
        curl::program(WORDS.command_list_accounts, &["account", "list"]),
        curl::program(WORDS.command_create, &create),
    ]
}

fn row(overview: &AccountOverview, preferences: &Preferences) -> OperatorAccountRow {
    let AccountOverview { account, usage, plan } = overview;
    let mut meters = Vec::new();
    if let Some(plan) = plan {
        meters.extend(PlanResource::ALL.map(|resource| {
            let (used, allowed) = (number(usage.of(resource)), number(plan.limits.of(resource)));
            format!("{} {}", resource_name(resource), (TEXTS.of_allowed)(&used, &allowed))
        }));
    }
    OperatorAccountRow {
        id: account.id.to_string(),
        name: account_name(account).to_owned(),
        email: account.name.is_some().then(|| account.email.as_str().to_owned()),
        plan: account.plan.as_str().to_owned(),
        usage: meters,
        is_suspended: account.is_suspended(),
        created: date(account.created_at, preferences),
    }
}
