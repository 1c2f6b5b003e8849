//! First start, invitation and password reset (D70, D79).

use actix_web::HttpResponse;
use signpost_app::people::tickets::{self, NewPerson, OpenTicket};
use signpost_app::people::{OpenedSession, PersonError, named};
use signpost_domain::{Email, Role, SecretToken, Violations};

use super::sign_in::next_step;
use super::{email_taken, field, message_at, provider, time_zones};
use crate::answer::{page, refused, see_other, with_session};
use crate::failure::Failure;
use crate::form_body::FormBody;
use crate::frame::{TEXTS, card, role_name, role_sentence, user_ref};
use crate::paths::with_query;
use crate::views::{ErrorKind, Field, Form, InvitationPage, Invitee, ResetPage, StartPage};
use crate::visit::Visit;

pub(super) const UTC: &str = "UTC";

/// `GET /start/{token}`
pub(crate) async fn show_start(visit: Visit) -> Result<HttpResponse, Failure> {
    start_ticket(&visit).await?;
    let person = NewPerson { email: typed_or_named(&visit, "")?, ..NewPerson::default() };
    page(&start_page(&visit, &person, &Violations::new()))
}

/// `POST /start/{token}`: creates the first user, and leads to the first link.
pub(crate) async fn start(visit: Visit, form: FormBody) -> Result<HttpResponse, Failure> {
    let token = start_ticket(&visit).await?;
    let typed = new_person(&form);
    let person = NewPerson { email: typed_or_named(&visit, &typed.email)?, ..typed };
    match create_user(&visit, &token, &person).await {
        Ok(opened) => Ok(let_in(&visit, opened.as_ref(), "/first")),
        Err(PersonError::TicketVoid) => Err(START_VOID),
        Err(error) => refused(&start_page(&visit, &person, &violations_of(error)?)),
    }
}

/// The page about a void link of the first user. It says where a new one is made, which differs from other tickets.
const START_VOID: Failure = Failure::Page(ErrorKind::StartUsed);

/// The ticket of the first user in the path, which this does not use. A malformed one is void.
async fn start_ticket(visit: &Visit) -> Result<SecretToken, Failure> {
    let token = visit.ticket().ok_or(START_VOID)?;
    match tickets::look_at(visit.app(), &token).await {
        Ok(OpenTicket::FirstStart) => Ok(token),
        Ok(OpenTicket::Invitation { .. } | OpenTicket::PasswordReset { .. })
        | Err(PersonError::TicketVoid) => Err(START_VOID),
        Err(error) => Err(error.into()),
    }
}

fn start_page(visit: &Visit, person: &NewPerson, violations: &Violations) -> StartPage {
    StartPage {
        card: card(),
        action: format!("/start/{}", visit.part("token")),
        form: Form { idempotency_key: visit.new_key(), ..Form::default() },
        name: field(&person.name, violations, "name"),
        email: field(&person.email, violations, "email"),
        password: password_field(visit, violations),
        time_zone: time_zones(zone_or_utc(person), violations),
        time_zone_is_untouched: person.time_zone.is_empty(),
    }
}

/// The password of a new user, who has none if a proxy signs people in (D77).
fn password_field(visit: &Visit, violations: &Violations) -> Option<Field> {
    let has_passwords = visit.app().proxy_sign_in.is_none();
    has_passwords.then(|| Field { error: message_at(violations, "password"), ..Field::default() })
}

/// The e-mail address of a new user: the typed one, or the one that the proxy names (D77).
fn typed_or_named(visit: &Visit, typed: &str) -> Result<String, Failure> {
    if visit.app().proxy_sign_in.is_none() {
        return Ok(typed.to_owned());
    }
    let named = visit.named_email().ok_or_else(|| Failure::sign_in_first(&visit.here()))?;
    Ok(named.as_str().to_owned())
}

/// Creates the user of a ticket. The session is `None` if a proxy signs people in: then the next request opens it.
async fn create_user(
    visit: &Visit,
    token: &SecretToken,
    person: &NewPerson,
) -> Result<Option<OpenedSession>, PersonError> {
    let (app, client) = (visit.app(), visit.client());
    match visit.named_email() {
        Some(email) => named::create_user(app, token, person, &email, &client).await.map(|()| None),
        None => tickets::create_user(app, token, person, &client).await.map(Some),
    }
}

/// `GET /invitation/{token}`
pub(crate) async fn show_invitation(visit: Visit) -> Result<HttpResponse, Failure> {
    let (_, ticket) = ticket_of(&visit).await?;
    let view = invitation_page(&visit, ticket, &NewPerson::default(), &Violations::new()).await?;
    page(&view)
}

/// `POST /invitation/{token}`
pub(crate) async fn accept(visit: Visit, form: FormBody) -> Result<HttpResponse, Failure> {
    let (token, ticket) = ticket_of(&visit).await?;
    let OpenTicket::Invitation { has_user, .. } = &ticket else { return Err(PersonError::TicketVoid.into()) };
    let sign_in_first = || Failure::sign_in_first(visit.here().as_str());
    if *has_user {
        let signed_in = visit.person().await?.ok_or_else(sign_in_first)?;
        let account = match tickets::accept(visit.app(), &token, &signed_in, &visit.client()).await {
            Err(PersonError::Gone) => return Err(sign_in_first()),
            outcome => outcome?,
        };
        return Ok(see_other(&account.map_or_else(|| "/".to_owned(), |account| format!("/{account}/links"))));
    }
    let typed = new_person(&form);
    let person = NewPerson { email: typed_or_named(&visit, &typed.email)?, ..typed };
    match create_user(&visit, &token, &person).await {
        Ok(opened) => Ok(let_in(&visit, opened.as_ref(), "/")),
        Err(PersonError::SignInToAccept) => Err(sign_in_first()),
        Err(error) => {
            let violations = violations_of(error)?;
            refused(&invitation_page(&visit, ticket, &person, &violations).await?)
        }
    }
}

async fn invitation_page(
    visit: &Visit,
    ticket: OpenTicket,
    person: &NewPerson,
    violations: &Violations,
) -> Result<InvitationPage, Failure> {
    let OpenTicket::Invitation { email, joins, is_operator, has_user } = ticket else {
        return Err(PersonError::TicketVoid.into());
    };
    let named = visit.named_email();
    let named_other = named.filter(|named| named.comparison_key() != email.comparison_key());
    let invitee = if let Some(named) = named_other {
        Invitee::NamedOther { named: named.as_str().to_owned() }
    } else if has_user {
        invited_user(visit, &email).await?
    } else {
        Invitee::New {
            name: field(&person.name, violations, "name"),
            password: password_field(visit, violations),
            time_zone: time_zones(zone_or_utc(person), violations),
            time_zone_is_untouched: person.time_zone.is_empty(),
        }
    };
    let (account, role) = joins.unzip();
    let operator = is_operator.then_some((TEXTS.operator.operator, TEXTS.operator.operator_hint));
    let member = role.map(|role: Role| (role_name(role), role_sentence(role)));
    let (roles, sentences): (Vec<&str>, Vec<&str>) = member.into_iter().chain(operator).unzip();
    let roles = match roles.as_slice() {
        [role, operator] => (TEXTS.operator.last)(role, operator),
        roles => roles.concat(),
    };
    Ok(InvitationPage {
        card: card(),
        action: format!("/invitation/{}", visit.part("token")),
        form: Form { idempotency_key: visit.new_key(), ..Form::default() },
        account,
        role: roles,
        role_sentence: sentences.join(" "),
        email: email.as_str().to_owned(),
        invitee,
        provider: provider::accept_link(visit),
    })
}

async fn invited_user(visit: &Visit, email: &Email) -> Result<Invitee, Failure> {
    Ok(match visit.person().await? {
        None => Invitee::SignedOut { sign_in: with_query("/sign-in", [("next", visit.here().as_str())]) },
        Some(person) if person.user().email.comparison_key() == email.comparison_key() => Invitee::SignedIn,
        Some(person) => Invitee::Other { user: user_ref(person.user()), sign_out_key: visit.new_key() },
    })
}

/// `GET /reset/{token}`
pub(crate) async fn show_reset(visit: Visit) -> Result<HttpResponse, Failure> {
    let (_, ticket) = ticket_of(&visit).await?;
    page(&reset_page(&visit, ticket, &Violations::new())?)
}

/// `POST /reset/{token}`
pub(crate) async fn reset(visit: Visit, form: FormBody) -> Result<HttpResponse, Failure> {
    let (token, ticket) = ticket_of(&visit).await?;
    match tickets::reset_password(visit.app(), &token, form.text("password"), &visit.client()).await {
        Ok(step) => Ok(next_step(&visit, step, "/")),
        Err(PersonError::NoSecretsKey) => {
            let mut view = reset_page(&visit, ticket, &Violations::new())?;
            view.form.general_error = Some(TEXTS.second_factor.no_key_now.to_owned());
            refused(&view)
        }
        Err(error) => refused(&reset_page(&visit, ticket, &violations_of(error)?)?),
    }
}

fn reset_page(visit: &Visit, ticket: OpenTicket, violations: &Violations) -> Result<ResetPage, Failure> {
    let OpenTicket::PasswordReset { email } = ticket else { return Err(PersonError::TicketVoid.into()) };
    Ok(ResetPage {
        card: card(),
        action: format!("/reset/{}", visit.part("token")),
        form: Form { idempotency_key: visit.new_key(), ..Form::default() },
        email: email.as_str().to_owned(),
        password: Field { error: message_at(violations, "password"), ..Field::default() },
    })
}

/// The ticket in the path, which this does not use.
async fn ticket_of(visit: &Visit) -> Result<(SecretToken, OpenTicket), Failure> {
    let token = visit.ticket().ok_or(PersonError::TicketVoid)?;
    let ticket = tickets::look_at(visit.app(), &token).await?;
    Ok((token, ticket))
}

pub(super) fn new_person(form: &FormBody) -> NewPerson {
    let text = |name| form.text(name).to_owned();
    NewPerson {
        name: text("name"),
        email: text("email"),
        password: text("password"),
        time_zone: text("time_zone"),
    }
}

fn zone_or_utc(person: &NewPerson) -> &str {
    if person.time_zone.is_empty() { UTC } else { &person.time_zone }
}

/// The violations that the form shows. Other errors are pages of their own.
pub(super) fn violations_of(error: PersonError) -> Result<Violations, Failure> {
    match error {
        PersonError::Invalid(violations) => Ok(violations),
        PersonError::EmailTaken => Ok(email_taken()),
        error => Err(error.into()),
    }
}

fn let_in(visit: &Visit, opened: Option<&OpenedSession>, path: &str) -> HttpResponse {
    match opened {
        Some(opened) => with_session(see_other(path), visit.origin(), opened),
        None => see_other(path),
    }
}
