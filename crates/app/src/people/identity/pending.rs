//! An identity between the callback and the form that binds it.

use signpost_domain::{Email, ExternalIdentity, Issuer, Name, SecretToken, SessionId, Subject, Timestamp};

use super::flow::VALID;
use super::{IdentityError, fields, provider_of};
use crate::application::Application;
use crate::people::PersonError;
use crate::ports::IdentityClaims;

/// What the provider said about a person who has yet to agree.
#[derive(Debug, Clone)]
pub(super) struct Pending {
    claims: IdentityClaims,
    at: Timestamp,
}

/// Whom the provider names, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// The e-mail address.
    pub email: Option<Email>,
    /// Whether the provider says that it has verified the e-mail address.
    pub is_email_verified: bool,
    /// The name.
    pub name: Option<Name>,
    /// The subject, which says something if there is nothing else.
    pub subject: Subject,
}

impl Shown {
    pub(super) fn of(claims: &IdentityClaims) -> Self {
        let IdentityClaims { identity, email, name, is_email_verified, authenticated_at: _ } = claims;
        Self {
            email: email.clone(),
            is_email_verified: *is_email_verified,
            name: name.clone(),
            subject: identity.subject.clone(),
        }
    }
}

impl Pending {
    pub(super) fn of(app: &Application, claims: IdentityClaims) -> Self {
        Self { claims, at: app.clock.now() }
    }

    pub(super) fn shown(&self) -> Shown {
        Shown::of(&self.claims)
    }

    /// Sealed so that only this session can bind it.
    pub(super) fn seal_for_session(&self, app: &Application, id: SessionId) -> Result<String, PersonError> {
        self.seal(app, &for_session(id))
    }

    /// Sealed so that it accepts this invitation only.
    pub(super) fn seal_for_ticket(
        &self,
        app: &Application,
        ticket: &SecretToken,
    ) -> Result<String, PersonError> {
        self.seal(app, &for_ticket(ticket))
    }

    pub(super) fn open_for_session(
        app: &Application,
        id: SessionId,
        text: &str,
    ) -> Result<IdentityClaims, PersonError> {
        Self::open(app, &for_session(id), text)
    }

    pub(super) fn open_for_ticket(
        app: &Application,
        ticket: &SecretToken,
        text: &str,
    ) -> Result<IdentityClaims, PersonError> {
        Self::open(app, &for_ticket(ticket), text)
    }

    fn seal(&self, app: &Application, purpose: &str) -> Result<String, PersonError> {
        let Self { claims, at } = self;
        let IdentityClaims { identity, email, is_email_verified, name, authenticated_at } = claims;
        let millis = |at: Timestamp| at.unix_millis().to_string();
        fields::seal(
            provider_of(app)?.1,
            purpose,
            [
                identity.issuer.as_str(),
                identity.subject.as_str(),
                email.as_ref().map_or("", Email::as_str),
                if *is_email_verified { "verified" } else { "" },
                name.as_ref().map_or("", Name::as_str),
                &authenticated_at.map(millis).unwrap_or_default(),
                &millis(*at),
            ],
        )
    }

    fn open(app: &Application, purpose: &str, text: &str) -> Result<IdentityClaims, PersonError> {
        let (_, sealer) = provider_of(app)?;
        let read = || {
            let [issuer, subject, email, is_verified, name, authenticated_at, at] =
                fields::open(sealer, purpose, text)?;
            let instant = |text: &str| Timestamp::from_unix_millis(text.parse().ok()?);
            (app.clock.now() < instant(&at)?.plus(VALID)).then_some(())?;
            let identity = ExternalIdentity {
                issuer: Issuer::parse(&issuer).ok()?,
                subject: Subject::parse(&subject).ok()?,
            };
            Some(IdentityClaims {
                identity,
                email: Email::parse(&email).ok(),
                is_email_verified: !is_verified.is_empty(),
                name: Name::parse(&name).ok(),
                authenticated_at: instant(&authenticated_at),
            })
        };
        read().ok_or_else(|| IdentityError::FlowLost.into())
    }
}

fn for_session(id: SessionId) -> String {
    format!("identity to bind in session {id}")
}

/// The hash instead of the token: purposes are not secret.
fn for_ticket(ticket: &SecretToken) -> String {
    let hash = u128::from_be_bytes(first_half(ticket.hash().to_bytes()));
    format!("identity to accept invitation {hash:032x}")
}

fn first_half(hash: [u8; 32]) -> [u8; 16] {
    std::array::from_fn(|position| hash.get(position).copied().unwrap_or_default())
}
