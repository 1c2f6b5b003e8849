//! Searching the audit (D78).

use std::sync::Arc;
use std::time::Duration;

use signpost_app::ports::{AUDIT_ENTRIES_SEARCHED, AuditFilter, AuditScope, Store};
use signpost_domain::{AccountId, AuditAction, AuditActor, AuditEntry, PagePosition};

use super::fixture::Fresh;
use super::given;
use super::people_steps::record;
use crate::samples;

cases! {
    $ audit_search
    d78_each_condition_of_a_search_selects_entries
    d78_a_search_is_paged_and_stays_in_its_account
    d78_a_search_of_the_installation_finds_entries_of_all_accounts
    d78_one_read_of_a_search_looks_at_a_bounded_number_of_entries
}

/// All matching entries of an account, read by pages of this size.
async fn found(
    store: &Arc<dyn Store>,
    account: AccountId,
    filter: &AuditFilter,
    items: u64,
) -> Vec<AuditEntry> {
    let page = async |after| {
        let scope = AuditScope::Account(account);
        store.matching_audit_entries(scope, filter, given::limit(items), after).await.unwrap()
    };
    given::walk(page).await.0
}

/// Entries an hour apart, oldest first, each with another action, actor and object.
fn entries(account: AccountId) -> Vec<AuditEntry> {
    let (user, key) = (AuditActor::User(samples::id()), AuditActor::Key(samples::id()));
    let hour = |number: i64| samples::at(number * 3_600_000);
    let entry = |number, actor, action, object: &str| AuditEntry {
        at: hour(number),
        actor,
        action,
        object: object.to_owned(),
        ..samples::audit_entry(account)
    };
    vec![
        entry(0, user, AuditAction::KeyIssued, "key_1 …Ab%_d"),
        entry(3, AuditActor::Command, AuditAction::PlanChanged, "ACC_1 to free"),
        entry(6, key, AuditAction::LinksDeleted, "rdr_1 rdr_2 É"),
        entry(9, user, AuditAction::LinksDeleted, "rdr_3 “quoted” 'it''s'"),
        entry(12, AuditActor::Command, AuditAction::KeyIssued, ""),
    ]
}

pub(super) async fn d78_each_condition_of_a_search_selects_entries(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let entries = entries(account);
    record(&store, &entries).await;
    let at = |number: usize| Some(entries[number].at);
    let of = |number: usize| Some(entries[number].actor);
    let text = |text: &str| AuditFilter { text: Some(text.to_owned()), ..AuditFilter::default() };
    let any = AuditFilter::default;
    let later = |number: usize| Some(entries[number].at.plus(Duration::from_millis(1)));
    for (filter, expected) in [
        (any(), vec![4, 3, 2, 1, 0]),
        (AuditFilter { action: Some(AuditAction::KeyIssued), ..any() }, vec![4, 0]),
        (AuditFilter { action: Some(AuditAction::MemberLeft), ..any() }, vec![]),
        (AuditFilter { actor: of(0), ..any() }, vec![3, 0]),
        (AuditFilter { actor: of(2), ..any() }, vec![2]),
        (AuditFilter { actor: Some(AuditActor::Command), ..any() }, vec![4, 1]),
        (AuditFilter { actor: Some(AuditActor::User(samples::id())), ..any() }, vec![]),
        (text("RDR_"), vec![3, 2]),
        (text("acc_1 TO"), vec![1]),
        (text("B%_D"), vec![0]),
        (text("%"), vec![0]),
        (text("É"), vec![2]),
        (text("é"), vec![]),
        (text("'it''s'"), vec![3]),
        (text(""), vec![4, 3, 2, 1, 0]),
        (AuditFilter { from: at(3), ..any() }, vec![4, 3]),
        (AuditFilter { from: later(3), ..any() }, vec![4]),
        (AuditFilter { from: later(4), ..any() }, vec![]),
        (AuditFilter { until: at(1), ..any() }, vec![0]),
        (AuditFilter { until: later(1), ..any() }, vec![1, 0]),
        (AuditFilter { until: at(0), ..any() }, vec![]),
        (AuditFilter { from: at(1), until: at(3), ..any() }, vec![2, 1]),
        (AuditFilter { from: at(3), until: at(1), ..any() }, vec![]),
        (
            AuditFilter { action: Some(AuditAction::LinksDeleted), actor: of(0), from: at(2), ..text("rdr") },
            vec![3],
        ),
    ] {
        let expected: Vec<AuditEntry> =
            expected.into_iter().map(|number: usize| entries[number].clone()).collect();
        assert_eq!(found(&store, account, &filter, 100).await, expected, "{filter:?}");
        assert!(expected.iter().all(|entry| filter.holds_for(entry)), "{filter:?}");
    }
}

pub(super) async fn d78_a_search_is_paged_and_stays_in_its_account(fresh: Fresh) {
    let (store, [account, other]) = fresh.store_with_accounts().await;
    let wanted = AuditFilter { action: Some(AuditAction::GroupDeleted), ..AuditFilter::default() };
    let mut expected = Vec::new();
    for number in 0..7 {
        let entry = AuditEntry { action: AuditAction::GroupDeleted, ..samples::audit_entry(account) };
        let of_other = AuditEntry { account_id: Some(other), id: samples::id(), ..entry.clone() };
        let of_none = AuditEntry { account_id: None, id: samples::id(), ..entry.clone() };
        record(&store, &[entry.clone(), of_other, of_none, samples::audit_entry(account)]).await;
        expected.insert(0, entry);
        assert_eq!(expected.len(), number + 1);
    }
    for items in [1, 2, 6, 7, 100] {
        assert_eq!(found(&store, account, &wanted, items).await, expected);
    }
    let scope = AuditScope::Account(account);
    for (after, items) in [
        (PagePosition::behind([0; 16]), vec![]),
        (PagePosition::behind(expected[6].id.to_bytes()), vec![]),
        (PagePosition::behind(expected[5].id.to_bytes()), vec![expected[6].clone()]),
    ] {
        let page = store.matching_audit_entries(scope, &wanted, given::limit(9), Some(after)).await.unwrap();
        assert_eq!((page.items, page.next), (items, None));
    }
}

/// Other cases may record beside this one, so it looks at its own entries.
pub(super) async fn d78_a_search_of_the_installation_finds_entries_of_all_accounts(fresh: Fresh) {
    let (store, [account, other]) = fresh.store_with_accounts().await;
    let user = AuditActor::User(samples::id());
    let by_user = |account_id| AuditEntry { account_id, actor: user, ..samples::audit_entry(account) };
    let mut entries = vec![by_user(Some(account)), by_user(None), by_user(Some(other))];
    record(&store, &entries).await;
    record(&store, &[samples::audit_entry(account)]).await;
    entries.reverse();
    let filter = AuditFilter { actor: Some(user), ..AuditFilter::default() };
    let page = async |after| {
        let scope = AuditScope::Installation;
        store.matching_audit_entries(scope, &filter, given::limit(2), after).await.unwrap()
    };
    assert_eq!(given::walk(page).await.0, entries);
}

/// A store that looks at fewer entries than there are says where it continues, also if it has found nothing.
pub(super) async fn d78_one_read_of_a_search_looks_at_a_bounded_number_of_entries(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let wanted = AuditEntry { action: AuditAction::GroupDeleted, ..samples::audit_entry(account) };
    let mut all = vec![wanted.clone()];
    all.extend((0..AUDIT_ENTRIES_SEARCHED + 10).map(|_| samples::audit_entry(account)));
    record(&store, &all).await;
    let filter = AuditFilter { action: Some(AuditAction::GroupDeleted), ..AuditFilter::default() };
    assert_eq!(found(&store, account, &filter, 5).await, [wanted]);
    let none = AuditFilter { action: Some(AuditAction::MemberLeft), ..AuditFilter::default() };
    assert_eq!(found(&store, account, &none, 5).await, []);
}
