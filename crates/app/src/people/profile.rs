//! What users change about themselves (D68, D70–D73).

use signpost_domain::{
    Account, AuditAction, AuditActor, Email, Name, PasswordHash, Preferences, Role, User, Violations,
};

use super::{Client, OpenedSession, PersonError, chosen_password, open_session, require_passwords};
use crate::admission::SignedIn;
use crate::application::Application;
use crate::audit::{Deed, record};
use crate::ports::{Asker, StoreError, UnitOfWork, WriteUserError};
use crate::unit_of_work::{Attempts, MaybeContended, commit};

/// The field of a new password.
pub const PASSWORD: &str = "password";

/// Changes the name and the preferences of the user.
///
/// # Errors
/// [`PersonError::Gone`].
pub async fn update(
    app: &Application,
    signed_in: &SignedIn,
    name: Option<Name>,
    preferences: Preferences,
) -> Result<User, PersonError> {
    change_own(app, signed_in, async |_: &mut dyn UnitOfWork, user: &mut User| {
        (user.name, user.preferences) = (name.clone(), preferences.clone());
        Ok(None)
    })
    .await
}

/// Changes the e-mail address of the user, which voids all tickets for the old one (D70).
///
/// # Errors
/// [`PersonError::NotConfirmed`], [`PersonError::EmailTaken`], [`PersonError::Gone`], [`PersonError::EmailOfProxy`].
pub async fn change_email(
    app: &Application,
    signed_in: &SignedIn,
    email: &Email,
    client: &Client,
) -> Result<User, PersonError> {
    // A user with the address of somebody whom the proxy has yet to name would be theirs, with whatever its maker put into it.
    if app.proxy_sign_in.is_some() {
        return Err(PersonError::EmailOfProxy);
    }
    require_confirmed(app, signed_in)?;
    change_own(app, signed_in, async |work: &mut dyn UnitOfWork, user: &mut User| {
        work.void_tickets(&user.email).await?;
        let object = format!("{} to {email}", user_named(user));
        user.email = email.clone();
        Ok(Some(Deed { object, ..of_user(user, AuditAction::EmailChanged, client) }))
    })
    .await
}

/// Changes the password of the user. All sessions end, and this browser gets a new one (D72).
///
/// # Errors
/// [`PersonError::NotConfirmed`], [`PersonError::Invalid`], [`PersonError::Busy`], [`PersonError::Gone`],
/// [`PersonError::PasswordsOff`].
pub async fn change_password(
    app: &Application,
    signed_in: &SignedIn,
    password: &str,
    client: &Client,
) -> Result<OpenedSession, PersonError> {
    require_passwords(app)?;
    require_confirmed(app, signed_in)?;
    let hash = hash_of_chosen(app, password, signed_in.user()).await?;
    let attempts = Attempts::at(app);
    attempts
        .run(|| async {
            let mut work = attempts.begin().await?;
            let user = locked(work.as_mut(), signed_in).await?;
            let user = User { password: Some(hash.clone()), ..user };
            replace_password(app, work.as_mut(), &user, client).await?;
            let is_kept = signed_in.session().is_kept;
            let opened = open_session(app, work.as_mut(), &user, is_kept, client).await?;
            commit(app, work).await?;
            Ok(opened)
        })
        .await
}

/// The hash of a password that a user chooses.
///
/// # Errors
/// [`PersonError::Invalid`], [`PersonError::Busy`].
pub(super) async fn hash_of_chosen(
    app: &Application,
    text: &str,
    user: &User,
) -> Result<PasswordHash, PersonError> {
    let known: Vec<&str> =
        [Some(user.email.as_str()), user.name.as_ref().map(Name::as_str)].into_iter().flatten().collect();
    let mut violations = Violations::new();
    let Some(password) = chosen_password(app, text, &known, PASSWORD, &mut violations) else {
        return Err(PersonError::Invalid(violations));
    };
    Ok(app.passwords.hash(app.passwords.place(Asker::Known)?, password).await?)
}

/// Stores the new password of a user within a unit of work. All sessions and tickets of the user end (D70, D72).
pub(super) async fn replace_password(
    app: &Application,
    work: &mut dyn UnitOfWork,
    user: &User,
    client: &Client,
) -> Result<(), PersonError> {
    work.update_user(user).await.map_err(not_written)?;
    work.void_tickets(&user.email).await?;
    work.end_sessions(user.id, None).await?;
    Ok(record(app, work, of_user(user, AuditAction::PasswordChanged, client)).await?)
}

/// The accounts of the user, with the role in each, oldest first, at most a hundred.
pub async fn accounts_of(
    app: &Application,
    signed_in: &SignedIn,
) -> Result<Vec<(Account, Role)>, PersonError> {
    Ok(app.store.accounts_of(signed_in.user().id).await?)
}

/// Refuses what D73 protects unless the password was confirmed recently.
///
/// # Errors
/// [`PersonError::NotConfirmed`].
pub fn require_confirmed(app: &Application, signed_in: &SignedIn) -> Result<(), PersonError> {
    let is_confirmed = signed_in.session().is_confirmed(app.clock.now());
    if is_confirmed { Ok(()) } else { Err(PersonError::NotConfirmed) }
}

/// Changes the user of a session as [`change_user`] does.
pub(super) async fn change_own(
    app: &Application,
    signed_in: &SignedIn,
    change: impl AsyncFn(&mut dyn UnitOfWork, &mut User) -> Result<Option<Deed>, PersonError>,
) -> Result<User, PersonError> {
    change_user(app, async |work: &mut dyn UnitOfWork| locked(work, signed_in).await, change).await
}

/// Changes one user in one unit of work, with the entry of the audit that `change` returns. `lock` reads the user and locks it, or
/// refuses. Returns the changed user.
pub(super) async fn change_user<E: MaybeContended + From<StoreError> + From<PersonError>>(
    app: &Application,
    lock: impl AsyncFn(&mut dyn UnitOfWork) -> Result<User, E>,
    change: impl AsyncFn(&mut dyn UnitOfWork, &mut User) -> Result<Option<Deed>, E>,
) -> Result<User, E> {
    let attempts = Attempts::at(app);
    attempts
        .run(|| async {
            let mut work = attempts.begin().await?;
            let before = lock(work.as_mut()).await?;
            let mut after = before.clone();
            let deed = change(work.as_mut(), &mut after).await?;
            if after != before {
                work.update_user(&after).await.map_err(not_written)?;
            }
            if let Some(deed) = deed {
                record(app, work.as_mut(), deed).await?;
            }
            commit(app, work).await?;
            Ok(after)
        })
        .await
}

/// The user of a session, locked. A user that was disabled meanwhile is gone, and so is one whose session has ended: a change
/// that waited must not outlive the end of its session.
pub(super) async fn locked(work: &mut dyn UnitOfWork, signed_in: &SignedIn) -> Result<User, PersonError> {
    let user = work.lock_user(signed_in.user().id).await?;
    let user = user.filter(|user| user.disabled_at.is_none()).ok_or(PersonError::Gone)?;
    require_live(work, signed_in).await?;
    Ok(user)
}

/// Refuses if the session of a request has ended, or has got another token, since the request was admitted. It confirms the
/// session with its own values, which locks it.
pub(crate) async fn require_live(work: &mut dyn UnitOfWork, signed_in: &SignedIn) -> Result<(), PersonError> {
    let session = signed_in.session();
    let is_live =
        work.confirm_session(session.id, &session.hash, &session.hash, session.confirmed_at).await?;
    if is_live { Ok(()) } else { Err(PersonError::Gone) }
}

pub(super) fn not_written(error: WriteUserError) -> PersonError {
    match error {
        WriteUserError::EmailTaken => PersonError::EmailTaken,
        WriteUserError::Store(error) => error.into(),
    }
}

/// A user as entries of the audit name it.
pub(super) fn user_named(user: &User) -> String {
    format!("{} {}", user.id, user.email)
}

pub(super) fn of_user(user: &User, action: AuditAction, client: &Client) -> Deed {
    Deed {
        account: None,
        actor: AuditActor::User(user.id),
        action,
        object: user_named(user),
        network: Some(client.network()),
    }
}
