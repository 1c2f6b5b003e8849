//! The user's second factor (ADR 73).

use actix_web::HttpResponse;
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use signpost_app::admission::SignedIn;
use signpost_app::people::second_factor::{self, Closing, Setup};
use signpost_app::people::{PersonError, profile};
use signpost_domain::{RecoveryCode, SealedSecret, SecondFactor, TotpSeed};

use super::links::qr::code_of;
use crate::answer::{page, refused, see_other};
use crate::failure::{Failure, with_next};
use crate::form_body::FormBody;
use crate::frame::{TEXTS, account_name, own_shell};
use crate::local_time::date_and_time;
use crate::texts::SecondFactorTexts;
use crate::views::{
    Field, Form, NavItem, PresentFactor, RecoveryCodesPage, SecondFactorPage, SetUpFactorPage,
};
use crate::visit::{Visit, own_path};

const WORDS: &SecondFactorTexts = TEXTS.second_factor;

/// The page about the user's second factor.
pub(crate) const PATH: &str = "/me/second-factor";

const SET_UP: &str = "/me/second-factor/set-up";

/// A sealed secret as text, for forms and cookies.
pub(crate) fn text_of(sealed: &SealedSecret) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(&sealed.0)
}

/// The sealed secret of such a text. Any other text is one that does not open.
pub(crate) fn sealed_in(text: &str) -> SealedSecret {
    SealedSecret(BASE64_URL_SAFE_NO_PAD.decode(text).unwrap_or_default())
}

/// `GET /me/second-factor`
pub(crate) async fn show(visit: Visit) -> Result<HttpResponse, Failure> {
    let signed_in = visit.signed_in().await?;
    let accounts = visit.read_accounts(&signed_in).await?;
    let user = signed_in.user();
    let present = |factor: &SecondFactor| PresentFactor {
        since: date_and_time(factor.set_up_at, &user.preferences),
        codes_left: factor.recovery_codes.len(),
    };
    let (closing, closing_note) = closing_in_words(&second_factor::closing(visit.app(), user, &accounts));
    page(&SecondFactorPage {
        closing,
        closing_note,
        present: user.second_factor.as_ref().map(present),
        why_not: why_not(&visit, &signed_in)?,
        set_up: with_next(SET_UP, own_path(visit.query().text("next"))),
        idempotency_key: visit.new_key(),
        shell: own_shell(&visit, user, NavItem::Me, WORDS.title),
    })
}

/// The names of the accounts that close without a second factor, and what there is to say about others.
fn closing_in_words(closing: &Closing<'_>) -> (Vec<String>, Option<&'static str>) {
    let Closing::Accounts { accounts, is_all } = closing else {
        return (Vec::new(), Some(WORDS.remove_closes_not_to_you));
    };
    let note = match (is_all, accounts.is_empty()) {
        (false, _) => Some(WORDS.remove_closes_unchecked),
        (true, true) => Some(WORDS.remove_closes_nothing),
        (true, false) => None,
    };
    (accounts.iter().map(|account| account_name(account).to_owned()).collect(), note)
}

/// Why the user cannot set up a second factor. `None` if it is possible.
fn why_not(visit: &Visit, signed_in: &SignedIn) -> Result<Option<&'static str>, Failure> {
    match second_factor::require_possible(visit.app(), signed_in.user()) {
        Ok(_) => Ok(None),
        Err(PersonError::PasswordsOff | PersonError::NoPassword) => Ok(Some(WORDS.cannot_no_password)),
        Err(PersonError::NoSecretsKey) => Ok(Some(WORDS.cannot_no_key)),
        Err(error) => Err(error.into()),
    }
}

/// `GET /me/second-factor/set-up`: a new seed each time, of which nothing is stored.
pub(crate) async fn show_set_up(visit: Visit) -> Result<HttpResponse, Failure> {
    let signed_in = visit.signed_in_with_accounts().await?;
    let query = visit.query();
    let next = own_path(query.text("next"));
    let Setup { seed, sealed } = second_factor::begin(visit.app(), &signed_in)
        .map_err(|error| confirmed_for(error, &with_next(SET_UP, next)))?;
    page(&set_up_page(&visit, &signed_in, &seed, &sealed, next)?)
}

/// `POST /me/second-factor/set-up`: shows the recovery codes once.
pub(crate) async fn set_up(visit: Visit, form: FormBody) -> Result<HttpResponse, Failure> {
    let signed_in = visit.signed_in_with_accounts().await?;
    let (sealed, code) = (sealed_in(form.text("sealed")), form.text("code"));
    let next = own_path(form.text("next"));
    match second_factor::finish(visit.app(), &signed_in, &sealed, code, &visit.client()).await {
        Ok(codes) => codes_page(&visit, &signed_in, &codes, next),
        Err(PersonError::WrongCode) => {
            let seed = second_factor::resume(visit.app(), &signed_in, &sealed)?;
            let mut view = set_up_page(&visit, &signed_in, &seed, &sealed, next)?;
            view.code = Field { error: Some(WORDS.wrong_first_code.to_owned()), ..Field::of(code) };
            refused(&view)
        }
        Err(error) => Err(confirmed_for(error, &with_next(SET_UP, next))),
    }
}

/// `POST /me/second-factor/recovery-codes`: shows the new ones once.
pub(crate) async fn replace_codes(visit: Visit, _: FormBody) -> Result<HttpResponse, Failure> {
    let signed_in = visit.signed_in_with_accounts().await?;
    let codes = second_factor::replace_recovery_codes(visit.app(), &signed_in, &visit.client()).await;
    codes_page(&visit, &signed_in, &codes.map_err(|error| confirmed_for(error, PATH))?, PATH)
}

/// `POST /me/second-factor/remove`
pub(crate) async fn remove(visit: Visit, _: FormBody) -> Result<HttpResponse, Failure> {
    let signed_in = visit.signed_in().await?;
    let outcome = second_factor::remove(visit.app(), &signed_in, &visit.client()).await;
    outcome.map_err(|error| confirmed_for(error, PATH))?;
    Ok(see_other("/me/second-factor?said=factor-removed"))
}

/// A password that has to be confirmed first leads back to `next`.
fn confirmed_for(error: PersonError, next: &str) -> Failure {
    match error {
        PersonError::NotConfirmed => Failure::confirm_first(next),
        error => error.into(),
    }
}

fn set_up_page(
    visit: &Visit,
    signed_in: &SignedIn,
    seed: &TotpSeed,
    sealed: &SealedSecret,
    next: &str,
) -> Result<SetUpFactorPage, Failure> {
    let user = signed_in.user();
    profile::require_confirmed(visit.app(), signed_in)
        .map_err(|error| confirmed_for(error, &with_next(SET_UP, next)))?;
    Ok(SetUpFactorPage {
        form: Form { idempotency_key: visit.new_key(), ..Form::default() },
        qr: code_of(&seed.uri(&user.email))?,
        seed: seed.typed(),
        email: user.email.as_str().to_owned(),
        sealed: text_of(sealed),
        next: next.to_owned(),
        back: with_next(PATH, next),
        code: Field::default(),
        shell: own_shell(visit, user, NavItem::Me, WORDS.title_set_up),
    })
}

/// The recovery codes, and the way on: to `next`, or without one to the page about the second factor.
fn codes_page(
    visit: &Visit,
    signed_in: &SignedIn,
    codes: &[RecoveryCode],
    next: &str,
) -> Result<HttpResponse, Failure> {
    let codes: Vec<String> = codes.iter().map(RecoveryCode::shown).collect();
    page(&RecoveryCodesPage {
        text: codes.join("\n"),
        codes,
        next: if next == "/" { PATH } else { next }.to_owned(),
        shell: own_shell(visit, signed_in.user(), NavItem::Me, WORDS.title),
    })
}
