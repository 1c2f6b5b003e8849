//! All users, and invitations by operators.

use actix_web::HttpResponse;
use signpost_app::accounts::{self, AccountReference, OperatorError};
use signpost_app::admission::SignedIn;
use signpost_app::idempotency::Idempotency;
use signpost_app::people::users::{self, Invite, UserReference};
use signpost_app::{Application, Operator};
use signpost_domain::{
    Account, AccountId, Email, FieldError, Page, PageLimit, Preferences, Role, User, ViolationCode,
    Violations,
};

use super::{TicketOutcome, WORDS, operator, operator_without_page, ticket_url};
use crate::answer::{page, refused, see_other};
use crate::curl;
use crate::failure::Failure;
use crate::form_body::FormBody;
use crate::frame::{TEXTS, account_name, invitation_gives, own_shell};
use crate::local_time::date;
use crate::pages::members::{invited_in, open_invitations, role_of, roles};
use crate::pages::{field, general_message, message_at, pager, position_of, remembered_without_secret};
use crate::paths::with_query;
use crate::views::{
    CurlExample, Form, NavItem, OpenInvitations, OperatorLinkPage, OperatorUserRow, OperatorUsersPage, Select,
};
use crate::visit::Visit;

pub(super) const PATH: &str = "/operator/users";

/// Where the forms that withdraw invitations are sent.
pub(super) const WITHDRAW: &str = "/operator/invitations/withdraw";

/// What the form of an invitation says.
#[derive(Debug, Default)]
struct Typed {
    email: String,
    account: String,
    role: String,
    is_operator: bool,
}

/// `GET /operator/users`. The query may have what was typed before the password was confirmed.
pub(crate) async fn show(visit: Visit) -> Result<HttpResponse, Failure> {
    let (signed_in, operator) = operator(&visit, &visit.here()).await?;
    let query = visit.query();
    let typed = Typed {
        email: query.text("email").to_owned(),
        account: query.text("account").to_owned(),
        role: query.text("role").to_owned(),
        // Somebody else may have made the link to this page, so it proposes no operator.
        is_operator: false,
    };
    page(&users_page(&visit, &signed_in, &operator, &typed, &Violations::new()).await?)
}

/// `POST /operator/users`: makes an invitation, and shows its link once.
pub(crate) async fn invite(visit: Visit, form: FormBody) -> Result<HttpResponse, Failure> {
    let typed = Typed {
        email: form.text("email").trim().to_owned(),
        account: form.text("account").trim().to_owned(),
        role: form.text("role").to_owned(),
        is_operator: form.is_checked("operator"),
    };
    let own = [("email", typed.email.as_str()), ("account", &typed.account), ("role", &typed.role)];
    let (signed_in, operator) = operator(&visit, &with_query(PATH, own)).await?;
    let mut violations = Violations::new();
    let Some((invite, account)) = invitation_of(visit.app(), &operator, &typed, &mut violations).await?
    else {
        return refused(&users_page(&visit, &signed_in, &operator, &typed, &violations).await?);
    };
    let (email, joins) = (invite.email.clone(), invite.joins);
    let request = form.key();
    let idempotency =
        Idempotency::of_request(request.as_ref(), |(): &()| Some(remembered_without_secret(String::new())));
    let made = match users::invite(visit.app(), &operator, invite, idempotency).await {
        Err(OperatorError::NoSuchAccount(_)) => TicketOutcome::Refused(no_such_account().into()),
        outcome => TicketOutcome::of(outcome)?,
    };
    let url = match made {
        TicketOutcome::Issued(token) => Some(ticket_url(&visit, "invitation", &token)),
        TicketOutcome::IssuedBefore(_) => None,
        TicketOutcome::Refused(violations) => {
            return refused(&users_page(&visit, &signed_in, &operator, &typed, &violations).await?);
        }
    };
    let message = url.as_deref().map_or_else(String::new, |url| match &account {
        Some(account) => (TEXTS.invited_text)(account_name(account), url),
        None => (WORDS.invited_operator)(url),
    });
    let mut shell = own_shell(&visit, signed_in.user(), NavItem::Users, TEXTS.title_invited);
    let words =
        invitation_words(email.as_str(), joins.map(|(id, role)| (id.to_string(), role)), typed.is_operator);
    shell.curl = vec![command(WORDS.command_invite, &words)];
    page(&OperatorLinkPage {
        back: (PATH.to_owned(), WORDS.users.to_owned()),
        what: invitation_gives(account.as_ref().zip(joins.map(|(_, role)| role)), typed.is_operator),
        email: email.as_str().to_owned(),
        url,
        once: WORDS.invitation_once,
        shown_once: (TEXTS.invited_shown_once)(email.as_str()),
        message,
        shell,
    })
}

/// `POST /operator/invitations/withdraw`: withdraws an invitation to an account, or one to none.
pub(crate) async fn withdraw(visit: Visit, form: FormBody) -> Result<HttpResponse, Failure> {
    let account = match form.text("account") {
        "" => None,
        id => Some(id.parse::<AccountId>().map_err(|_| Failure::NOT_FOUND)?),
    };
    let next = account.map_or_else(|| PATH.to_owned(), |id| format!("{}/{id}", super::accounts::PATH));
    let (_, operator) = operator_without_page(&visit, &next).await?;
    users::withdraw(visit.app(), &operator, &invited_in(&form)?, account).await?;
    Ok(see_other(&format!("{next}?said=invitation-withdrawn")))
}

/// The invitation that a form asks for, and the account that it names. Otherwise adds what is wrong with it.
async fn invitation_of(
    app: &Application,
    operator: &Operator,
    typed: &Typed,
    violations: &mut Violations,
) -> Result<Option<(Invite, Option<Account>)>, Failure> {
    let email = Email::parse(&typed.email).map_err(|error| violations.push(error.at("email"))).ok();
    let (mut account, mut joins) = (None, None);
    if typed.account.is_empty() {
        if !typed.is_operator {
            let error = FieldError::new(ViolationCode::Required, WORDS.invite_needs_place);
            violations.push(error.at("account"));
        }
    } else {
        let role = role_of(&typed.role, violations);
        account = account_of(app, operator, &typed.account).await?;
        match (&account, role) {
            (Some(account), Some(role)) => joins = Some((account.id, role)),
            (None, _) => violations.push(no_such_account()),
            (Some(_), None) => {}
        }
    }
    let Some(email) = email.filter(|_| violations.is_empty()) else { return Ok(None) };
    Ok(Some((Invite { email, joins, is_operator: typed.is_operator }, account)))
}

fn no_such_account() -> signpost_domain::Violation {
    FieldError::new(ViolationCode::InvalidValue, WORDS.must_be_account).at("account")
}

/// The account with this id or e-mail address.
async fn account_of(app: &Application, operator: &Operator, text: &str) -> Result<Option<Account>, Failure> {
    let Ok(reference) = text.parse::<AccountReference>() else { return Ok(None) };
    let found = match accounts::find(app, &reference).await {
        Ok(id) => accounts::overview(app, operator, id).await,
        Err(error) => Err(error),
    };
    match found {
        Ok(overview) => Ok(Some(overview.account)),
        Err(OperatorError::NoSuchAccount(_) | OperatorError::NoAccountWithEmail(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

async fn users_page(
    visit: &Visit,
    signed_in: &SignedIn,
    operator: &Operator,
    typed: &Typed,
    violations: &Violations,
) -> Result<OperatorUsersPage, Failure> {
    let (query, own) = (visit.query(), signed_in.user());
    let (sought, after) = (query.text("q").trim(), position_of(&query));
    let list = if sought.is_empty() {
        users::list(visit.app(), PageLimit::default(), after).await?
    } else {
        found(visit.app(), operator, sought).await?
    };
    let mut shell = own_shell(visit, own, NavItem::Users, WORDS.users);
    let example = invitation_words("ines@example.com", Some(("acc_…".to_owned(), Role::Editor)), false);
    shell.curl = vec![
        curl::program(WORDS.command_list_users, &["user", "list"]),
        command(WORDS.command_invite, &example),
    ];
    let role = Role::from_name(&typed.role).unwrap_or(Role::Editor);
    let invitations = users::invitations(visit.app(), operator, None).await?;
    Ok(OperatorUsersPage {
        invitations: OpenInvitations {
            action: WITHDRAW.to_owned(),
            ..open_invitations(visit, &invitations, &own.preferences)
        },
        sought: sought.to_owned(),
        rows: list.items.iter().map(|user| row(user, own, &own.preferences)).collect(),
        pager: pager(&list, PATH, &[], after.is_none()),
        form: Form {
            idempotency_key: visit.new_key(),
            general_error: general_message(violations, &["email", "account", "role"]),
            ..Form::default()
        },
        email: field(&typed.email, violations, "email"),
        account: field(&typed.account, violations, "account"),
        role: Select { options: roles(role), error: message_at(violations, "role") },
        is_operator: typed.is_operator,
        shell,
    })
}

/// The user with this id or e-mail address.
async fn found(app: &Application, operator: &Operator, sought: &str) -> Result<Page<User>, Failure> {
    let Ok(reference) = sought.parse::<UserReference>() else { return Ok(Page::empty()) };
    match users::find(app, operator, &reference).await {
        Ok(user) => Ok(Page { items: vec![user], next: None, left_out: 0 }),
        Err(OperatorError::NoSuchUser(_)) => Ok(Page::empty()),
        Err(error) => Err(error.into()),
    }
}

/// A user in a list. `own` is the user of the request.
pub(super) fn row(user: &User, own: &User, preferences: &Preferences) -> OperatorUserRow {
    OperatorUserRow {
        id: user.id.to_string(),
        name: user.label().to_owned(),
        email: user.name.is_some().then(|| user.email.as_str().to_owned()),
        is_operator: user.is_operator,
        is_disabled: user.disabled_at.is_some(),
        is_self: user.id == own.id,
        created: date(user.created_at, preferences),
    }
}

fn invitation_words(email: &str, joins: Option<(String, Role)>, is_operator: bool) -> Vec<String> {
    let mut words: Vec<String> = ["user", "invite", "--email", email].map(str::to_owned).to_vec();
    if let Some((account, role)) = joins {
        words.extend(["--account".to_owned(), account, "--role".to_owned(), role.as_str().to_owned()]);
    }
    if is_operator {
        words.push("--operator".to_owned());
    }
    words
}

fn command(title: &str, words: &[String]) -> CurlExample {
    curl::program(title, &words.iter().map(String::as_str).collect::<Vec<_>>())
}
