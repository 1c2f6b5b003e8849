//! One user: disabling it, signing it out, and a link to set a new password.

use actix_web::HttpResponse;
use signpost_app::accounts::OperatorError;
use signpost_app::admission::SignedIn;
use signpost_app::idempotency::Idempotency;
use signpost_app::people::users::{self, UserReference};
use signpost_app::{AppError, Operator};
use signpost_domain::{Account, Role, User};

use super::users::{PATH, row};
use super::{TicketOutcome, WORDS, operator, operator_without_page, ticket_url};
use crate::answer::{page, see_other};
use crate::curl;
use crate::failure::Failure;
use crate::form_body::FormBody;
use crate::frame::{account_name, own_shell, role_name};
use crate::local_time::date_and_time;
use crate::pages::remembered_without_secret;
use crate::views::{NavItem, OperatorLinkPage, OperatorUserPage};
use crate::visit::Visit;

/// `GET /operator/users/{id}`
pub(crate) async fn show(visit: Visit) -> Result<HttpResponse, Failure> {
    let (signed_in, operator) = operator(&visit, &visit.here()).await?;
    let user = users::find(visit.app(), &operator, &user_in(&visit)?).await?;
    let accounts = users::accounts_of(visit.app(), &operator, user.id).await?;
    let connected = users::connected_since(visit.app(), &operator, user.id).await?;
    let mut view = user_page(&visit, &signed_in, &user, &accounts);
    view.connected_since = connected.map(|at| date_and_time(at, &signed_in.user().preferences));
    page(&view)
}

/// `POST /operator/users/{id}/disable`
pub(crate) async fn disable(visit: Visit, _: FormBody) -> Result<HttpResponse, Failure> {
    let (_, operator, user) = changing(&visit).await?;
    changed(users::disable(visit.app(), &operator, &user).await, "user-disabled")
}

/// `POST /operator/users/{id}/enable`
pub(crate) async fn enable(visit: Visit, _: FormBody) -> Result<HttpResponse, Failure> {
    let (_, operator, user) = changing(&visit).await?;
    changed(users::enable(visit.app(), &operator, &user).await, "user-enabled")
}

/// `POST /operator/users/{id}/sign-out`
pub(crate) async fn sign_out(visit: Visit, _: FormBody) -> Result<HttpResponse, Failure> {
    let (_, operator, user) = changing(&visit).await?;
    changed(users::sign_out(visit.app(), &operator, &user).await, "user-signed-out")
}

/// `POST /operator/users/{id}/remove-second-factor`
pub(crate) async fn remove_second_factor(visit: Visit, _: FormBody) -> Result<HttpResponse, Failure> {
    let (_, operator, user) = changing(&visit).await?;
    changed(users::remove_second_factor(visit.app(), &operator, &user).await, "user-factor-removed")
}

/// `POST /operator/users/{id}/disconnect`
pub(crate) async fn disconnect(visit: Visit, _: FormBody) -> Result<HttpResponse, Failure> {
    let (_, operator, user) = changing(&visit).await?;
    changed(users::disconnect(visit.app(), &operator, &user).await, "user-disconnected")
}

/// `POST /operator/users/{id}/reset`: shows the link once.
pub(crate) async fn reset(visit: Visit, form: FormBody) -> Result<HttpResponse, Failure> {
    let (signed_in, operator, user) = changing(&visit).await?;
    visit.read_accounts(&signed_in).await?;
    let request = form.key();
    let idempotency =
        Idempotency::of_request(request.as_ref(), |(): &()| Some(remembered_without_secret(String::new())));
    let outcome = users::reset(visit.app(), &operator, &user, idempotency).await;
    let (user, url) = match TicketOutcome::of(outcome)? {
        TicketOutcome::Issued((user, token)) => (user, Some(ticket_url(&visit, "reset", &token))),
        TicketOutcome::IssuedBefore(_) => (users::find(visit.app(), &operator, &user).await?, None),
        // The form has no inputs to show again.
        TicketOutcome::Refused(violations) => return Err(AppError::Invalid(violations).into()),
    };
    let mut shell = own_shell(&visit, signed_in.user(), NavItem::Users, WORDS.title_reset);
    shell.curl = vec![curl::program(WORDS.command_reset, &["user", "reset", &user.id.to_string()])];
    page(&OperatorLinkPage {
        back: (format!("{PATH}/{}", user.id), user.label().to_owned()),
        what: (WORDS.reset_made)(user.label()),
        email: user.email.as_str().to_owned(),
        message: url.as_deref().map_or_else(String::new, WORDS.reset_message),
        url,
        once: WORDS.reset_once,
        shown_once: (WORDS.reset_shown_once)(user.label()),
        shell,
    })
}

fn changed(outcome: Result<User, OperatorError>, said: &str) -> Result<HttpResponse, Failure> {
    Ok(see_other(&format!("{PATH}/{}?said={said}", outcome?.id)))
}

/// The operator of a form that leads to another page, and the user that it changes.
async fn changing(visit: &Visit) -> Result<(SignedIn, Operator, UserReference), Failure> {
    let page_of_user = format!("{PATH}/{}", visit.part("id"));
    let (signed_in, operator) = operator_without_page(visit, &page_of_user).await?;
    Ok((signed_in, operator, user_in(visit)?))
}

fn user_in(visit: &Visit) -> Result<UserReference, Failure> {
    visit.part("id").parse().map(UserReference::Id).map_err(|_| Failure::NOT_FOUND)
}

fn user_page(
    visit: &Visit,
    signed_in: &SignedIn,
    user: &User,
    accounts: &[(Account, Role)],
) -> OperatorUserPage {
    let own = signed_in.user();
    let id = user.id.to_string();
    let mut shell = own_shell(visit, own, NavItem::Users, user.label());
    let command = |title, name| curl::program(title, &["user", name, &id]);
    shell.curl = if user.disabled_at.is_some() {
        vec![command(WORDS.command_enable, "enable")]
    } else {
        vec![
            command(WORDS.command_reset, "reset"),
            command(WORDS.command_sign_out, "sign-out"),
            command(WORDS.command_remove_factor, "remove-second-factor"),
            command(WORDS.command_disconnect, "disconnect"),
            command(WORDS.command_disable, "disable"),
        ]
    };
    let membership = |(account, role): &(Account, Role)| {
        (account.id.to_string(), account_name(account).to_owned(), role_name(*role).to_owned())
    };
    OperatorUserPage {
        user: row(user, own, &own.preferences),
        email: user.email.as_str().to_owned(),
        factor_since: user.second_factor.as_ref().map(|it| date_and_time(it.set_up_at, &own.preferences)),
        connected_since: None,
        disabled_since: user.disabled_at.map(|at| date_and_time(at, &own.preferences)),
        accounts: accounts.iter().map(membership).collect(),
        idempotency_key: visit.new_key(),
        shell,
    }
}
