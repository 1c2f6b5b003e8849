//! The hashes of the passwords of links (D131). Whether a link has one is read with the link
//! ([`Link::has_password`](signpost_domain::Link::has_password)); the hash itself is read only when a visitor has typed a password.

use async_trait::async_trait;
use signpost_domain::{AccountId, LinkId, PasswordHash};

use super::store_error::StoreError;

/// Reading the hash of one link.
#[async_trait]
pub trait LinkPasswordReads: Send + Sync {
    /// The hash of the password of the account's link with this id; `None` if the account has no such link, or the link has no
    /// password. A link that should have one and whose hash is missing is [`StoreError::Corrupt`], so that it never counts as open.
    async fn link_password(
        &self,
        account: AccountId,
        link: LinkId,
    ) -> Result<Option<PasswordHash>, StoreError>;
}

/// Writing hashes, within a unit of work. They go with their links.
#[async_trait]
pub trait LinkPasswordWrites: Send {
    /// Writes the hashes of the account's links that this unit of work has locked or inserted, or removes them with `None`. No link
    /// is named twice. The links themselves are written by [`LinkWrites`](super::LinkWrites), which says whether they have a
    /// password.
    ///
    /// Takes at most [`PageLimit::OF_UNIT_OF_WORK`](signpost_domain::PageLimit::OF_UNIT_OF_WORK) links. The number of statements does
    /// not depend on their number (D30).
    async fn write_link_passwords(
        &mut self,
        account: AccountId,
        passwords: &[(LinkId, Option<PasswordHash>)],
    ) -> Result<(), StoreError>;
}
