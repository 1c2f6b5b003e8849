//! Signing in, confirming the password, and signing out.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use signpost_app::admission::SignedIn;
use signpost_app::people::PersonError;
use signpost_app::people::second_factor::TypedCode;
use signpost_app::people::sign_in::{self, Credentials, SignInStep};
use signpost_domain::{Password, Violations};

use super::second_factor::{sealed_in, text_of};
use super::sign_in_elsewhere::{self, SIGNED_OUT};
use super::{field, provider, wait_sentence};
use crate::answer::{
    page, page_with, refused, see_other, with_session, with_step, without_session, without_step,
};
use crate::failure::{Failure, with_next};
use crate::form_body::FormBody;
use crate::frame::{TEXTS, card, card_of, notice_of};
use crate::paths::with_query;
use crate::texts::SecondFactorTexts;
use crate::views::{Card, ConfirmPage, Field, Form, SignInCodePage, SignInPage};
use crate::visit::{Visit, own_path};

const WORDS: &SecondFactorTexts = TEXTS.second_factor;

/// The cookie of a sign-in that waits for its code.
const WAITING: &str = "signpost-code";

/// `GET /sign-in`
pub(crate) async fn show(visit: Visit) -> Result<HttpResponse, Failure> {
    let query = visit.query();
    let next = own_path(query.text("next"));
    if let Some(proxy) = &visit.app().proxy_sign_in {
        return sign_in_elsewhere::show(&visit, proxy.header(), next).await;
    }
    if visit.person().await?.is_some() {
        return Ok(see_other(next));
    }
    page(&SignInPage { card: Card { notice: notice_of(&visit), ..card() }, ..sign_in_page(&visit, next) })
}

/// `POST /sign-in`
pub(crate) async fn sign_in(visit: Visit, form: FormBody) -> Result<HttpResponse, Failure> {
    let credentials = Credentials {
        email: form.text("email").to_owned(),
        password: Password::typed(form.text("password")),
        is_kept: form.is_checked("remember"),
    };
    let next = own_path(form.text("next"));
    let typed = |violations: &Violations| SignInPage {
        email: field(&credentials.email, violations, "email"),
        remember: credentials.is_kept,
        ..sign_in_page(&visit, next)
    };
    match sign_in::sign_in(visit.app(), &credentials, &visit.client()).await {
        Ok(step) => Ok(next_step(&visit, step, next)),
        Err(PersonError::Invalid(violations)) => refused(&typed(&violations)),
        Err(PersonError::WrongPassword) => {
            let mut view = typed(&Violations::new());
            view.form.general_error = Some(TEXTS.wrong_sign_in.to_owned());
            refused(&view)
        }
        Err(PersonError::NoSecretsKey) => {
            let mut view = typed(&Violations::new());
            view.form.general_error = Some(WORDS.no_key_now.to_owned());
            refused(&view)
        }
        Err(PersonError::Wait { seconds }) => {
            let view = SignInPage { wait: Some(wait_sentence(seconds)), ..typed(&Violations::new()) };
            page_with(StatusCode::TOO_MANY_REQUESTS, &view)
        }
        Err(error) => Err(error.into()),
    }
}

/// The answer to a right password: the code of a user with a second factor is next.
pub(super) fn next_step(visit: &Visit, step: SignInStep, next: &str) -> HttpResponse {
    match step {
        SignInStep::Done(opened) => with_session(see_other(next), visit.origin(), &opened),
        SignInStep::CodeNeeded(waiting) => {
            let path = with_next("/sign-in/code", next);
            with_step(see_other(&path), visit.origin(), WAITING, &text_of(&waiting))
        }
    }
}

/// `GET /sign-in/code`
pub(crate) async fn show_code(visit: Visit) -> Result<HttpResponse, Failure> {
    let query = visit.query();
    let next = own_path(query.text("next"));
    // Somebody else may be signed in here, such as where a link to a new password was opened.
    if visit.cookie(WAITING).is_none() {
        return Err(Failure::sign_in_first(next));
    }
    page(&code_page(&visit, next))
}

/// `POST /sign-in/code`
pub(crate) async fn sign_in_with_code(visit: Visit, form: FormBody) -> Result<HttpResponse, Failure> {
    let next = own_path(form.text("next"));
    let waiting = sealed_in(visit.cookie(WAITING).unwrap_or_default());
    let code = TypedCode::read(form.text("code"));
    let wrong = |sentence: &str| {
        let mut view = code_page(&visit, next);
        view.form.general_error = Some(sentence.to_owned());
        refused(&view)
    };
    match sign_in::sign_in_with_code(visit.app(), &waiting, &code, &visit.client()).await {
        Ok(opened) => {
            let answer = with_session(see_other(next), visit.origin(), &opened);
            Ok(without_step(answer, visit.origin(), WAITING))
        }
        Err(PersonError::WrongCode) => wrong(WORDS.wrong_code),
        Err(PersonError::SeedLost) => wrong(WORDS.seed_lost),
        Err(PersonError::NoSecretsKey) => wrong(WORDS.no_key_now),
        Err(PersonError::SignInExpired) => {
            let said = [("said", "code-too-late"), ("next", next)];
            Ok(without_step(see_other(&with_query("/sign-in", said)), visit.origin(), WAITING))
        }
        Err(PersonError::Wait { seconds }) => {
            let view = SignInCodePage { wait: Some(wait_sentence(seconds)), ..code_page(&visit, next) };
            page_with(StatusCode::TOO_MANY_REQUESTS, &view)
        }
        Err(error) => Err(error.into()),
    }
}

fn code_page(visit: &Visit, next: &str) -> SignInCodePage {
    SignInCodePage {
        card: card(),
        form: Form { idempotency_key: visit.new_key(), ..Form::default() },
        next: next.to_owned(),
        wait: None,
    }
}

fn sign_in_page(visit: &Visit, next: &str) -> SignInPage {
    SignInPage {
        card: card(),
        form: Form { idempotency_key: visit.new_key(), ..Form::default() },
        next: next.to_owned(),
        email: Field::default(),
        remember: false,
        wait: None,
        provider: provider::sign_in_link(visit, next),
    }
}

/// `POST /sign-out`
pub(crate) async fn sign_out(visit: Visit, _: FormBody) -> Result<HttpResponse, Failure> {
    if let Some(person) = visit.person().await? {
        sign_in::sign_out(visit.app(), &person).await?;
    }
    Ok(without_session(see_other(&with_query("/sign-in", [("said", SIGNED_OUT)])), visit.origin()))
}

/// `GET /confirm`
pub(crate) async fn show_confirm(visit: Visit) -> Result<HttpResponse, Failure> {
    let signed_in = visit.signed_in().await?;
    if visit.app().proxy_sign_in.is_some() {
        return Err(PersonError::PasswordsOff.into());
    }
    let query = visit.query();
    page(&confirm_page(&visit, &signed_in, own_path(query.text("next"))).await?)
}

/// `POST /confirm`
pub(crate) async fn confirm(visit: Visit, form: FormBody) -> Result<HttpResponse, Failure> {
    let signed_in = visit.signed_in().await?;
    let next = own_path(form.text("next"));
    let password = Password::typed(form.text("password"));
    let view = || confirm_page(&visit, &signed_in, next);
    let wrong = async |sentence: &str| {
        let mut view = view().await?;
        view.form.general_error = Some(sentence.to_owned());
        refused(&view)
    };
    let code = TypedCode::read(form.text("code"));
    match sign_in::confirm(visit.app(), &signed_in, &password, &code, &visit.client()).await {
        Ok(opened) => Ok(with_session(see_other(next), visit.origin(), &opened)),
        Err(PersonError::WrongPassword) => wrong(TEXTS.wrong_password).await,
        Err(PersonError::WrongCode) => wrong(WORDS.wrong_code).await,
        Err(PersonError::SeedLost) => wrong(WORDS.seed_lost).await,
        Err(PersonError::NoSecretsKey) => wrong(WORDS.no_key_now).await,
        Err(PersonError::Wait { seconds }) => {
            let view = ConfirmPage { wait: Some(wait_sentence(seconds)), ..view().await? };
            page_with(StatusCode::TOO_MANY_REQUESTS, &view)
        }
        Err(PersonError::Gone) => Err(Failure::sign_in_first(next)),
        Err(error) => Err(error.into()),
    }
}

async fn confirm_page(visit: &Visit, signed_in: &SignedIn, next: &str) -> Result<ConfirmPage, Failure> {
    let user = signed_in.user();
    let provider = provider::confirm_link(visit, signed_in, next).await?;
    Ok(ConfirmPage {
        asks_password: user.password.is_some() || provider.is_none(),
        provider,
        card: card_of(user),
        form: Form { idempotency_key: visit.new_key(), ..Form::default() },
        next: next.to_owned(),
        email: user.email.as_str().to_owned(),
        needs_code: user.second_factor.is_some(),
        // Without its query, so that what was typed there is not sent again.
        cancel: next.split('?').next().unwrap_or("/").to_owned(),
        wait: None,
    })
}
