//! Where a user is signed in (D72).

use signpost_domain::{AuditAction, Session, SessionId};

use super::profile::of_user;
use super::{Client, PersonError};
use crate::admission::SignedIn;
use crate::application::Application;
use crate::audit::{Deed, record};
use crate::unit_of_work::{Attempts, commit};

/// The live sessions of the user, newest first.
pub async fn list(app: &Application, signed_in: &SignedIn) -> Result<Vec<Session>, PersonError> {
    let now = app.clock.now();
    let mut sessions = app.store.sessions(signed_in.user().id).await?;
    sessions.retain(|session| session.is_live(now));
    Ok(sessions)
}

/// Ends one session of the user. A session that has ended already, or is another user's, changes nothing.
pub async fn end(
    app: &Application,
    signed_in: &SignedIn,
    id: SessionId,
    client: &Client,
) -> Result<(), PersonError> {
    let attempts = Attempts::at(app);
    attempts
        .run(|| async {
            let mut work = attempts.begin().await?;
            if !work.end_session(signed_in.user().id, id).await? {
                return Ok(());
            }
            record(app, work.as_mut(), ended(signed_in, id.to_string(), client)).await?;
            Ok(commit(app, work).await?)
        })
        .await
}

/// Ends all sessions of the user except this one. Returns how many there were.
pub async fn end_others(
    app: &Application,
    signed_in: &SignedIn,
    client: &Client,
) -> Result<u64, PersonError> {
    let attempts = Attempts::at(app);
    attempts
        .run(|| async {
            let mut work = attempts.begin().await?;
            let ended_sessions = work.end_sessions(signed_in.user().id, Some(signed_in.session().id)).await?;
            if ended_sessions == 0 {
                return Ok(0);
            }
            let object = format!("{ended_sessions} others");
            record(app, work.as_mut(), ended(signed_in, object, client)).await?;
            commit(app, work).await?;
            Ok(ended_sessions)
        })
        .await
}

fn ended(signed_in: &SignedIn, object: String, client: &Client) -> Deed {
    Deed { object, ..of_user(signed_in.user(), AuditAction::SessionsEnded, client) }
}
