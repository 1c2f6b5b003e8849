//! Links that let a person in once: first start, invitation, password reset (D70, D79).

use signpost_domain::analytics::TimeZone;
use signpost_domain::{
    AccountId, AuditAction, Email, Membership, Name, Password, PasswordHash, Preferences, Refusal, Role,
    SecretToken, SignInKey, Ticket, TicketPurpose, User, Violations,
};

use super::profile::{PASSWORD, hash_of_chosen, locked, not_written, of_user, replace_password, user_named};
use super::sign_in::SignInStep;
use super::{
    Client, OpenedSession, PersonError, chosen_password, draw_token, open_session, require_passwords, waiting,
};
use crate::admission::SignedIn;
use crate::application::Application;
use crate::audit::{Deed, record};
use crate::ports::{Asker, StoreError, UnitOfWork};
use crate::unit_of_work::{Attempts, commit};

/// No such invitation is open.
pub(super) const NO_INVITATION: Refusal = Refusal::NotFound("invitation");

/// What a new user types.
#[derive(Debug, Clone, Default)]
pub struct NewPerson {
    /// The name; empty for none.
    pub name: String,
    /// The e-mail address. It is ignored in an invitation, which has one.
    pub email: String,
    /// The password.
    pub password: String,
    /// The IANA name of the time zone.
    pub time_zone: String,
}

/// A ticket as its page shows it. Showing consumes nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OpenTicket {
    /// The first user may be created.
    FirstStart,
    /// Somebody is invited.
    Invitation {
        /// The address that the invitation is for.
        email: Email,
        /// The name or the e-mail address of the account, and the role there.
        joins: Option<(String, Role)>,
        /// Whether the user becomes an operator.
        is_operator: bool,
        /// Whether a user has the address already, who signs in to accept.
        has_user: bool,
    },
    /// A user may set a new password.
    PasswordReset {
        /// The user's address.
        email: Email,
    },
}

/// Makes the ticket of the first start, which voids the one before it. `None` if there is a user already, or no account.
///
/// # Errors
/// The store or the source of randomness broke.
pub async fn first_start(app: &Application) -> Result<Option<SecretToken>, PersonError> {
    let attempts = Attempts::at(app);
    attempts
        .run(|| async {
            let mut work = attempts.begin().await?;
            if work.lock_first_user().await? {
                return Ok(None);
            }
            let Some(account) = work.oldest_account().await? else { return Ok(None) };
            let token = draw_token(app)?;
            let purpose = TicketPurpose::FirstStart { account };
            let ticket = Ticket::new(token.hash(), purpose, app.clock.now());
            if !work.insert_ticket(&ticket).await? {
                return Ok(None);
            }
            commit(app, work).await?;
            Ok(Some(token))
        })
        .await
}

/// What a ticket is for.
///
/// # Errors
/// [`PersonError::TicketVoid`], [`PersonError::PasswordsOff`].
pub async fn look_at(app: &Application, token: &SecretToken) -> Result<OpenTicket, PersonError> {
    match valid(app, token).await?.purpose {
        // A command may have invited the first user meanwhile.
        TicketPurpose::FirstStart { .. } if app.store.any_user().await? => Err(PersonError::TicketVoid),
        TicketPurpose::FirstStart { .. } => Ok(OpenTicket::FirstStart),
        TicketPurpose::PasswordReset { email, user: _ } => {
            require_passwords(app)?;
            Ok(OpenTicket::PasswordReset { email })
        }
        TicketPurpose::Invitation { email, joins, is_operator } => {
            let has_user = app.store.user_with_email(&email).await?.is_some();
            let joins = match joins {
                None => None,
                Some((account, role)) => {
                    let account = app.store.account(account).await?.ok_or(PersonError::TicketVoid)?;
                    let name = account.name.as_ref().map_or(account.email.as_str(), Name::as_str);
                    Some((name.to_owned(), role))
                }
            };
            Ok(OpenTicket::Invitation { email, joins, is_operator, has_user })
        }
    }
}

/// Creates the user of a first start or an invitation, and signs it in.
///
/// # Errors
/// [`PersonError::TicketVoid`], [`PersonError::Invalid`], [`PersonError::EmailTaken`], [`PersonError::SignInToAccept`],
/// [`PersonError::Busy`], [`PersonError::PasswordsOff`].
pub async fn create_user(
    app: &Application,
    token: &SecretToken,
    person: &NewPerson,
    client: &Client,
) -> Result<OpenedSession, PersonError> {
    require_passwords(app)?;
    let ticket = valid(app, token).await?;
    if matches!(ticket.purpose, TicketPurpose::PasswordReset { .. }) {
        return Err(PersonError::TicketVoid);
    }
    let place = app.passwords.place(Asker::Known)?;
    let (profile, password) = person_of(app, person, ticket.purpose.email())?;
    let hash = app.passwords.hash(place, password).await?;
    let attempts = Attempts::at(app);
    attempts
        .run(|| async {
            let mut work = attempts.begin().await?;
            let purpose = taken(app, work.as_mut(), token).await?;
            let user = insert_new(app, work.as_mut(), purpose, &profile, Some(&hash), client).await?;
            let opened = open_session(app, work.as_mut(), &user, false, client).await?;
            record(app, work.as_mut(), of_user(&user, AuditAction::SignedIn, client)).await?;
            commit(app, work).await?;
            Ok(opened)
        })
        .await
}

/// Inserts the user of a first start or an invitation whose ticket was taken, and lets the user into the account.
///
/// # Errors
/// [`PersonError::TicketVoid`], [`PersonError::EmailTaken`], [`PersonError::SignInToAccept`].
pub(super) async fn insert_new(
    app: &Application,
    work: &mut dyn UnitOfWork,
    purpose: TicketPurpose,
    profile: &NewProfile,
    password: Option<&PasswordHash>,
    client: &Client,
) -> Result<User, PersonError> {
    let (is_first, joins, is_operator) = match purpose {
        TicketPurpose::FirstStart { account } => (true, Some((account, Role::Owner)), true),
        TicketPurpose::Invitation { email: _, joins, is_operator } => (false, joins, is_operator),
        TicketPurpose::PasswordReset { .. } => return Err(PersonError::TicketVoid),
    };
    if is_first && work.lock_first_user().await? {
        return Err(PersonError::TicketVoid);
    }
    let user = User {
        id: app.ids.next(),
        email: profile.email.clone(),
        name: profile.name.clone(),
        password: password.cloned(),
        second_factor: None,
        is_operator,
        disabled_at: None,
        preferences: Preferences::in_zone(profile.time_zone.clone()),
        created_at: app.clock.now(),
    };
    work.insert_user(&user).await.map_err(not_written).map_err(|error| match error {
        PersonError::EmailTaken if !is_first => PersonError::SignInToAccept,
        error => error,
    })?;
    record(app, work, of_user(&user, AuditAction::UserCreated, client)).await?;
    if is_operator {
        record(app, work, of_user(&user, AuditAction::OperatorMade, client)).await?;
    }
    if let Some((account, role)) = joins {
        join(app, work, &user, account, role, client).await?;
    }
    Ok(user)
}

/// Accepts an invitation as a user who is signed in.
///
/// # Errors
/// [`PersonError::TicketVoid`], [`PersonError::NotInvited`], [`PersonError::Gone`].
pub async fn accept(
    app: &Application,
    token: &SecretToken,
    signed_in: &SignedIn,
    client: &Client,
) -> Result<Option<AccountId>, PersonError> {
    let attempts = Attempts::at(app);
    attempts
        .run(|| async {
            let mut work = attempts.begin().await?;
            let TicketPurpose::Invitation { email, joins, is_operator } =
                taken(app, work.as_mut(), token).await?
            else {
                return Err(PersonError::TicketVoid);
            };
            let mut user = locked(work.as_mut(), signed_in).await?;
            if user.email.comparison_key() != email.comparison_key() {
                return Err(PersonError::NotInvited);
            }
            if is_operator && !user.is_operator {
                user.is_operator = true;
                work.update_user(&user).await.map_err(not_written)?;
                record(app, work.as_mut(), of_user(&user, AuditAction::OperatorMade, client)).await?;
            }
            if let Some((account, role)) = joins {
                join(app, work.as_mut(), &user, account, role, client).await?;
            }
            commit(app, work).await?;
            Ok(joins.map(|(account, _)| account))
        })
        .await
}

/// Sets the password of the user of a reset, and signs the user in, who needs the code of a second factor as at any sign-in. All
/// other sessions end (D72).
///
/// # Errors
/// [`PersonError::TicketVoid`], [`PersonError::Invalid`], [`PersonError::Busy`], [`PersonError::PasswordsOff`],
/// [`PersonError::NoSecretsKey`].
pub async fn reset_password(
    app: &Application,
    token: &SecretToken,
    password: &str,
    client: &Client,
) -> Result<SignInStep, PersonError> {
    require_passwords(app)?;
    let TicketPurpose::PasswordReset { user: id, email: _ } = valid(app, token).await?.purpose else {
        return Err(PersonError::TicketVoid);
    };
    let user = app.store.user(id).await?.ok_or(PersonError::TicketVoid)?;
    let hash = hash_of_chosen(app, password, &user).await?;
    let attempts = Attempts::at(app);
    let step = attempts
        .run(|| async {
            let mut work = attempts.begin().await?;
            let TicketPurpose::PasswordReset { user, email } = taken(app, work.as_mut(), token).await? else {
                return Err(PersonError::TicketVoid);
            };
            let user = work.lock_user(user).await?;
            // A disabled user, and one with a new address, cannot use the link.
            let is_valid = |user: &User| {
                user.disabled_at.is_none() && user.email.comparison_key() == email.comparison_key()
            };
            let user = user.filter(is_valid).ok_or(PersonError::TicketVoid)?;
            let user = User { password: Some(hash.clone()), ..user };
            replace_password(app, work.as_mut(), &user, client).await?;
            if user.second_factor.is_some() {
                let key = SignInKey::new(&user.email, client.address);
                let waiting = waiting::seal(app, &user, false, &key)?;
                commit(app, work).await?;
                return Ok(SignInStep::CodeNeeded(waiting));
            }
            let opened = open_session(app, work.as_mut(), &user, false, client).await?;
            record(app, work.as_mut(), of_user(&user, AuditAction::SignedIn, client)).await?;
            commit(app, work).await?;
            Ok(SignInStep::Done(Box::new(opened)))
        })
        .await?;
    // Whoever knew the former password must not make the user wait for the code.
    app.store.forget_sign_ins(&SignInKey::of_codes(id)).await?;
    Ok(step)
}

async fn join(
    app: &Application,
    work: &mut dyn UnitOfWork,
    user: &User,
    account: AccountId,
    role: Role,
    client: &Client,
) -> Result<(), PersonError> {
    // An invitation never lowers a member, also one who is being raised at the same time.
    if !work.lock_members(account).await? {
        return Err(PersonError::TicketVoid);
    }
    let present = work.role_of(user.id, account).await?;
    if present.is_some_and(|present| present >= role) {
        return Ok(());
    }
    let membership = Membership { user_id: user.id, account_id: account, role, created_at: app.clock.now() };
    if !work.put_member(&membership).await? {
        return Err(PersonError::TicketVoid);
    }
    let (action, object) = match present {
        None => (AuditAction::MemberJoined, format!("{} as {}", user_named(user), role.as_str())),
        Some(before) => (
            AuditAction::RoleChanged,
            format!("{} from {} to {}", user_named(user), before.as_str(), role.as_str()),
        ),
    };
    let deed = Deed { account: Some(account), object, ..of_user(user, action, client) };
    Ok(record(app, work, deed).await?)
}

/// The ticket of a token, if it can still be used.
pub(super) async fn valid(app: &Application, token: &SecretToken) -> Result<Ticket, PersonError> {
    let ticket = app.store.ticket(&token.hash()).await?;
    ticket.filter(|ticket| ticket.is_valid(app.clock.now())).ok_or(PersonError::TicketVoid)
}

/// Takes a ticket within a unit of work: of many, one gets it.
pub(super) async fn taken(
    app: &Application,
    work: &mut dyn UnitOfWork,
    token: &SecretToken,
) -> Result<TicketPurpose, PersonError> {
    let ticket = work.take_ticket(&token.hash()).await?;
    let ticket = ticket.filter(|ticket| ticket.is_valid(app.clock.now()));
    Ok(ticket.ok_or(PersonError::TicketVoid)?.purpose)
}

/// The valid fields of a new user, without the password.
pub(super) struct NewProfile {
    name: Option<Name>,
    email: Email,
    time_zone: TimeZone,
}

/// Checks every field of a new user but the password. `known` is the address, if the user does not type it.
pub(super) fn profile_of(
    person: &NewPerson,
    known: Option<&Email>,
    violations: &mut Violations,
) -> Option<NewProfile> {
    let name = match person.name.trim() {
        "" => None,
        name => Name::parse(name).map_err(|error| violations.push(error.at("name"))).ok(),
    };
    let email = match known {
        Some(email) => Some(email.clone()),
        None => Email::parse(&person.email).map_err(|error| violations.push(error.at("email"))).ok(),
    };
    let time_zone =
        TimeZone::parse(&person.time_zone).map_err(|error| violations.push(error.at("time_zone"))).ok();
    Some(NewProfile { name, email: email?, time_zone: time_zone? })
}

/// Checks every field of a new user. `invited` is the address of an invitation.
fn person_of(
    app: &Application,
    person: &NewPerson,
    invited: Option<&Email>,
) -> Result<(NewProfile, Password), PersonError> {
    let mut violations = Violations::new();
    let profile = profile_of(person, invited, &mut violations);
    let known = [person.email.as_str(), invited.map_or("", Email::as_str), person.name.as_str()];
    let known: Vec<&str> = known.into_iter().filter(|word| !word.is_empty()).collect();
    let password = chosen_password(app, &person.password, &known, PASSWORD, &mut violations);
    match (profile, password) {
        (Some(profile), Some(password)) if violations.is_empty() => Ok((profile, password)),
        _ => Err(PersonError::Invalid(violations)),
    }
}

/// An invitation as entries of the audit name it.
pub(super) fn invitation_named(email: &Email, role: Option<Role>, is_operator: bool) -> String {
    let role = role.map_or_else(String::new, |role| format!(" as {}", role.as_str()));
    let operator = if is_operator { " as operator" } else { "" };
    format!("invitation of {email}{role}{operator}")
}

/// Makes a ticket for an e-mail address within a unit of work. `false` if its account or its user does not exist.
pub(super) async fn insert(
    app: &Application,
    work: &mut dyn UnitOfWork,
    token: &SecretToken,
    purpose: TicketPurpose,
) -> Result<bool, StoreError> {
    work.insert_ticket(&Ticket::new(token.hash(), purpose, app.clock.now())).await
}
