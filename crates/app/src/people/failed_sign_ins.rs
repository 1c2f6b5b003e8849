//! Who has to wait after failed sign-ins, for operators (D75).

use std::net::IpAddr;

use signpost_domain::{AuditAction, ClientNetwork, Email, SignInKey, Timestamp};

use super::PersonError;
use crate::application::Application;
use crate::audit::record;
use crate::operator::Operator;
use crate::unit_of_work::{Attempts, commit};

/// The failed passwords for an e-mail address from an IP address, or the failed codes of a user at sign-in (D75).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Failures {
    /// How many count at present.
    pub count: u32,
    /// The last one that counts.
    pub last_at: Option<Timestamp>,
    /// How many seconds it is until another attempt is allowed. `None` if it is allowed now.
    pub wait: Option<u32>,
}

/// The failed passwords that count at present, for operators. Stores keep a hash of the two addresses only, so both are needed.
///
/// # Errors
/// The store broke.
pub async fn failures(
    app: &Application,
    _by: &Operator,
    email: &Email,
    address: IpAddr,
) -> Result<Failures, PersonError> {
    failures_of(app, &SignInKey::new(email, address)).await
}

/// The failed codes at sign-ins of the user with this e-mail address, from whatever addresses, for operators. Codes typed to confirm
/// count for their session, and are not among them. `None` without a second factor.
///
/// # Errors
/// The store broke.
pub async fn code_failures(
    app: &Application,
    _by: &Operator,
    email: &Email,
) -> Result<Option<Failures>, PersonError> {
    let user = app.store.user_with_email(email).await?;
    match user.filter(|user| user.second_factor.is_some()) {
        Some(user) => Ok(Some(failures_of(app, &SignInKey::of_codes(user.id)).await?)),
        None => Ok(None),
    }
}

/// Forgets the failed passwords for an e-mail address from an IP address, if one is given, and the failed codes at sign-ins of its
/// user, so that another attempt is allowed at once.
///
/// # Errors
/// The session of the operator has ended meanwhile. Or the store broke.
pub async fn forget(
    app: &Application,
    by: &Operator,
    email: &Email,
    address: Option<IpAddr>,
) -> Result<(), PersonError> {
    let user = app.store.user_with_email(email).await?;
    let object = match address {
        Some(address) => format!("{} from {}", email.as_str(), ClientNetwork::of(address)),
        None => email.as_str().to_owned(),
    };
    let attempts = Attempts::at(app);
    attempts
        .run(|| async {
            let mut work = attempts.begin().await?;
            by.require_live(work.as_mut()).await?;
            // The failures are no part of a unit of work. The entry comes first, so that none are forgotten without one.
            let deed = by.deed(None, AuditAction::FailuresForgotten, object.as_str());
            record(app, work.as_mut(), deed).await?;
            Ok::<_, PersonError>(commit(app, work).await?)
        })
        .await?;
    let passwords = address.map(|address| SignInKey::new(email, address));
    for key in passwords.into_iter().chain(user.map(|user| SignInKey::of_codes(user.id))) {
        app.store.forget_sign_ins(&key).await?;
    }
    Ok(())
}

async fn failures_of(app: &Application, key: &SignInKey) -> Result<Failures, PersonError> {
    let now = app.clock.now();
    let failures = app.store.sign_in_failures(key).await?;
    let current = failures.current(now);
    let wait = failures.allowed_from(now).map(|instant| now.seconds_until(instant));
    Ok(Failures { count: current.count, last_at: current.last_at, wait })
}
