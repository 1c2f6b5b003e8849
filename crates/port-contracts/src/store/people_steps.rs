//! Setup steps for cases about people.

use std::sync::Arc;

use signpost_app::ports::Store;
use signpost_domain::{AccountId, AuditEntry, Membership, Role, Session, Ticket, User, UserId};

use super::given::{Decision, unit};
use crate::samples;

/// A stored user.
pub(super) async fn user(store: &Arc<dyn Store>) -> User {
    let user = samples::user();
    insert_user(store, &user).await.unwrap();
    user
}

pub(super) async fn insert_user(store: &Arc<dyn Store>, user: &User) -> Result<(), Decision> {
    unit!(store, async |work| Ok(work.insert_user(user).await?)).await
}

/// Locks a user and writes it.
pub(super) async fn update_user(store: &Arc<dyn Store>, user: &User) -> Result<(), Decision> {
    unit!(store, async |work| {
        assert!(work.lock_user(user.id).await?.is_some(), "no such user");
        Ok(work.update_user(user).await?)
    })
    .await
}

/// Makes a user a member of an account. Returns `false` if one of them does not exist.
pub(super) async fn put_member(
    store: &Arc<dyn Store>,
    user_id: UserId,
    account_id: AccountId,
    role: Role,
) -> bool {
    let membership = Membership { user_id, account_id, role, created_at: samples::at(0) };
    unit!(store, async |work| Ok(work.put_member(&membership).await?)).await.unwrap()
}

/// A stored session.
pub(super) async fn session(store: &Arc<dyn Store>, user: UserId) -> Session {
    let session = samples::session(user);
    assert!(insert_session(store, &session).await);
    session
}

pub(super) async fn insert_session(store: &Arc<dyn Store>, session: &Session) -> bool {
    unit!(store, async |work| Ok(work.insert_session(session).await?)).await.unwrap()
}

pub(super) async fn insert_ticket(store: &Arc<dyn Store>, ticket: &Ticket) -> bool {
    unit!(store, async |work| Ok(work.insert_ticket(ticket).await?)).await.unwrap()
}

pub(super) async fn record(store: &Arc<dyn Store>, entries: &[AuditEntry]) {
    let recorded = unit!(store, async |work| {
        for entry in entries {
            work.record(entry).await?;
        }
        Ok(())
    });
    recorded.await.unwrap();
}

pub(super) async fn delete_account(store: &Arc<dyn Store>, account: AccountId) {
    assert!(unit!(store, async |work| Ok(work.delete_account(account).await?)).await.unwrap());
}
