//! Links that let a person in once: first start, invitation, password reset (D70).

use std::time::Duration;

use crate::email::Email;
use crate::id::{AccountId, UserId};
use crate::role::Role;
use crate::secret_token::TokenHash;
use crate::timestamp::Timestamp;

/// How long a ticket of the first start or of a reset is valid.
pub const TICKET_VALID: Duration = Duration::from_hours(24);

/// How long an invitation is valid.
pub const INVITATION_VALID: Duration = Duration::from_hours(7 * 24);

/// A ticket. Using or replacing it deletes it, so a stored ticket has not been used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ticket {
    /// The hash of the token in the link.
    pub hash: TokenHash,
    /// What the ticket is for.
    pub purpose: TicketPurpose,
    /// When it was made.
    pub created_at: Timestamp,
    /// The first instant at which it is no longer valid.
    pub expires_at: Timestamp,
}

/// What a ticket is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TicketPurpose {
    /// The first user, who becomes owner of this account and operator (D79).
    FirstStart {
        /// The account.
        account: AccountId,
    },
    /// Somebody with this e-mail address joins.
    Invitation {
        /// The only address that may use it.
        email: Email,
        /// The account and the role there; `None` for an operator without an account.
        joins: Option<(AccountId, Role)>,
        /// Whether the user becomes an operator.
        is_operator: bool,
    },
    /// A user sets a new password.
    PasswordReset {
        /// The user.
        user: UserId,
        /// The user's address when the ticket was made. Another one voids the ticket.
        email: Email,
    },
}

impl TicketPurpose {
    /// The kind of the ticket. A newer ticket of the same kind and e-mail address voids the older one.
    #[must_use]
    pub const fn kind(&self) -> TicketKind {
        match self {
            Self::FirstStart { .. } => TicketKind::FirstStart,
            Self::Invitation { .. } => TicketKind::Invitation,
            Self::PasswordReset { .. } => TicketKind::PasswordReset,
        }
    }

    /// The address that the ticket is for.
    #[must_use]
    pub const fn email(&self) -> Option<&Email> {
        match self {
            Self::FirstStart { .. } => None,
            Self::Invitation { email, .. } | Self::PasswordReset { email, .. } => Some(email),
        }
    }
}

/// An invitation as lists show it, without the hash of its token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invitation {
    /// The only address that may use it.
    pub email: Email,
    /// The account and the role there; `None` for an operator without an account.
    pub joins: Option<(AccountId, Role)>,
    /// Whether the user becomes an operator.
    pub is_operator: bool,
    /// When it was made.
    pub created_at: Timestamp,
    /// The first instant at which it is no longer valid.
    pub expires_at: Timestamp,
}

/// A kind of tickets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TicketKind {
    /// See [`TicketPurpose::FirstStart`].
    FirstStart,
    /// See [`TicketPurpose::Invitation`].
    Invitation,
    /// See [`TicketPurpose::PasswordReset`].
    PasswordReset,
}

impl TicketKind {
    /// How long a ticket of this kind is valid.
    #[must_use]
    pub const fn valid_for(self) -> Duration {
        match self {
            Self::FirstStart | Self::PasswordReset => TICKET_VALID,
            Self::Invitation => INVITATION_VALID,
        }
    }
}

impl Ticket {
    /// A new ticket.
    #[must_use]
    pub fn new(hash: TokenHash, purpose: TicketPurpose, now: Timestamp) -> Self {
        let expires_at = now.plus(purpose.kind().valid_for());
        Self { hash, purpose, created_at: now, expires_at }
    }

    /// The invitation, if the ticket is one.
    #[must_use]
    pub fn into_invitation(self) -> Option<Invitation> {
        let Self { hash: _, purpose, created_at, expires_at } = self;
        match purpose {
            TicketPurpose::Invitation { email, joins, is_operator } => {
                Some(Invitation { email, joins, is_operator, created_at, expires_at })
            }
            TicketPurpose::FirstStart { .. } | TicketPurpose::PasswordReset { .. } => None,
        }
    }

    /// Whether the ticket can still be used.
    #[must_use]
    pub fn is_valid(&self, now: Timestamp) -> bool {
        now < self.expires_at
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::Id;

    #[test]
    fn d70_an_invitation_is_valid_seven_days_and_other_tickets_one() {
        let email = Email::parse("ada@example.com").unwrap();
        let hour = |hours: u64| Timestamp::EPOCH.plus(Duration::from_hours(hours));
        let purposes = [
            (TicketPurpose::FirstStart { account: Id::from_bytes([1; 16]) }, 24),
            (TicketPurpose::PasswordReset { user: Id::from_bytes([1; 16]), email: email.clone() }, 24),
            (TicketPurpose::Invitation { email, joins: None, is_operator: true }, 7 * 24),
        ];
        for (purpose, hours) in purposes {
            let ticket = Ticket::new(TokenHash::from_bytes([0; 32]), purpose, Timestamp::EPOCH);
            assert!(ticket.is_valid(hour(hours).minus(Duration::from_millis(1))));
            assert!(!ticket.is_valid(hour(hours)));
        }
    }
}
