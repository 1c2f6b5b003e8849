//! What operators do with the installation (D69, D73).

pub(crate) mod account;
pub(crate) mod accounts;
pub(crate) mod health;
pub(crate) mod sign_ins;
pub(crate) mod user;
pub(crate) mod users;

use signpost_app::accounts::OperatorError;
use signpost_app::admission::SignedIn;
use signpost_app::people::PersonError;
use signpost_app::ports::RememberedAnswer;
use signpost_app::{AppError, Operator};
use signpost_domain::{SecretToken, Violations};

use crate::failure::Failure;
use crate::frame::TEXTS;
use crate::texts::OperatorTexts;
use crate::visit::Visit;

/// The texts of these pages.
const WORDS: &OperatorTexts = TEXTS.operator;

/// The person of the session as an operator, whose pages lead to the accounts of this person. Somebody who has to confirm the password
/// first gets to `next` afterwards.
///
/// # Errors
/// Leads to the sign-in or to the confirmation, or is the page for what does not exist.
pub(super) async fn operator(visit: &Visit, next: &str) -> Result<(SignedIn, Operator), Failure> {
    let (signed_in, operator) = operator_without_page(visit, next).await?;
    visit.read_accounts(&signed_in).await?;
    Ok((signed_in, operator))
}

/// As [`operator`], for an answer without a page.
pub(super) async fn operator_without_page(
    visit: &Visit,
    next: &str,
) -> Result<(SignedIn, Operator), Failure> {
    let signed_in = visit.signed_in().await?;
    match Operator::person(visit.app(), &signed_in, &visit.client()) {
        Ok(operator) => Ok((signed_in, operator)),
        Err(PersonError::NotConfirmed) => Err(Failure::confirm_first(next)),
        Err(error) => Err(error.into()),
    }
}

/// What became of a form that issues a ticket.
enum TicketOutcome<T> {
    /// It was issued now.
    Issued(T),
    /// The same form issued it before. The remembered answer names what it is for.
    IssuedBefore(RememberedAnswer),
    /// The form is shown again with what is wrong about it.
    Refused(Violations),
}

impl<T> TicketOutcome<T> {
    /// # Errors
    /// Whatever no form shows.
    fn of(outcome: Result<T, OperatorError>) -> Result<Self, Failure> {
        match outcome {
            Ok(issued) => Ok(Self::Issued(issued)),
            Err(OperatorError::Broken(AppError::AnsweredBefore(answer))) => Ok(Self::IssuedBefore(*answer)),
            Err(OperatorError::Broken(AppError::Invalid(violations))) => Ok(Self::Refused(violations)),
            Err(error) => Err(error.into()),
        }
    }
}

/// The address of a ticket.
fn ticket_url(visit: &Visit, kind: &str, token: &SecretToken) -> String {
    format!("{}/{kind}/{}", visit.origin().as_str(), token.expose())
}
