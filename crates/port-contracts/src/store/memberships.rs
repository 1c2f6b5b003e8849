//! Memberships of users in accounts (D68, D69).

use signpost_app::ports::{AccountMember, AuditScope, MemberChange, Store};
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
    members_of_an_account_are_listed_newest_first
    d68_the_last_owner_of_an_account_stays
    d68_removals_at_once_leave_one_owner
    an_invitation_does_not_undo_a_removal_or_a_changed_role
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

pub(super) async fn members_of_an_account_are_listed_newest_first(fresh: Fresh) {
    let (store, [account, other]) = fresh.store_with_accounts().await;
    let mut expected = Vec::new();
    for (number, role) in Role::ALL.into_iter().cycle().take(7).enumerate() {
        let user = people_steps::user(&store).await;
        let joined_at = samples::at(i64::try_from(number).unwrap());
        let membership = Membership { user_id: user.id, account_id: account, role, created_at: joined_at };
        assert!(unit!(&store, async |work| Ok(work.put_member(&membership).await?)).await.unwrap());
        expected.push(AccountMember { user, role, joined_at });
    }
    let elsewhere = people_steps::user(&store).await;
    assert!(put_member(&store, elsewhere.id, other, Role::Viewer).await);
    assert!(put_member(&store, expected[2].user.id, other, Role::Viewer).await);
    expected.sort_by_key(|member| std::cmp::Reverse(member.user.id));
    for items in [1, 2, 6, 7, 8, 100] {
        let page = async |after| store.members(account, given::limit(items), after).await.unwrap();
        let (walked, pages) = given::walk(page).await;
        assert_eq!(walked, expected);
        assert_eq!(pages, 7_usize.div_ceil(usize::try_from(items).unwrap()));
    }
    assert_eq!(store.members(samples::id(), given::limit(5), None).await.unwrap().items, []);
    let ids: Vec<UserId> = [elsewhere.id, samples::id(), expected[0].user.id].into();
    let mut named = store.users_with_ids(&ids).await.unwrap();
    named.sort_by_key(|user| user.id);
    let mut both = [elsewhere, expected[0].user.clone()];
    both.sort_by_key(|user| user.id);
    assert_eq!(named, both);
    assert_eq!(store.users_with_ids(&[]).await.unwrap(), []);
}

/// Locks the members of an account, and removes one or gives it another role.
async fn change(
    store: &std::sync::Arc<dyn Store>,
    user: UserId,
    account: AccountId,
    role: Option<Role>,
) -> MemberChange {
    unit!(store, async |work| {
        work.lock_members(account).await?;
        Ok(match role {
            Some(role) => work.change_role(user, account, role).await?,
            None => work.remove_member(user, account).await?,
        })
    })
    .await
    .unwrap()
}

/// An owner of another account does not count, nor does a member with another role.
pub(super) async fn d68_the_last_owner_of_an_account_stays(fresh: Fresh) {
    let (store, [account, other]) = fresh.store_with_accounts().await;
    let mut users = Vec::new();
    for _ in 0..4 {
        users.push(people_steps::user(&store).await.id);
    }
    let (first, second, editor, elsewhere) = (users[0], users[1], users[2], users[3]);
    assert!(put_member(&store, first, account, Role::Owner).await);
    assert!(put_member(&store, editor, account, Role::Editor).await);
    assert!(put_member(&store, elsewhere, other, Role::Owner).await);
    for role in [None, Some(Role::Viewer), Some(Role::Editor)] {
        assert_eq!(change(&store, first, account, role).await, MemberChange::LastOwner, "{role:?}");
        assert_eq!(change(&store, second, account, role).await, MemberChange::NotAMember);
        assert_eq!(change(&store, elsewhere, account, role).await, MemberChange::NotAMember);
        assert_eq!(role_of(&store, first, account).await, Some(Role::Owner));
    }
    assert_eq!(change(&store, first, account, Some(Role::Owner)).await, MemberChange::Done);
    assert_eq!(change(&store, editor, account, Some(Role::Owner)).await, MemberChange::Done);
    assert_eq!(change(&store, first, account, Some(Role::Viewer)).await, MemberChange::Done);
    assert_eq!(change(&store, editor, account, None).await, MemberChange::LastOwner);
    assert_eq!(change(&store, first, account, None).await, MemberChange::Done);
    assert_eq!(role_of(&store, first, account).await, None);
    assert_eq!(accounts_of(&store, editor).await, [(account, Role::Owner)]);
    assert_eq!(role_of(&store, elsewhere, other).await, Some(Role::Owner));
    let locked = unit!(&store, async |work| {
        Ok([work.lock_members(account).await?, work.lock_members(samples::id()).await?])
    });
    assert_eq!(locked.await.unwrap(), [true, false]);
    assert_eq!(change(&store, first, samples::id(), None).await, MemberChange::NotAMember);
}

/// Each owner is removed, or lowered, at once with all others.
pub(super) async fn d68_removals_at_once_leave_one_owner(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let mut owners = Vec::new();
    for _ in 0..16 {
        let user = people_steps::user(&store).await.id;
        assert!(put_member(&store, user, account, Role::Owner).await);
        owners.push(user);
    }
    let changes = at_once(16, |number| {
        let (store, user) = (store.clone(), owners[usize::try_from(number).unwrap()]);
        async move { change(&store, user, account, (number % 2 == 0).then_some(Role::Editor)).await }
    })
    .await;
    let made = changes.iter().filter(|change| **change == MemberChange::Done).count();
    assert_eq!((made, changes.len()), (15, 16), "{changes:?}");
    let members = store.members(account, given::limit(100), None).await.unwrap().items;
    assert_eq!(members.iter().filter(|member| member.role == Role::Owner).count(), 1);
}

/// Invitations of other people, and to other accounts, stay.
pub(super) async fn an_invitation_does_not_undo_a_removal_or_a_changed_role(fresh: Fresh) {
    let (store, [account, other]) = fresh.store_with_accounts().await;
    let (removed, stays) = (people_steps::user(&store).await, people_steps::user(&store).await);
    for user in [&removed, &stays] {
        assert!(put_member(&store, user.id, account, Role::Viewer).await);
    }
    let invitation = |user: &signpost_domain::User, account| {
        samples::ticket(TicketPurpose::Invitation {
            email: user.email.clone(),
            joins: Some((account, Role::Owner)),
            is_operator: false,
        })
    };
    let reset =
        samples::ticket(TicketPurpose::PasswordReset { user: removed.id, email: removed.email.clone() });
    let (own, of_other) = (invitation(&removed, account), invitation(&stays, account));
    for ticket in [&own, &of_other, &reset] {
        assert!(people_steps::insert_ticket(&store, ticket).await);
    }
    assert_eq!(change(&store, removed.id, account, Some(Role::Editor)).await, MemberChange::Done);
    assert_eq!(store.ticket(&own.hash).await.unwrap(), None);
    assert!(people_steps::insert_ticket(&store, &own).await);
    assert_eq!(change(&store, removed.id, account, None).await, MemberChange::Done);
    assert_eq!(store.ticket(&own.hash).await.unwrap(), None);
    for ticket in [&of_other, &reset] {
        assert_eq!(store.ticket(&ticket.hash).await.unwrap().as_ref(), Some(ticket));
    }
    let elsewhere = invitation(&stays, other);
    assert!(people_steps::insert_ticket(&store, &elsewhere).await);
    assert_eq!(change(&store, stays.id, account, None).await, MemberChange::Done);
    assert_eq!(store.ticket(&elsewhere.hash).await.unwrap(), Some(elsewhere));
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
        let listed = store
            .audit_entries(AuditScope::Account(entry.account_id.unwrap()), given::limit(9), None)
            .await
            .unwrap();
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
