//! The audit (D78).

use signpost_app::ports::AuditScope;
use signpost_domain::{AuditAction, AuditActor, AuditEntry, ClientNetwork, PagePosition, Timestamp};

use super::fixture::Fresh;
use super::given::{self, unit};
use super::people_steps::record;
use crate::samples;

cases! {
    $ audit
    d78_an_entry_reads_back_as_it_was_recorded
    d78_entries_of_an_account_are_listed_newest_first
    d78_entries_of_the_installation_are_listed_newest_first
    d78_an_entry_is_undone_with_its_unit_of_work
}

/// Also for an account that does not exist, because entries outlive it.
pub(super) async fn d78_an_entry_reads_back_as_it_was_recorded(fresh: Fresh) {
    let store = fresh.store().await;
    let account = samples::id();
    let network = |text: &str| Some(ClientNetwork::of(text.parse().unwrap()));
    let sample = || samples::audit_entry(account);
    let mut entries = vec![
        AuditEntry { actor: AuditActor::User(samples::id()), network: network("203.0.113.9"), ..sample() },
        AuditEntry { actor: AuditActor::Key(samples::id()), network: network("2001:db8:1:2::3"), ..sample() },
        AuditEntry { at: Timestamp::EPOCH, object: String::new(), ..sample() },
        AuditEntry { at: Timestamp::LAST, object: "'𝄞\" \\ %_".repeat(100), ..sample() },
    ];
    entries.extend(AuditAction::ALL.iter().map(|action| AuditEntry { action: *action, ..sample() }));
    record(&store, &entries).await;
    entries.reverse();
    assert_eq!(
        store.audit_entries(AuditScope::Account(account), given::limit(100), None).await.unwrap().items,
        entries
    );
}

/// The list of an account has no entry of another account or of none.
pub(super) async fn d78_entries_of_an_account_are_listed_newest_first(fresh: Fresh) {
    let (store, [account, other]) = fresh.store_with_accounts().await;
    let empty = store.audit_entries(AuditScope::Account(account), given::limit(1), None).await.unwrap();
    assert_eq!((empty.items, empty.next), (vec![], None));
    let mut entries: Vec<AuditEntry> = (0..7).map(|_| samples::audit_entry(account)).collect();
    let of_other = samples::audit_entry(other);
    let of_none = AuditEntry { account_id: None, ..samples::audit_entry(other) };
    for position in [3, 0, 6, 1, 5, 2, 4] {
        record(&store, std::slice::from_ref(&entries[position])).await;
    }
    record(&store, &[of_other.clone(), of_none]).await;
    entries.reverse();
    for items in [1, 2, 3, 6, 7, 8, 100] {
        let page = async |after| {
            store.audit_entries(AuditScope::Account(account), given::limit(items), after).await.unwrap()
        };
        let (walked, pages) = given::walk(page).await;
        assert_eq!(walked, entries);
        assert_eq!(pages, 7_usize.div_ceil(usize::try_from(items).unwrap()));
    }
    let after = PagePosition::behind(entries[6].id.to_bytes());
    assert_eq!(
        store.audit_entries(AuditScope::Account(account), given::limit(5), Some(after)).await.unwrap().items,
        []
    );
    assert_eq!(
        store.audit_entries(AuditScope::Account(other), given::limit(5), None).await.unwrap().items,
        [of_other]
    );
    assert_eq!(
        store.audit_entries(AuditScope::Account(samples::id()), given::limit(5), None).await.unwrap().items,
        []
    );
}

/// Entries of all accounts, and of none. Other cases may record beside this one, so it looks at its own entries.
pub(super) async fn d78_entries_of_the_installation_are_listed_newest_first(fresh: Fresh) {
    let (store, [account, other]) = fresh.store_with_accounts().await;
    let of_none = || AuditEntry { account_id: None, ..samples::audit_entry(account) };
    let mut entries = Vec::new();
    for _ in 0..3 {
        entries.extend([samples::audit_entry(account), of_none(), samples::audit_entry(other)]);
    }
    for position in [8, 0, 4, 1, 7, 2, 6, 3, 5] {
        record(&store, std::slice::from_ref(&entries[position])).await;
    }
    entries.reverse();
    for items in [1, 2, 8, 9, 100] {
        let page = async |after| {
            store.audit_entries(AuditScope::Installation, given::limit(items), after).await.unwrap()
        };
        let (mut walked, _) = given::walk(page).await;
        walked.retain(|entry| entries.contains(entry));
        assert_eq!(walked, entries);
    }
}

pub(super) async fn d78_an_entry_is_undone_with_its_unit_of_work(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let mut work = store.begin().await.unwrap();
    work.record(&samples::audit_entry(account)).await.unwrap();
    drop(work);
    let kept = samples::audit_entry(account);
    unit!(&store, async |work| Ok(work.record(&kept).await?)).await.unwrap();
    assert_eq!(
        store.audit_entries(AuditScope::Account(account), given::limit(5), None).await.unwrap().items,
        [kept]
    );
}
