//! How far an order is, by what the authority shows of it.

use instant_acme::{
    AuthorizationHandle, AuthorizationStatus, ChallengeStatus, ChallengeType, Error, Order, OrderStatus,
};
use signpost_app::ports::{AuthorityError, Challenge, Clock, OrderProgress};
use signpost_domain::{CertificateFailure, CertificateFailureReason, Timestamp, ValidationMethod};

use crate::failure::{Problem, authority_error, unavailable};
use crate::transport::Notes;

/// The maximum length of a token. It becomes a part of a path, and of a row in the store.
const MAX_TOKEN: usize = 256;

/// Reads the state of an order that was just fetched.
pub(crate) async fn progress(
    order: &mut Order,
    method: ValidationMethod,
    notes: &Notes,
    clock: &dyn Clock,
) -> Result<OrderProgress, AuthorityError> {
    let ask_again_at = notes.last().retry_after;
    match order.state().status {
        OrderStatus::Pending => of_authorizations(order, method, ask_again_at, notes, clock).await,
        OrderStatus::Ready => Ok(OrderProgress::Ready),
        OrderStatus::Processing => Ok(OrderProgress::Processing { ask_again_at }),
        OrderStatus::Valid => Ok(OrderProgress::Issued),
        OrderStatus::Invalid => why_invalid(order, clock).await.map(OrderProgress::Failed),
    }
}

/// The order waits until every name is authorized. There is one name.
async fn of_authorizations(
    order: &mut Order,
    method: ValidationMethod,
    ask_again_at: Option<Timestamp>,
    notes: &Notes,
    clock: &dyn Clock,
) -> Result<OrderProgress, AuthorityError> {
    let mut authorizations = order.authorizations();
    while let Some(authorization) = authorizations.next().await {
        let authorization = authorization.map_err(|error| authority_error(error, clock))?;
        let ask_again_at = notes.last().retry_after.or(ask_again_at);
        match authorization.status {
            AuthorizationStatus::Valid => {}
            AuthorizationStatus::Pending => return challenged(authorization, method, ask_again_at),
            AuthorizationStatus::Invalid
            | AuthorizationStatus::Revoked
            | AuthorizationStatus::Expired
            | AuthorizationStatus::Deactivated => {
                return Ok(OrderProgress::Failed(why_unauthorized(&authorization)));
            }
        }
    }
    // The authority has not concluded from its own validation yet.
    Ok(OrderProgress::Processing { ask_again_at })
}

/// The library's name of a method.
pub(crate) const fn challenge_type(method: ValidationMethod) -> ChallengeType {
    match method {
        ValidationMethod::Http => ChallengeType::Http01,
        ValidationMethod::TlsAlpn => ChallengeType::TlsAlpn01,
    }
}

fn challenged(
    authorization: AuthorizationHandle<'_>,
    method: ValidationMethod,
    ask_again_at: Option<Timestamp>,
) -> Result<OrderProgress, AuthorityError> {
    // Bound again, because the handle of the challenge borrows this one for its whole life.
    let mut authorization = authorization;
    let Some(challenge) = authorization.challenge(challenge_type(method)) else {
        let message = format!("The authority does not offer to validate the name by {}.", method.as_str());
        let failure = CertificateFailure::new(CertificateFailureReason::NameRefused, &message);
        return Ok(OrderProgress::Failed(failure));
    };
    let is_validating = match challenge.status {
        ChallengeStatus::Pending => false,
        ChallengeStatus::Processing => true,
        ChallengeStatus::Valid => return Ok(OrderProgress::Processing { ask_again_at }),
        ChallengeStatus::Invalid => return Ok(OrderProgress::Failed(of_problem(challenge.error.as_ref()))),
    };
    let token = challenge.token.clone();
    let is_token = (1..=MAX_TOKEN).contains(&token.len())
        && token.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
    if !is_token {
        return Err(unavailable("its challenge has no valid token"));
    }
    let key_authorization = challenge.key_authorization().as_str().to_owned();
    let challenge = Challenge { token, key_authorization };
    Ok(OrderProgress::Challenged { challenge, is_validating, ask_again_at })
}

/// The challenge knows more than the order, whose error says only that some authorization has failed.
async fn why_invalid(order: &mut Order, clock: &dyn Clock) -> Result<CertificateFailure, AuthorityError> {
    let of_order = order.state().error.clone();
    let mut authorizations = order.authorizations();
    while let Some(authorization) = authorizations.next().await {
        match authorization {
            Ok(authorization) if authorization.status == AuthorizationStatus::Valid => {}
            Ok(authorization) => return Ok(why_unauthorized(&authorization)),
            // The authorization may be forgotten already; the order has failed anyway.
            Err(Error::Other(_)) => break,
            Err(error) => return Err(authority_error(error, clock)),
        }
    }
    Ok(of_problem(of_order.as_ref()))
}

fn why_unauthorized(authorization: &AuthorizationHandle<'_>) -> CertificateFailure {
    of_problem(authorization.challenges.iter().find_map(|challenge| challenge.error.as_ref()))
}

fn of_problem(problem: Option<&instant_acme::Problem>) -> CertificateFailure {
    problem.map_or_else(
        || {
            let message = "The authority ended the order without a reason.";
            CertificateFailure::new(CertificateFailureReason::AuthorityUnavailable, message)
        },
        |problem| Problem::from(problem).failure(),
    )
}
