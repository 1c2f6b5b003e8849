//! The limits of sign-ins, and who waits because of them (D75).

use std::net::IpAddr;

use actix_web::HttpResponse;
use signpost_app::people::failed_sign_ins::{Failures, code_failures, failures};
use signpost_domain::{
    Email, FAILURE_COUNTS_KEPT, FieldError, Preferences, ViolationCode, Violations, wait_after,
};

use super::{WORDS, operator};
use crate::answer::{page, refused};
use crate::curl;
use crate::failure::Failure;
use crate::frame::own_shell;
use crate::local_time::{date_and_time, number};
use crate::pages::{field, wait_sentence};
use crate::views::{Form, FoundFailures, NavItem, OperatorSignInsPage};
use crate::visit::Visit;

/// `GET /operator/sign-ins`
pub(crate) async fn show(visit: Visit) -> Result<HttpResponse, Failure> {
    let (signed_in, operator) = operator(&visit, &visit.here()).await?;
    let query = visit.query();
    let (email, address) = (query.text("email").trim(), query.text("address").trim());
    let mut violations = Violations::new();
    let mut found = Vec::new();
    if !email.is_empty() || !address.is_empty() {
        let sought = sought(email, address, &mut violations);
        if let Some((email, address)) = sought {
            let failures = failures(visit.app(), &operator, &email, address).await?;
            let codes = code_failures(visit.app(), &operator, &email).await?;
            let preferences = &signed_in.user().preferences;
            let mut all = vec![in_words(failures, WORDS.failures, WORDS.no_failures, preferences)];
            all.extend(
                codes.map(|it| in_words(it, WORDS.code_failures, WORDS.no_code_failures, preferences)),
            );
            found = all;
        }
    }
    let mut shell = own_shell(&visit, signed_in.user(), NavItem::SignIns, WORDS.sign_ins);
    shell.curl = vec![curl::program(WORDS.command_reset, &["user", "reset", "ines@example.com"])];
    let view = OperatorSignInsPage {
        form: Form::default(),
        email: field(email, &violations, "email"),
        address: field(address, &violations, "address"),
        found,
        limits: limits(),
        shell,
    };
    if violations.is_empty() { page(&view) } else { refused(&view) }
}

fn sought(email: &str, address: &str, violations: &mut Violations) -> Option<(Email, IpAddr)> {
    let email = Email::parse(email).map_err(|error| violations.push(error.at("email"))).ok();
    let address = address.parse().map_err(|_| {
        violations.push(FieldError::new(ViolationCode::InvalidValue, WORDS.ip_wrong).at("address"));
    });
    Some((email?, address.ok()?))
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
        wait: wait.map_or_else(|| WORDS.may_sign_in.to_owned(), wait_sentence),
    }
}

/// The limits, as D75 sets them.
fn limits() -> Vec<(&'static str, String)> {
    let waits: Vec<String> =
        (5..=10).map(|failures| (WORDS.seconds)(wait_after(failures).as_secs())).collect();
    vec![
        (WORDS.limit_per_address, WORDS.limit_per_address_is.to_owned()),
        (WORDS.limit_per_pair, (WORDS.limit_per_pair_is)(&waits.join(", "))),
        (WORDS.limit_kept, (WORDS.limit_kept_is)(&number(FAILURE_COUNTS_KEPT.into()))),
        (WORDS.limit_hashes, WORDS.limit_hashes_is.to_owned()),
        (WORDS.limit_session, WORDS.limit_session_is.to_owned()),
    ]
}
