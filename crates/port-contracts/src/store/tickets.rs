//! Tickets, which let a person in once (D70).

use std::sync::Arc;

use signpost_app::ports::{INVITATIONS_LISTED, Store};
use signpost_domain::{AccountId, Role, Ticket, TicketPurpose, Timestamp, TokenHash, UserId};

use super::fixture::Fresh;
use super::given::unit;
use super::people_steps::{self, insert_ticket};
use crate::run::at_once;
use crate::samples;

cases! {
    $ tickets
    a_ticket_reads_back_as_it_was_inserted
    a_newer_ticket_of_the_same_kind_and_address_replaces_the_older_one
    no_ticket_is_inserted_for_what_is_missing
    a_ticket_is_taken_once
    taking_a_ticket_is_undone_with_its_unit_of_work
    of_concurrent_units_of_work_one_takes_a_ticket
    concurrent_tickets_for_the_same_leave_one
    all_tickets_for_an_address_are_voided
    valid_invitations_are_listed_by_account_newest_first
    an_invitation_is_withdrawn_from_its_account_only
}

fn first_start(account: AccountId) -> Ticket {
    samples::ticket(TicketPurpose::FirstStart { account })
}

fn invitation(email: &str, account: AccountId) -> Ticket {
    let (email, joins) = (samples::email(email), Some((account, Role::Editor)));
    samples::ticket(TicketPurpose::Invitation { email, joins, is_operator: false })
}

fn reset(email: &str, user: UserId) -> Ticket {
    samples::ticket(TicketPurpose::PasswordReset { user, email: samples::email(email) })
}

async fn take(store: &Arc<dyn Store>, hash: &TokenHash) -> Option<Ticket> {
    unit!(store, async |work| Ok(work.take_ticket(hash).await?)).await.unwrap()
}

async fn is_stored(store: &Arc<dyn Store>, ticket: &Ticket) -> bool {
    let found = store.ticket(&ticket.hash).await.unwrap();
    assert!(found.is_none() || found.as_ref() == Some(ticket), "{found:?} for {ticket:?}");
    found.is_some()
}

pub(super) async fn a_ticket_reads_back_as_it_was_inserted(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let user = people_steps::user(&store).await.id;
    let mut tickets = vec![first_start(account), reset("O'Hara+\"x\";--@Example.COM", user)];
    let email = samples::email("Jürgen@Example.com");
    for joins in Role::ALL.map(|role| Some((account, role))).into_iter().chain([None]) {
        for is_operator in [false, true] {
            let email = email.clone();
            tickets.push(samples::ticket(TicketPurpose::Invitation { email, joins, is_operator }));
        }
    }
    let oldest =
        Ticket { created_at: Timestamp::EPOCH, expires_at: Timestamp::EPOCH, ..first_start(account) };
    let newest = Ticket { created_at: Timestamp::LAST, expires_at: Timestamp::LAST, ..first_start(account) };
    tickets.extend([oldest, newest]);
    for ticket in tickets {
        assert!(insert_ticket(&store, &ticket).await);
        assert_eq!(store.ticket(&ticket.hash).await.unwrap().as_ref(), Some(&ticket));
        assert_eq!(take(&store, &ticket.hash).await, Some(ticket));
    }
}

pub(super) async fn a_newer_ticket_of_the_same_kind_and_address_replaces_the_older_one(fresh: Fresh) {
    let (store, [account, other]) = fresh.store_with_accounts().await;
    let user = people_steps::user(&store).await.id;
    let mut kept = vec![invitation("other@example.com", account), reset("other@example.com", user)];
    for ticket in &kept {
        assert!(insert_ticket(&store, ticket).await);
    }
    let mut replaced: Vec<Ticket> = Vec::new();
    for (email, account) in
        [("ada@example.com", account), ("Ada@Example.com", account), ("ada@example.com", other)]
    {
        let tickets = [first_start(account), invitation(email, account), reset(email, user)];
        for ticket in &tickets {
            assert!(insert_ticket(&store, ticket).await);
        }
        for ticket in kept.iter().chain(&tickets) {
            assert!(is_stored(&store, ticket).await, "{ticket:?}");
        }
        for ticket in &replaced {
            assert!(!is_stored(&store, ticket).await, "{ticket:?}");
            assert_eq!(take(&store, &ticket.hash).await, None);
        }
        replaced.extend(tickets);
    }
    // Whoever was invited to an account may be made an operator instead.
    let email = samples::email("other@example.com");
    let operator = samples::ticket(TicketPurpose::Invitation { email, joins: None, is_operator: true });
    assert!(insert_ticket(&store, &operator).await);
    assert!(!is_stored(&store, &kept.remove(0)).await);
    assert!(is_stored(&store, &operator).await);
    assert!(is_stored(&store, &kept[0]).await);
}

/// The older ticket stays, and the unit of work stays usable.
pub(super) async fn no_ticket_is_inserted_for_what_is_missing(fresh: Fresh) {
    let (store, [account, deleted]) = fresh.store_with_accounts().await;
    people_steps::delete_account(&store, deleted).await;
    let user = people_steps::user(&store).await.id;
    let older = [first_start(account), invitation("a@example.com", account), reset("a@example.com", user)];
    for ticket in &older {
        assert!(insert_ticket(&store, ticket).await);
    }
    let refused = [
        first_start(samples::id()),
        first_start(deleted),
        invitation("a@example.com", samples::id()),
        invitation("a@example.com", deleted),
        reset("a@example.com", samples::id()),
    ];
    let last = invitation("b@example.com", account);
    let inserted = unit!(&store, async |work| {
        for ticket in &refused {
            assert!(!work.insert_ticket(ticket).await?, "{ticket:?}");
        }
        Ok(work.insert_ticket(&last).await?)
    });
    assert!(inserted.await.unwrap());
    for ticket in &refused {
        assert!(!is_stored(&store, ticket).await);
    }
    for ticket in older.iter().chain([&last]) {
        assert!(is_stored(&store, ticket).await);
    }
}

/// Whether it has expired is for the caller to judge.
pub(super) async fn a_ticket_is_taken_once(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let expired = Ticket { expires_at: Timestamp::EPOCH, ..invitation("a@example.com", account) };
    let other = invitation("b@example.com", account);
    for ticket in [&expired, &other] {
        assert!(insert_ticket(&store, ticket).await);
    }
    assert_eq!(take(&store, &samples::token_hash()).await, None);
    assert_eq!(take(&store, &expired.hash).await.as_ref(), Some(&expired));
    assert_eq!(take(&store, &expired.hash).await, None);
    assert!(!is_stored(&store, &expired).await);
    assert!(is_stored(&store, &other).await);
}

pub(super) async fn taking_a_ticket_is_undone_with_its_unit_of_work(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let ticket = first_start(account);
    assert!(insert_ticket(&store, &ticket).await);
    let mut work = store.begin().await.unwrap();
    assert_eq!(work.take_ticket(&ticket.hash).await.unwrap().as_ref(), Some(&ticket));
    drop(work);
    assert_eq!(take(&store, &ticket.hash).await, Some(ticket));
}

pub(super) async fn of_concurrent_units_of_work_one_takes_a_ticket(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    for _ in 0..5 {
        let ticket = first_start(account);
        assert!(insert_ticket(&store, &ticket).await);
        let taken = at_once(12, |_| {
            let (store, hash) = (store.clone(), ticket.hash);
            async move { take(&store, &hash).await }
        });
        assert_eq!(taken.await.into_iter().flatten().collect::<Vec<_>>(), [ticket]);
    }
}

pub(super) async fn concurrent_tickets_for_the_same_leave_one(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let user = people_steps::user(&store).await.id;
    let make = |number| match number % 3 {
        0 => first_start(account),
        1 => invitation(if number % 2 == 0 { "a@example.com" } else { "A@example.com" }, account),
        _ => reset(if number % 2 == 0 { "a@example.com" } else { "A@example.com" }, user),
    };
    let inserted = at_once(18, |number| {
        let (store, ticket) = (store.clone(), make(number));
        async move {
            assert!(insert_ticket(&store, &ticket).await);
            ticket
        }
    });
    let mut left = Vec::new();
    for ticket in inserted.await {
        if is_stored(&store, &ticket).await {
            left.push(ticket.purpose.kind());
        }
    }
    assert_eq!(left.len(), 3, "{left:?}");
    assert!(left[0] != left[1] && left[1] != left[2] && left[0] != left[2], "{left:?}");
}

pub(super) async fn all_tickets_for_an_address_are_voided(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let user = people_steps::user(&store).await.id;
    let doomed = [invitation("Ada@example.com", account), reset("ada@Example.com", user)];
    let kept = [first_start(account), invitation("bob@example.com", account), reset("bob@example.com", user)];
    for ticket in doomed.iter().chain(&kept) {
        assert!(insert_ticket(&store, ticket).await);
    }
    for email in ["nobody@example.com", "ADA@EXAMPLE.COM"] {
        for ticket in doomed.iter().chain(&kept) {
            assert!(is_stored(&store, ticket).await);
        }
        let email = samples::email(email);
        unit!(&store, async |work| Ok(work.void_tickets(&email).await?)).await.unwrap();
    }
    for ticket in &doomed {
        assert!(!is_stored(&store, ticket).await);
    }
    for ticket in &kept {
        assert!(is_stored(&store, ticket).await);
    }
}

async fn withdraw(store: &Arc<dyn Store>, email: &str, account: Option<AccountId>) -> bool {
    let email = samples::email(email);
    unit!(store, async |work| Ok(work.withdraw_invitation(&email, account).await?)).await.unwrap()
}

fn operator(email: &str) -> Ticket {
    samples::ticket(TicketPurpose::Invitation {
        email: samples::email(email),
        joins: None,
        is_operator: true,
    })
}

pub(super) async fn valid_invitations_are_listed_by_account_newest_first(fresh: Fresh) {
    let (store, [account, other]) = fresh.store_with_accounts().await;
    let user = people_steps::user(&store).await.id;
    let at = |ticket: Ticket, millis: i64, until: i64| Ticket {
        created_at: Timestamp::from_unix_millis(millis).unwrap(),
        expires_at: Timestamp::from_unix_millis(until).unwrap(),
        ..ticket
    };
    let tickets = [
        at(invitation("old@example.com", account), 1, 101),
        at(invitation("B@example.com", account), 3, 103),
        at(invitation("a@example.com", account), 3, 103),
        at(invitation("new@example.com", account), 4, 104),
        at(invitation("expired@example.com", account), 5, 100),
        at(invitation("other@example.com", other), 6, 106),
        at(operator("operator@example.com"), 7, 107),
        at(first_start(account), 8, 108),
        at(reset("old@example.com", user), 9, 109),
    ];
    for ticket in &tickets {
        assert!(insert_ticket(&store, ticket).await);
    }
    let now = Timestamp::from_unix_millis(100).unwrap();
    for (account, expected) in [
        (Some(account), vec![3, 2, 1, 0]),
        (Some(other), vec![5]),
        (None, vec![6]),
        (Some(samples::id()), vec![]),
    ] {
        let expected = expected.into_iter().map(|number: usize| tickets[number].clone());
        let expected: Vec<_> = expected.filter_map(Ticket::into_invitation).collect();
        assert_eq!(store.invitations(account, now).await.unwrap(), expected);
    }
    let email = |number: usize| format!("many{number}@example.com");
    for number in 0..=INVITATIONS_LISTED {
        assert!(insert_ticket(&store, &invitation(&email(number), other)).await);
    }
    assert_eq!(store.invitations(Some(other), now).await.unwrap().len(), INVITATIONS_LISTED);
}

pub(super) async fn an_invitation_is_withdrawn_from_its_account_only(fresh: Fresh) {
    let (store, [account, other]) = fresh.store_with_accounts().await;
    let user = people_steps::user(&store).await.id;
    let (member, elsewhere) = (invitation("Ada@example.com", account), operator("eve@example.com"));
    let kept = reset("ada@example.com", user);
    for ticket in [&member, &elsewhere, &kept] {
        assert!(insert_ticket(&store, ticket).await);
    }
    for (email, account) in [
        ("ada@example.com", Some(other)),
        ("ada@example.com", None),
        ("eve@example.com", Some(account)),
        ("nobody@example.com", Some(account)),
    ] {
        assert!(!withdraw(&store, email, account).await, "{email}");
    }
    assert!(withdraw(&store, "aDA@example.com", Some(account)).await);
    assert!(!withdraw(&store, "ada@example.com", Some(account)).await);
    assert!(withdraw(&store, "eve@example.com", None).await);
    assert!(!is_stored(&store, &member).await && !is_stored(&store, &elsewhere).await);
    assert!(is_stored(&store, &kept).await);
}
