//! Who administers the installation (D69, D73, D78).

use signpost_domain::{AccountId, AuditAction, AuditActor, ClientNetwork, Refusal, UserId};

use crate::admission::SignedIn;
use crate::application::Application;
use crate::audit::Deed;
use crate::people::members::require_owner;
use crate::people::profile::{require_confirmed, require_live};
use crate::people::{Client, PersonError};
use crate::ports::UnitOfWork;

/// Somebody who administers the installation. A use case that takes one serves operators only.
#[derive(Debug, Clone)]
pub struct Operator(By);

#[derive(Debug, Clone)]
enum By {
    Command,
    Person(Box<SignedIn>, ClientNetwork),
    /// An owner, who does to the own account what operators do to any.
    Owner(Box<SignedIn>, ClientNetwork, AccountId),
}

impl Operator {
    /// Somebody with a shell on the machine of the service.
    pub const COMMAND: Self = Self(By::Command);

    /// A user who is an operator, and has confirmed the password recently (D73).
    ///
    /// # Errors
    /// [`Refusal::NotFound`] unless the user is an operator, so that others do not learn which pages exist;
    /// [`PersonError::NotConfirmed`].
    pub fn person(app: &Application, signed_in: &SignedIn, client: &Client) -> Result<Self, PersonError> {
        if !signed_in.user().is_operator {
            return Err(Refusal::NotFound("page").into());
        }
        require_confirmed(app, signed_in)?;
        Ok(Self(By::Person(Box::new(signed_in.clone()), client.network())))
    }

    /// An owner of an account, who may do this to it alone.
    ///
    /// # Errors
    /// [`PersonError::NotConfirmed`].
    pub(crate) fn owner(
        app: &Application,
        signed_in: &SignedIn,
        client: &Client,
        account: AccountId,
    ) -> Result<Self, PersonError> {
        require_confirmed(app, signed_in)?;
        Ok(Self(By::Owner(Box::new(signed_in.clone()), client.network(), account)))
    }

    /// Whether the operator is this user.
    pub(crate) fn is(&self, user: UserId) -> bool {
        self.user() == Some(user)
    }

    /// The user of the operator. `None` for somebody with a shell.
    pub(crate) fn user(&self) -> Option<UserId> {
        match &self.0 {
            By::Command => None,
            By::Person(signed_in, _) | By::Owner(signed_in, ..) => Some(signed_in.user().id),
        }
    }

    /// Something that the operator does, for the audit.
    pub(crate) fn deed(
        &self,
        account: Option<AccountId>,
        action: AuditAction,
        object: impl Into<String>,
    ) -> Deed {
        match &self.0 {
            By::Command => Deed::by_command(account, action, object),
            By::Person(signed_in, network) | By::Owner(signed_in, network, _) => Deed {
                account,
                actor: AuditActor::User(signed_in.user().id),
                action,
                object: object.into(),
                network: Some(*network),
            },
        }
    }

    /// Refuses if the session of the person has ended since the request was admitted, such as by being disabled, or if an owner has
    /// ceased to be one.
    pub(crate) async fn require_live(&self, work: &mut dyn UnitOfWork) -> Result<(), PersonError> {
        match &self.0 {
            By::Command => Ok(()),
            By::Person(signed_in, _) => require_live(work, signed_in).await,
            By::Owner(signed_in, _, account) => {
                require_live(work, signed_in).await?;
                Ok(require_owner(work, signed_in, *account).await?)
            }
        }
    }
}
