//! Signing in at an identity provider (D77): the way there, the way back, and the forms at its end.

use std::time::Duration;

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use signpost_app::admission::SignedIn;
use signpost_app::people::PersonError;
use signpost_app::people::identity::{self, Begun, Callback, Finished, IdentityError, Purpose, begin};
use signpost_app::people::tickets::{NewPerson, OpenTicket, look_at};
use signpost_domain::{Name, SecretToken, Violations};

use super::entry::{UTC, new_person, violations_of};
use super::{field, time_zones};
use crate::answer::{page, page_with, refused, see_other, with_session, with_step, without_step};
use crate::failure::{Failure, with_next};
use crate::form_body::FormBody;
use crate::frame::{TEXTS, card, card_of};
use crate::local_time::date_and_time;
use crate::views::{AcceptIdentityPage, BindIdentityPage, ErrorPage, Form, IdentitySection, ProviderLink};
use crate::visit::{Visit, own_path};

const ME: &str = "/me";

/// The cookie of a flow.
const FLOW: &str = "signpost-flow";

/// How long a flow may take.
const FLOW_WITHIN: Duration = Duration::from_mins(10);

/// The link that signs in at the provider, if there is one.
pub(crate) fn sign_in_link(visit: &Visit, next: &str) -> Option<ProviderLink> {
    link(visit, TEXTS.provider.sign_in_with, with_next("/sign-in/provider", next))
}

/// The link that accepts the invitation of this page.
pub(crate) fn accept_link(visit: &Visit) -> Option<ProviderLink> {
    link(visit, TEXTS.provider.accept_with, format!("/invitation/{}/provider", visit.part("token")))
}

/// The link that confirms, for a user who is bound.
pub(crate) async fn confirm_link(
    visit: &Visit,
    signed_in: &SignedIn,
    next: &str,
) -> Result<Option<ProviderLink>, Failure> {
    let bound = identity::bound(visit.app(), signed_in).await?;
    Ok(bound.and_then(|_| link(visit, TEXTS.provider.confirm_with, with_next("/confirm/provider", next))))
}

fn link(visit: &Visit, text: fn(&str) -> String, href: String) -> Option<ProviderLink> {
    let provider = visit.app().provider_sign_in.as_ref()?;
    Some(ProviderLink { label: text(provider.label()), href })
}

/// What the user's own page says about the provider.
pub(crate) async fn section(visit: &Visit, signed_in: &SignedIn) -> Result<Option<IdentitySection>, Failure> {
    let Some(provider) = &visit.app().provider_sign_in else { return Ok(None) };
    let bound = identity::bound(visit.app(), signed_in).await?;
    let user = signed_in.user();
    Ok(Some(IdentitySection {
        provider: provider.label().to_owned(),
        since: bound.map(|bound| date_and_time(bound.bound_at, &user.preferences)),
        has_password: user.password.is_some(),
        idempotency_key: visit.new_key(),
    }))
}

/// `GET /sign-in/provider`
pub(crate) async fn sign_in(visit: Visit) -> Result<HttpResponse, Failure> {
    let query = visit.query();
    let next = own_path(query.text("next"));
    if visit.person().await?.is_some() {
        return Ok(see_other(next));
    }
    leave(&visit, Purpose::SignIn, next, None).await
}

/// `GET /confirm/provider`
pub(crate) async fn confirm(visit: Visit) -> Result<HttpResponse, Failure> {
    let query = visit.query();
    let next = own_path(query.text("next"));
    let signed_in = visit.person().await?.ok_or_else(|| Failure::sign_in_first(next))?;
    let purpose = Purpose::Confirm(signed_in.session().id);
    leave(&visit, purpose, next, Some(&signed_in)).await
}

/// `GET /me/identity`: the way to the provider, to be bound.
pub(crate) async fn connect(visit: Visit) -> Result<HttpResponse, Failure> {
    let signed_in = visit.person().await?.ok_or_else(|| Failure::sign_in_first(ME))?;
    leave(&visit, Purpose::Bind(signed_in.session().id), ME, Some(&signed_in)).await
}

/// `GET /invitation/{token}/provider`
pub(crate) async fn begin_acceptance(visit: Visit) -> Result<HttpResponse, Failure> {
    let token = visit.ticket().ok_or(PersonError::TicketVoid)?;
    let next = format!("/invitation/{}", token.expose());
    match leave(&visit, Purpose::Accept(token), "/", None).await {
        Err(Failure::Redirected(_)) => Err(Failure::sign_in_first(&next)),
        outcome => outcome,
    }
}

/// Sends the browser to the provider.
async fn leave(
    visit: &Visit,
    purpose: Purpose,
    next: &str,
    signed_in: Option<&SignedIn>,
) -> Result<HttpResponse, Failure> {
    match begin(visit.app(), purpose, next, signed_in).await {
        Ok(Begun { url, cookie }) => {
            Ok(with_step(see_other(&url), visit.origin(), FLOW, &cookie, FLOW_WITHIN))
        }
        // Not back here: browsers apply `form-action` to the redirects that follow a form, so the way to the provider begins with a
        // link only.
        Err(PersonError::NotConfirmed) => Err(Failure::confirm_first("/me?said=connect-now")),
        Err(error) => refusal(visit, error, next),
    }
}

/// `GET /sign-in/provider/callback`
pub(crate) async fn come_back(visit: Visit) -> Result<HttpResponse, Failure> {
    let query = visit.query();
    let callback = Callback {
        code: query.given("code"),
        state: query.given("state"),
        error: query.given("error"),
        issuer: query.given("iss"),
    };
    let signed_in = visit.person().await?;
    let flow = visit.cookie(FLOW);
    let finished = identity::finish(visit.app(), flow, callback, signed_in.as_ref(), &visit.client()).await;
    // An answer to another flow leaves this one alone.
    let is_other = matches!(&finished, Err(PersonError::Identity(IdentityError::FlowLost)));
    let answer = match finished {
        Ok(Finished::Opened { opened, next }) => {
            with_session(see_other(own_path(&next)), visit.origin(), &opened)
        }
        Ok(Finished::MayBind { pending, shown }) => {
            let signed_in = signed_in.ok_or_else(|| visit.sign_in_first())?;
            page(&BindIdentityPage {
                card: card_of(signed_in.user()),
                form: form(&visit),
                identity: pending,
                provider: label(&visit),
                person: (TEXTS.provider.person)(&shown),
            })?
        }
        Ok(Finished::MayAccept { ticket, pending, shown }) => {
            let name = shown.name.as_ref().map_or("", Name::as_str).to_owned();
            let person = NewPerson { name, ..NewPerson::default() };
            let words = (TEXTS.provider.person)(&shown);
            page(&accept_page(&visit, &ticket, pending, words, &person, &Violations::new()).await?)?
        }
        Err(error) => refusal(&visit, error, if signed_in.is_some() { ME } else { "/sign-in" })?,
    };
    Ok(if is_other { answer } else { without_step(answer, visit.origin(), FLOW) })
}

/// `POST /me/identity`
pub(crate) async fn bind(visit: Visit, form: FormBody) -> Result<HttpResponse, Failure> {
    let signed_in = visit.signed_in().await?;
    match identity::bind(visit.app(), &signed_in, form.text("identity"), &visit.client()).await {
        Ok(()) => Ok(see_other("/me?said=connected")),
        Err(PersonError::NotConfirmed) => Err(Failure::confirm_first("/me?said=connect-now")),
        Err(error) => refusal(&visit, error, ME),
    }
}

/// `POST /me/identity/disconnect`
pub(crate) async fn unbind(visit: Visit, _: FormBody) -> Result<HttpResponse, Failure> {
    let signed_in = visit.signed_in().await?;
    match identity::unbind(visit.app(), &signed_in, &visit.client()).await {
        Ok(()) => Ok(see_other("/me?said=disconnected")),
        Err(PersonError::NotConfirmed) => Err(Failure::confirm_first(ME)),
        Err(error) => refusal(&visit, error, ME),
    }
}

/// `POST /invitation/{token}/provider`
pub(crate) async fn accept(visit: Visit, form: FormBody) -> Result<HttpResponse, Failure> {
    let token = visit.ticket().ok_or(PersonError::TicketVoid)?;
    let (person, pending) = (new_person(&form), form.text("identity"));
    let invitation = format!("/invitation/{}", token.expose());
    match identity::accept(visit.app(), &token, pending, &person, &visit.client()).await {
        Ok(opened) => Ok(with_session(see_other("/"), visit.origin(), &opened)),
        Err(PersonError::SignInToAccept) => Err(Failure::sign_in_first(&invitation)),
        Err(error @ PersonError::Identity(_)) => refusal(&visit, error, &invitation),
        Err(error) => {
            let violations = violations_of(error)?;
            let words = (TEXTS.provider.person)(&identity::accepting(visit.app(), &token, pending)?);
            refused(&accept_page(&visit, &token, pending.to_owned(), words, &person, &violations).await?)
        }
    }
}

async fn accept_page(
    visit: &Visit,
    token: &SecretToken,
    identity: String,
    person: String,
    typed: &NewPerson,
    violations: &Violations,
) -> Result<AcceptIdentityPage, Failure> {
    let OpenTicket::Invitation { email, joins, .. } = look_at(visit.app(), token).await? else {
        return Err(PersonError::TicketVoid.into());
    };
    let zone = if typed.time_zone.is_empty() { UTC } else { &typed.time_zone };
    Ok(AcceptIdentityPage {
        card: card(),
        action: format!("/invitation/{}/provider", token.expose()),
        form: form(visit),
        identity,
        provider: label(visit),
        person,
        account: joins.map(|(account, _)| account),
        email: email.as_str().to_owned(),
        name: field(&typed.name, violations, "name"),
        time_zone: time_zones(zone, violations),
        time_zone_is_untouched: typed.time_zone.is_empty(),
    })
}

fn form(visit: &Visit) -> Form {
    Form { idempotency_key: visit.new_key(), ..Form::default() }
}

fn label(visit: &Visit) -> String {
    visit.app().provider_sign_in.as_ref().map_or_else(String::new, |provider| provider.label().to_owned())
}

/// The page that says why not, with a link to `back`. Other errors are pages of their own.
fn refusal(visit: &Visit, error: PersonError, back: &str) -> Result<HttpResponse, Failure> {
    let error = match error {
        PersonError::Identity(error @ IdentityError::NoProvider) => {
            return Err(PersonError::from(error).into());
        }
        PersonError::Identity(error) => error,
        error => return Err(error.into()),
    };
    let status = status(&error);
    let words = (TEXTS.provider.error)(&error, &label(visit));
    let view = ErrorPage {
        card: card(),
        status: status.as_u16(),
        heading: words.heading,
        text: words.text,
        advice: words.advice,
        action: Some((back.to_owned(), TEXTS.provider.try_again.to_owned())),
    };
    page_with(status, &view)
}

const fn status(error: &IdentityError) -> StatusCode {
    match error {
        IdentityError::NoProvider => StatusCode::NOT_FOUND,
        IdentityError::FlowLost => StatusCode::BAD_REQUEST,
        IdentityError::Failed => StatusCode::BAD_GATEWAY,
        IdentityError::TakenByAnother | IdentityError::HasAnother | IdentityError::OnlyWay => {
            StatusCode::CONFLICT
        }
        IdentityError::Denied(_)
        | IdentityError::Unknown(_)
        | IdentityError::NotBound
        | IdentityError::NotSetUp
        | IdentityError::Disabled
        | IdentityError::OtherPerson
        | IdentityError::NotFresh => StatusCode::FORBIDDEN,
    }
}
