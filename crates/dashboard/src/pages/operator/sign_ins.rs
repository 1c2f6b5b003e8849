//! The limits of sign-ins, and who waits because of them (D75).

use std::net::IpAddr;

use actix_web::HttpResponse;
use signpost_app::Operator;
use signpost_app::people::failed_sign_ins::{Failures, code_failures, failures, forget as forget_failures};
use signpost_domain::{
    Email, FAILURE_COUNTS_KEPT, FieldError, Preferences, ViolationCode, Violations, wait_after,
};

use super::{WORDS, operator, operator_without_page};
use crate::answer::{page, refused, see_other};
use crate::curl;
use crate::failure::Failure;
use crate::form_body::FormBody;
use crate::frame::own_shell;
use crate::local_time::{date_and_time, number};
use crate::pages::{field, has_to_wait_sentence};
use crate::paths::with_query;
use crate::views::{Form, FoundFailures, NavItem, OperatorSignInsPage};
use crate::visit::Visit;

const PATH: &str = "/operator/sign-ins";

/// `GET /operator/sign-ins`
pub(crate) async fn show(visit: Visit) -> Result<HttpResponse, Failure> {
    let (signed_in, operator) = operator(&visit, &visit.here()).await?;
    let query = visit.query();
    let (email, address) = (query.text("email").trim(), query.text("address").trim());
    let mut violations = Violations::new();
    let is_asked = !email.is_empty() || !address.is_empty();
    let (found, can_forget) = match is_asked.then(|| sought(email, address, &mut violations)).flatten() {
        Some(sought) => found(&visit, &operator, &sought, &signed_in.user().preferences).await?,
        None => (Vec::new(), false),
    };
    let mut shell = own_shell(&visit, signed_in.user(), NavItem::SignIns, WORDS.sign_ins);
    shell.curl = vec![curl::program(WORDS.command_reset, &["user", "reset", "ines@example.com"])];
    let view = OperatorSignInsPage {
        form: Form { idempotency_key: visit.new_key(), ..Form::default() },
        email: field(email, &violations, "email"),
        address: field(address, &violations, "address"),
        found,
        can_forget,
        limits: limits(),
        shell,
    };
    if violations.is_empty() { page(&view) } else { refused(&view) }
}

/// `POST /operator/sign-ins`: forgets failures, so that the next attempt is allowed at once.
pub(crate) async fn forget(visit: Visit, form: FormBody) -> Result<HttpResponse, Failure> {
    let (email, address) = (form.text("email").trim(), form.text("address").trim());
    let back = with_query(PATH, [("email", email), ("address", address)]);
    let (_, operator) = operator_without_page(&visit, &back).await?;
    // The form sends what was found, so only a forged one is wrong: the page that follows says what it is.
    let Some(Sought { email, address }) = sought(email, address, &mut Violations::new()) else {
        return Ok(see_other(&back));
    };
    forget_failures(visit.app(), &operator, &email, address).await?;
    Ok(see_other(&format!("{back}&said=failures-forgotten")))
}

/// Whose failures are looked up. Failed codes do not depend on the IP address.
struct Sought {
    email: Email,
    address: Option<IpAddr>,
}

fn sought(email: &str, address: &str, violations: &mut Violations) -> Option<Sought> {
    let email = Email::parse(email).map_err(|error| violations.push(error.at("email"))).ok();
    let address = Some(address).filter(|text| !text.is_empty()).map(str::parse).transpose().map_err(|_| {
        violations.push(FieldError::new(ViolationCode::InvalidValue, WORDS.ip_wrong).at("address"));
    });
    Some(Sought { email: email?, address: address.ok()? })
}

/// The failures in words, and whether there are any to forget.
async fn found(
    visit: &Visit,
    operator: &Operator,
    Sought { email, address }: &Sought,
    preferences: &Preferences,
) -> Result<(Vec<FoundFailures>, bool), Failure> {
    let (mut all, mut can_forget) = (Vec::new(), false);
    if let Some(address) = address {
        let passwords = failures(visit.app(), operator, email, *address).await?;
        can_forget |= passwords.count > 0;
        all.push(in_words(passwords, WORDS.failures, WORDS.no_failures, preferences));
    }
    if let Some(codes) = code_failures(visit.app(), operator, email).await? {
        can_forget |= codes.count > 0;
        all.push(in_words(codes, WORDS.code_failures, WORDS.no_code_failures, preferences));
    }
    if all.is_empty() {
        all.push(FoundFailures {
            waits: false,
            count: WORDS.no_codes.to_owned(),
            wait: WORDS.no_codes_advice.to_owned(),
        });
    }
    Ok((all, can_forget))
}

fn in_words(
    failures: Failures,
    some: fn(usize, &str) -> String,
    none: &str,
    preferences: &Preferences,
) -> FoundFailures {
    let Failures { count, last_at, wait } = failures;
    let number = usize::try_from(count).unwrap_or(usize::MAX);
    let counted = match last_at {
        Some(at) => some(number, &date_and_time(at, preferences)),
        None => none.to_owned(),
    };
    FoundFailures {
        waits: wait.is_some(),
        count: counted,
        wait: wait.map_or_else(|| WORDS.may_sign_in.to_owned(), has_to_wait_sentence),
    }
}

/// The limits, as D75 sets them.
fn limits() -> Vec<(&'static str, String)> {
    let waits: Vec<String> =
        (5..=10).map(|failures| (WORDS.seconds)(wait_after(failures).as_secs())).collect();
    let waits = waits.join(", ");
    vec![
        (WORDS.limit_per_address, WORDS.limit_per_address_is.to_owned()),
        (WORDS.limit_per_pair, (WORDS.limit_per_pair_is)(&waits)),
        (WORDS.limit_codes, (WORDS.limit_per_pair_is)(&waits)),
        (WORDS.limit_kept, (WORDS.limit_kept_is)(&number(FAILURE_COUNTS_KEPT.into()))),
        (WORDS.limit_hashes, WORDS.limit_hashes_is.to_owned()),
        (WORDS.limit_session, WORDS.limit_session_is.to_owned()),
    ]
}
