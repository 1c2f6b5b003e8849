//! Accepting an invitation with an identity instead of a password.

use signpost_domain::{AuditAction, SecretToken, TicketPurpose, Violations};

use super::opening::bind_within;
use super::pending::{Pending, Shown};
use crate::application::Application;
use crate::audit::record;
use crate::people::profile::of_user;
use crate::people::tickets::{NewPerson, insert_new, profile_of, taken, valid};
use crate::people::{Client, OpenedSession, PersonError, SessionOf, insert_session};
use crate::unit_of_work::{Attempts, commit};

/// Whom the provider has named in a flow for this invitation.
///
/// # Errors
/// [`PersonError::Identity`].
pub fn accepting(app: &Application, token: &SecretToken, pending: &str) -> Result<Shown, PersonError> {
    Ok(Shown::of(&Pending::open_for_ticket(app, token, pending)?))
}

/// Creates the user of an invitation without a password, binds it to the identity that the provider has named in a flow for this
/// invitation, and signs it in. The user has the address of the invitation, whatever address the provider names.
///
/// # Errors
/// [`PersonError::TicketVoid`], [`PersonError::Invalid`], [`PersonError::SignInToAccept`], [`PersonError::Identity`].
pub async fn accept(
    app: &Application,
    token: &SecretToken,
    pending: &str,
    person: &NewPerson,
    client: &Client,
) -> Result<OpenedSession, PersonError> {
    let TicketPurpose::Invitation { email, .. } = valid(app, token).await?.purpose else {
        return Err(PersonError::TicketVoid);
    };
    let claims = Pending::open_for_ticket(app, token, pending)?;
    let mut violations = Violations::new();
    let profile = match profile_of(person, Some(&email), &mut violations) {
        Some(profile) if violations.is_empty() => profile,
        _ => return Err(PersonError::Invalid(violations)),
    };
    let source = SessionOf::Provider { authenticated_at: claims.authenticated_at };
    let attempts = Attempts::at(app);
    attempts
        .run(|| async {
            let mut work = attempts.begin().await?;
            let purpose = taken(app, work.as_mut(), token).await?;
            let user = insert_new(app, work.as_mut(), purpose, &profile, None, client).await?;
            bind_within(app, work.as_mut(), &user, &claims, client).await?;
            let opened = insert_session(app, work.as_mut(), &user, source, client).await?;
            record(app, work.as_mut(), of_user(&user, AuditAction::SignedIn, client)).await?;
            commit(app, work).await?;
            Ok(opened)
        })
        .await
}
