//! The hashes of the passwords of links, and the list of the links that have one (D126, D131).

use std::sync::Arc;

use signpost_app::ports::Store;
use signpost_domain::{AccountId, Link, LinkFilter, LinkId, LinkKind, PasswordHash};

use super::fixture::Fresh;
use super::given::{self, KINDS, unit};
use super::stored;
use crate::samples;

cases! {
    $ link_passwords
    d131_the_hash_of_a_link_is_read_by_its_id_only
    d131_hashes_of_many_links_are_written_and_removed_together
    d131_a_link_without_a_password_has_no_hash
    d131_a_password_goes_with_its_link
    d131_only_the_owner_reads_and_writes_a_hash
    d131_a_link_with_a_password_and_no_hash_is_corrupt
    d131_visitors_learn_that_there_is_a_password
    d126_links_are_listed_by_whether_they_have_a_password
}

fn hash(text: &str) -> PasswordHash {
    PasswordHash::new(format!("$argon2id$v=19$m=19456,t=2,p=1${text}"))
}

fn closed(kind: LinkKind, text: &str) -> Link {
    Link { has_password: true, ..samples::link(kind, text) }
}

async fn write(store: &Arc<dyn Store>, account: AccountId, passwords: &[(LinkId, Option<PasswordHash>)]) {
    unit!(store, async |work| Ok(work.write_link_passwords(account, passwords).await?)).await.unwrap();
}

async fn read(store: &Arc<dyn Store>, account: AccountId, link: &Link) -> Option<PasswordHash> {
    store.link_password(account, link.id()).await.unwrap()
}

/// A stored link of this kind with a password.
async fn protected(store: &Arc<dyn Store>, account: AccountId, kind: LinkKind, text: &str) -> Link {
    let link = closed(kind, text);
    given::links(store, account, std::slice::from_ref(&link)).await;
    write(store, account, &[(link.id(), Some(hash(text)))]).await;
    link
}

pub(super) async fn d131_the_hash_of_a_link_is_read_by_its_id_only(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    for kind in KINDS {
        let text = format!("{kind:?}");
        let link = protected(&store, account, kind, &text).await;
        assert_eq!(read(&store, account, &link).await, Some(hash(&text)));
        assert_eq!(store.link_password(account, given::twin(link.id())).await.unwrap(), None);
        // Whoever reads links learns only that there is one.
        let stored = stored::link(&store, account, link.id()).await.unwrap();
        assert_eq!(stored, link);
        assert!(!format!("{stored:?}").contains("argon2id"));
        // Another password takes the place of the first one.
        write(&store, account, &[(link.id(), Some(hash("another")))]).await;
        assert_eq!(read(&store, account, &link).await, Some(hash("another")));
    }
}

pub(super) async fn d131_hashes_of_many_links_are_written_and_removed_together(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let links: Vec<Link> =
        (0..1_000).map(|number| closed(KINDS[number % 2], &format!("link-{number}"))).collect();
    for part in links.chunks(given::AT_ONCE) {
        given::links(&store, account, part).await;
    }
    let passwords: Vec<_> = links.iter().map(|link| (link.id(), Some(hash(link.name.as_str())))).collect();
    write(&store, account, &passwords).await;
    for link in [&links[0], &links[1], &links[999]] {
        assert_eq!(read(&store, account, link).await, Some(hash(link.name.as_str())));
    }
    // One gets another password, one loses its own, and the others keep theirs.
    let open = Link { has_password: false, ..links[1].clone() };
    given::update_link(&store, account, &open).await.unwrap();
    write(&store, account, &[(links[0].id(), Some(hash("new"))), (open.id(), None)]).await;
    assert_eq!(read(&store, account, &links[0]).await, Some(hash("new")));
    assert_eq!(read(&store, account, &open).await, None);
    assert_eq!(read(&store, account, &links[999]).await, Some(hash(links[999].name.as_str())));
    write(&store, account, &[]).await;
}

pub(super) async fn d131_a_link_without_a_password_has_no_hash(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    for kind in KINDS {
        let link = samples::link(kind, "plain");
        let text = format!("plain-{kind:?}");
        let link = Link { placement: samples::on_system(&text), ..link };
        assert_eq!(read(&store, account, &link).await, None, "it does not exist");
        given::links(&store, account, std::slice::from_ref(&link)).await;
        assert_eq!(read(&store, account, &link).await, None);
        // What an earlier password left over is not there either.
        write(&store, account, &[(link.id(), Some(hash("left over")))]).await;
        assert_eq!(read(&store, account, &link).await, None);
    }
}

/// A link that is restored with its id, as imports do, must not get back what it had.
pub(super) async fn d131_a_password_goes_with_its_link(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    for kind in KINDS {
        let text = format!("{kind:?}");
        let link = protected(&store, account, kind, &text).await;
        let ids = [link.id()];
        let deleted = unit!(store, async |work| Ok(work.delete_links(account, &ids).await?)).await;
        assert_eq!(deleted, Ok(ids.to_vec()));
        assert_eq!(read(&store, account, &link).await, None);
        given::links(&store, account, std::slice::from_ref(&link)).await;
        assert!(store.link_password(account, link.id()).await.is_err(), "its hash is gone");
        write(&store, account, &[(link.id(), Some(hash("again")))]).await;
        assert_eq!(read(&store, account, &link).await, Some(hash("again")));
    }
    let deleted = unit!(store, async |work| Ok(work.delete_some_links(account, 10).await?)).await;
    assert_eq!(deleted, Ok(2));
    unit!(store, async |work| Ok(work.delete_account(account).await?)).await.unwrap();
}

pub(super) async fn d131_only_the_owner_reads_and_writes_a_hash(fresh: Fresh) {
    let (store, [account, other]) = fresh.store_with_accounts().await;
    let link = protected(&store, account, LinkKind::Redirect, "link").await;
    assert_eq!(read(&store, other, &link).await, None);
    let mut work = store.begin().await.unwrap();
    let foreign = work.write_link_passwords(other, &[(link.id(), Some(hash("stolen")))]).await;
    assert!(foreign.is_err());
    drop(work);
    let mut work = store.begin().await.unwrap();
    // It may fail, or do nothing.
    let _ = work.write_link_passwords(other, &[(link.id(), None)]).await;
    let _ = work.commit().await;
    assert_eq!(read(&store, account, &link).await, Some(hash("link")));
}

/// It must never count as open (ADR 35).
pub(super) async fn d131_a_link_with_a_password_and_no_hash_is_corrupt(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    for kind in KINDS {
        let link = closed(kind, &format!("{kind:?}"));
        given::links(&store, account, std::slice::from_ref(&link)).await;
        let one = super::corrupt_rows::report(store.link_password(account, link.id()).await);
        assert_eq!((one.place.as_str(), one.row), ("links.behaviour", link.id().to_string()));
    }
}

pub(super) async fn d131_visitors_learn_that_there_is_a_password(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    for kind in KINDS {
        let link = protected(&store, account, kind, &format!("{kind:?}")).await;
        assert!(stored::published(&store, &link.placement).await.unwrap().has_password);
        let open = Link { has_password: false, ..link.clone() };
        given::update_link(&store, account, &open).await.unwrap();
        assert!(!stored::published(&store, &link.placement).await.unwrap().has_password);
        // R30: of an inactive link, nothing is read.
        let inactive = Link { is_active: false, ..link };
        given::update_link(&store, account, &inactive).await.unwrap();
        assert!(!stored::published(&store, &inactive.placement).await.unwrap().has_password);
    }
}

pub(super) async fn d126_links_are_listed_by_whether_they_have_a_password(fresh: Fresh) {
    let (store, [account, other]) = fresh.store_with_accounts().await;
    let link = |number: usize| Link {
        has_password: number % 6 < 2,
        is_active: number % 4 < 2,
        ..samples::link(KINDS[number % 2], &format!("link-{number}"))
    };
    let mut links: Vec<Link> = (0..60).map(link).collect();
    given::links(&store, account, &links).await;
    links.reverse();
    let any = LinkFilter::default;
    for has_password in [true, false] {
        for filter in [
            any(),
            LinkFilter { is_active: Some(true), ..any() },
            LinkFilter { is_active: Some(false), ..any() },
            LinkFilter { slug: links[7].placement.slug().cloned(), ..any() },
            super::link_filters::searched("link-1"),
        ] {
            let filter = LinkFilter { has_password: Some(has_password), ..filter };
            for kind in KINDS {
                let of_kind = links.iter().filter(|link| link.kind() == kind);
                let expected: Vec<Link> = of_kind.filter(|link| filter.matches(link)).cloned().collect();
                for items in [3, 100] {
                    let shown = stored::list(&store, account, kind, &filter, items).await;
                    assert_eq!(shown, expected, "{filter:?}");
                }
                assert_eq!(stored::list(&store, other, kind, &filter, 100).await, []);
            }
        }
    }
}
