//! Use cases of people: how they get in, and what they do with their own user (D68–D75).
//!
//! - [`tickets`]: first start, invitation, password reset.
//! - [`sign_in`](mod@sign_in): signing in, confirming a password, signing out.
//! - [`failed_sign_ins`]: who has to wait, for operators.
//! - [`named`]: the people whom a proxy names in a header.
//! - [`second_factor`]: one-time codes and recovery codes.
//! - [`identity`]: signing in at an identity provider.
//! - [`profile`]: name, e-mail address, password, preferences.
//! - [`sessions`]: where a user is signed in.
//! - [`keys`]: the keys of an account, as its members see them.
//! - [`members`]: who belongs to an account.
//! - [`users`]: what operators do with users.

pub mod failed_sign_ins;
pub mod identity;
pub mod keys;
pub mod members;
pub mod named;
mod person_error;
pub mod profile;
pub mod second_factor;
pub mod sessions;
pub mod sign_in;
pub mod tickets;
pub mod users;
mod waiting;

use std::net::IpAddr;

use signpost_domain::{
    AgentName, ClientNetwork, Password, SecretToken, Session, Timestamp, User, Violations,
};

pub use self::person_error::PersonError;
pub use self::waiting::CODE_WITHIN;
use crate::application::Application;
use crate::ports::{HashingError, RandomnessUnavailable, UnitOfWork};

/// Who sends a request of a person.
#[derive(Debug, Clone)]
pub struct Client {
    /// The address that the request counts for.
    pub address: IpAddr,
    /// The browser, as it names itself.
    pub agent: Option<AgentName>,
}

impl Client {
    /// The network of the address.
    #[must_use]
    pub fn network(&self) -> ClientNetwork {
        ClientNetwork::of(self.address)
    }
}

/// A session that was opened, or got a new token.
#[derive(Debug, Clone)]
pub struct OpenedSession {
    /// The token for the cookie. It exists only here.
    pub token: SecretToken,
    /// The session.
    pub session: Session,
    /// Its user.
    pub user: User,
}

/// A new token.
fn draw_token(app: &Application) -> Result<SecretToken, RandomnessUnavailable> {
    let mut bytes = [0; 32];
    app.randomness.fill(&mut bytes)?;
    Ok(SecretToken::from_random(bytes))
}

/// Refuses what needs a password while a proxy signs people in (D77).
fn require_passwords(app: &Application) -> Result<(), PersonError> {
    if app.proxy_sign_in.is_some() { Err(PersonError::PasswordsOff) } else { Ok(()) }
}

/// Inserts a new session of a user within a unit of work.
///
/// # Errors
/// [`PersonError::Gone`] if the user was deleted meanwhile.
async fn open_session(
    app: &Application,
    work: &mut dyn UnitOfWork,
    user: &User,
    is_kept: bool,
    client: &Client,
) -> Result<OpenedSession, PersonError> {
    insert_session(app, work, user, SessionOf::Password { is_kept }, client).await
}

/// What a session comes from.
#[derive(Debug, Clone, Copy)]
enum SessionOf {
    /// A password.
    Password {
        /// Whether the user asked to stay signed in.
        is_kept: bool,
    },
    /// The header of a proxy (D77).
    Header,
    /// An identity provider (D77).
    Provider {
        /// When the user signed in at the provider, if it says.
        authenticated_at: Option<Timestamp>,
    },
}

async fn insert_session(
    app: &Application,
    work: &mut dyn UnitOfWork,
    user: &User,
    source: SessionOf,
    client: &Client,
) -> Result<OpenedSession, PersonError> {
    let (token, now) = (draw_token(app)?, app.clock.now());
    let (is_kept, hash, confirmed_at) = match source {
        SessionOf::Password { is_kept } => (is_kept, token.hash(), now),
        SessionOf::Header => (false, token.hash_beside_header(), now),
        // Somebody may have signed in there days ago, which confirms nothing.
        SessionOf::Provider { authenticated_at } => {
            (false, token.hash(), authenticated_at.map_or(Timestamp::EPOCH, |at| at.min(now)))
        }
    };
    let session = Session {
        id: app.ids.next(),
        hash,
        user_id: user.id,
        created_at: now,
        seen_at: now,
        confirmed_at,
        is_kept,
        agent: client.agent.clone(),
        network: Some(client.network()),
    };
    if !work.insert_session(&session).await? {
        return Err(PersonError::Gone);
    }
    Ok(OpenedSession { token, session, user: user.clone() })
}

/// The password that somebody chooses, if it follows the rules of D71. Otherwise adds the violation of `field`.
fn chosen_password(
    app: &Application,
    text: &str,
    known_words: &[&str],
    field: &'static str,
    violations: &mut Violations,
) -> Option<Password> {
    use signpost_domain::{FieldError, ViolationCode};

    let judged =
        Password::choose(text).and_then(|password| match app.passwords.weakness(&password, known_words) {
            None => Ok(password),
            Some(reason) => {
                let message = format!("is too easy to guess. {reason}");
                Err(FieldError::new(ViolationCode::InvalidValue, message))
            }
        });
    judged.map_err(|error| violations.push(error.at(field))).ok()
}

impl From<HashingError> for PersonError {
    fn from(error: HashingError) -> Self {
        match error {
            HashingError::Busy => Self::Busy,
            HashingError::Failed(reason) => Self::HashingFailed(reason),
        }
    }
}
