//! Memberships of users in accounts (D68, D69).

use signpost_app::ports::Store;
use signpost_domain::{Account, AccountId, AuditEntry, Membership, Role, TicketPurpose, UserId};

use super::fixture::Fresh;
use super::given::{self, unit};
use super::people_steps::{self, put_member};
use crate::run::at_once;
use crate::samples;

cases! {
    $ memberships
    a_member_has_its_role_in_its_account_only
    putting_a_member_again_changes_the_role
    a_user_or_an_account_that_is_missing_has_no_members
    accounts_of_a_user_are_listed_oldest_first
    at_most_a_hundred_accounts_of_a_user_are_listed
    deleting_an_account_deletes_its_memberships_and_tickets_only
    no_member_joins_an_account_that_is_being_deleted
}

async fn role_of(store: &std::sync::Arc<dyn Store>, user: UserId, account: AccountId) -> Option<Role> {
    unit!(store, async |work| Ok(work.role_of(user, account).await?)).await.unwrap()
}

async fn accounts_of(store: &std::sync::Arc<dyn Store>, user: UserId) -> Vec<(AccountId, Role)> {
    let accounts = store.accounts_of(user).await.unwrap();
    accounts.into_iter().map(|(account, role)| (account.id, role)).collect()
}

pub(super) async fn a_member_has_its_role_in_its_account_only(fresh: Fresh) {
    let (store, accounts) = fresh.store_with_accounts::<4>().await;
    let (user, other) = (people_steps::user(&store).await.id, people_steps::user(&store).await.id);
    for (account, role) in accounts.into_iter().zip(Role::ALL) {
        assert!(put_member(&store, user, account, role).await);
    }
    assert!(put_member(&store, other, accounts[3], Role::Owner).await);
    for (account, role) in accounts.into_iter().zip(Role::ALL.map(Some).into_iter().chain([None])) {
        assert_eq!(role_of(&store, user, account).await, role);
    }
    for (account, role) in accounts.into_iter().zip([None, None, None, Some(Role::Owner)]) {
        assert_eq!(role_of(&store, other, account).await, role);
    }
    assert_eq!(role_of(&store, user, samples::id()).await, None);
    assert_eq!(role_of(&store, samples::id(), accounts[0]).await, None);
    assert_eq!(accounts_of(&store, other).await, [(accounts[3], Role::Owner)]);
}

pub(super) async fn putting_a_member_again_changes_the_role(fresh: Fresh) {
    let (store, [account, other]) = fresh.store_with_accounts().await;
    let (user, second) = (people_steps::user(&store).await.id, people_steps::user(&store).await.id);
    for (user, account) in [(user, account), (user, other), (second, account)] {
        assert!(put_member(&store, user, account, Role::Viewer).await);
    }
    for role in [Role::Owner, Role::Owner, Role::Editor] {
        assert!(put_member(&store, user, account, role).await);
        assert_eq!(accounts_of(&store, user).await, [(account, role), (other, Role::Viewer)]);
        assert_eq!(accounts_of(&store, second).await, [(account, Role::Viewer)]);
    }
}

/// The unit of work stays usable.
pub(super) async fn a_user_or_an_account_that_is_missing_has_no_members(fresh: Fresh) {
    let (store, [account, deleted]) = fresh.store_with_accounts().await;
    people_steps::delete_account(&store, deleted).await;
    let user = people_steps::user(&store).await.id;
    let put = unit!(&store, async |work| {
        for (user_id, account_id) in
            [(samples::id(), account), (user, samples::id()), (user, deleted), (samples::id(), samples::id())]
        {
            let membership =
                Membership { user_id, account_id, role: Role::Owner, created_at: samples::at(0) };
            assert!(!work.put_member(&membership).await?);
        }
        let membership =
            Membership { user_id: user, account_id: account, role: Role::Owner, created_at: samples::at(0) };
        Ok(work.put_member(&membership).await?)
    });
    assert!(put.await.unwrap());
    assert_eq!(accounts_of(&store, user).await, [(account, Role::Owner)]);
}

pub(super) async fn accounts_of_a_user_are_listed_oldest_first(fresh: Fresh) {
    let store = fresh.store().await;
    let (user, other) = (people_steps::user(&store).await.id, people_steps::user(&store).await.id);
    let accounts: Vec<Account> = (0..7).map(|_| samples::account()).collect();
    for position in [3, 0, 6, 1, 5, 2, 4] {
        given::insert_account(&store, &accounts[position]).await.unwrap();
        let user = if position == 2 { other } else { user };
        assert!(put_member(&store, user, accounts[position].id, Role::Editor).await);
    }
    let expected: Vec<(Account, Role)> = (0..7)
        .filter(|position| *position != 2)
        .map(|position| (accounts[position].clone(), Role::Editor))
        .collect();
    assert_eq!(store.accounts_of(user).await.unwrap(), expected);
}

pub(super) async fn at_most_a_hundred_accounts_of_a_user_are_listed(fresh: Fresh) {
    let store = fresh.store().await;
    let user = people_steps::user(&store).await.id;
    let accounts: Vec<Account> = (0..101).map(|_| samples::account()).collect();
    let inserted = unit!(&store, async |work| {
        for account in &accounts {
            work.insert_account(account).await?;
            let membership = Membership {
                user_id: user,
                account_id: account.id,
                role: Role::Viewer,
                created_at: samples::at(0),
            };
            assert!(work.put_member(&membership).await?);
        }
        Ok(())
    });
    inserted.await.unwrap();
    let listed = accounts_of(&store, user).await;
    let expected: Vec<_> = accounts[..100].iter().map(|account| (account.id, Role::Viewer)).collect();
    assert_eq!(listed, expected);
}

/// Its users, their sessions and the audit stay.
pub(super) async fn deleting_an_account_deletes_its_memberships_and_tickets_only(fresh: Fresh) {
    let (store, [doomed, other]) = fresh.store_with_accounts().await;
    let user = people_steps::user(&store).await;
    let session = people_steps::session(&store, user.id).await;
    for account in [doomed, other] {
        assert!(put_member(&store, user.id, account, Role::Owner).await);
    }
    let invitation = |email: &str, account| TicketPurpose::Invitation {
        email: samples::email(email),
        joins: Some((account, Role::Editor)),
        is_operator: false,
    };
    let of_doomed = [
        samples::ticket(TicketPurpose::FirstStart { account: doomed }),
        samples::ticket(invitation("a@example.com", doomed)),
        samples::ticket(invitation("b@example.com", doomed)),
    ];
    let others = [
        samples::ticket(invitation("c@example.com", other)),
        samples::ticket(TicketPurpose::PasswordReset { user: user.id, email: user.email.clone() }),
    ];
    for ticket in of_doomed.iter().chain(&others) {
        assert!(people_steps::insert_ticket(&store, ticket).await);
    }
    let entries: Vec<AuditEntry> = [doomed, other].map(samples::audit_entry).to_vec();
    people_steps::record(&store, &entries).await;

    people_steps::delete_account(&store, doomed).await;
    assert_eq!(accounts_of(&store, user.id).await, [(other, Role::Owner)]);
    assert_eq!(role_of(&store, user.id, doomed).await, None);
    for ticket in &of_doomed {
        assert_eq!(store.ticket(&ticket.hash).await.unwrap(), None);
    }
    for ticket in &others {
        assert_eq!(store.ticket(&ticket.hash).await.unwrap().as_ref(), Some(ticket));
    }
    for entry in &entries {
        let listed = store.audit_entries(entry.account_id.unwrap(), given::limit(9), None).await.unwrap();
        assert_eq!(listed.items, std::slice::from_ref(entry));
    }
    assert_eq!(store.sessions(user.id).await.unwrap(), std::slice::from_ref(&session));
    let holder = store.session_holder(&session.hash, Some(doomed)).await.unwrap().unwrap();
    assert_eq!((holder.user, holder.member), (user, None));
}

/// Either the member joins before, and is deleted with the account, or the account is missing.
pub(super) async fn no_member_joins_an_account_that_is_being_deleted(fresh: Fresh) {
    let store = fresh.store().await;
    for _ in 0..5 {
        let account = given::account(&store).await;
        let mut users = Vec::new();
        for _ in 0..6 {
            users.push(people_steps::user(&store).await.id);
        }
        at_once(6, |number| {
            let (store, user) = (store.clone(), users[usize::try_from(number).unwrap()]);
            async move {
                if number == 3 {
                    people_steps::delete_account(&store, account).await;
                } else {
                    put_member(&store, user, account, Role::Viewer).await;
                }
            }
        })
        .await;
        assert_eq!(store.account(account).await.unwrap(), None);
        for user in users {
            assert_eq!(accounts_of(&store, user).await, []);
        }
    }
}
