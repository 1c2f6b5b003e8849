//! The people whom the operator's proxy names in a header (D77).

use signpost_domain::{AuditAction, Email, SecretToken, Session, TicketPurpose, Violations};

use super::profile::of_user;
use super::tickets::{NewPerson, insert_new, profile_of, taken, valid};
use super::{Client, OpenedSession, PersonError, SessionOf, insert_session};
use crate::application::Application;
use crate::audit::record;
use crate::unit_of_work::{Attempts, commit};

/// Opens a session of the user with the address that the header names, which signs the user in. `None` if no user has the
/// address, or the user is disabled.
///
/// The session is a short one, so the audit has an entry of each browser at least twice a day. `contradicted` is the session
/// that the browser had: another person's, or one that has ended. It ends here.
///
/// # Errors
/// [`PersonError::Wait`] if the user gets too many sessions.
pub(crate) async fn open(
    app: &Application,
    email: &Email,
    contradicted: Option<&Session>,
    client: &Client,
) -> Result<Option<OpenedSession>, PersonError> {
    let found = app.store.user_with_email(email).await?;
    let Some(found) = found.filter(|user| user.disabled_at.is_none()) else { return Ok(None) };
    if let Some(seconds) = app.gatekeeper.named_sessions.count(found.id, app.clock.now()) {
        return Err(PersonError::Wait { seconds });
    }
    let attempts = Attempts::at(app);
    attempts
        .run(|| async {
            let mut work = attempts.begin().await?;
            // The user may have been disabled, or have got another address, meanwhile.
            let user = work.lock_user(found.id).await?.filter(|user| {
                user.disabled_at.is_none() && user.email.comparison_key() == email.comparison_key()
            });
            let Some(user) = user else { return Ok(None) };
            if let Some(session) = contradicted {
                work.end_session(session.user_id, session.id).await?;
            }
            let opened = insert_session(app, work.as_mut(), &user, SessionOf::Header, client).await?;
            record(app, work.as_mut(), of_user(&user, AuditAction::SignedIn, client)).await?;
            commit(app, work).await?;
            Ok(Some(opened))
        })
        .await
}

/// Creates the user of a first start or an invitation without a password, with the address that the header names. The user's
/// next request signs in.
///
/// # Errors
/// [`PersonError::TicketVoid`], [`PersonError::Invalid`], [`PersonError::NotInvited`] if the invitation is for another address,
/// [`PersonError::EmailTaken`], [`PersonError::SignInToAccept`].
pub async fn create_user(
    app: &Application,
    token: &SecretToken,
    person: &NewPerson,
    email: &Email,
    client: &Client,
) -> Result<(), PersonError> {
    let is_for = |purpose: &TicketPurpose| {
        purpose.email().is_none_or(|invited| invited.comparison_key() == email.comparison_key())
    };
    if !is_for(&valid(app, token).await?.purpose) {
        return Err(PersonError::NotInvited);
    }
    let mut violations = Violations::new();
    let profile = match profile_of(person, Some(email), &mut violations) {
        Some(profile) if violations.is_empty() => profile,
        _ => return Err(PersonError::Invalid(violations)),
    };
    let attempts = Attempts::at(app);
    attempts
        .run(|| async {
            let mut work = attempts.begin().await?;
            let purpose = taken(app, work.as_mut(), token).await?;
            insert_new(app, work.as_mut(), purpose, &profile, None, client).await?;
            Ok(commit(app, work).await?)
        })
        .await
}
